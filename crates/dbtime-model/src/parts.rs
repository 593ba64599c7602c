//! The parts of a response: names of where its time went, and one signed number for each.
//!
//! Driver and tracer speak of the same parts. Each is measured on its own; only
//! [`Part::Unexplained`] is a remainder, signed and always shown. A part that was not measured is
//! absent (`null` in the record), never zero.

use crate::units::Nanos;
use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeTuple};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Where a stretch of a transaction's response went. The order is that of a transaction's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Part {
    /// Waiting for a free connection or worker.
    Queue,
    /// The driver was late.
    Lag,
    /// The driver's own time between an answer and the next statement.
    Client,
    /// Think time inside the transaction.
    Think,
    /// Pauses before a retry.
    Backoff,
    /// Request and response on their way.
    Wire,
    /// The request lay in the server's socket unread.
    ServerQueue,
    /// On a CPU in the database.
    Cpu,
    /// Runnable, but something else had the CPU: the whole, where its two kinds are not told
    /// apart.
    Runq,
    /// Runnable, but another thread had taken the CPU. A kind of [`Part::Runq`].
    RunqPreempted,
    /// Woken, and not yet on a CPU. A kind of [`Part::Runq`].
    RunqWoken,
    /// Runnable, but the control group had used up its share of the CPUs.
    Throttled,
    /// Stopped by a signal, a debugger or the freezer of control groups.
    Stopped,
    /// Waiting for a lock, naps taken to get one included.
    Lock,
    /// Blocked in reads.
    IoRead,
    /// Blocked in writes.
    IoWrite,
    /// Blocked in fsync or fdatasync.
    Sync,
    /// The server waited on the client in mid-statement.
    Net,
    /// Deliberate sleeps in the server.
    Sleep,
    /// Blocked elsewhere, with the place named.
    Other,
    /// Everything between wire and other as one measured number, where no tracer splits it.
    ServerAndWire,
    /// The signed remainder.
    Unexplained,
}

impl Part {
    /// Every part, in the order of a transaction's life.
    pub const ALL: [Self; PART_COUNT] = [
        Self::Queue,
        Self::Lag,
        Self::Client,
        Self::Think,
        Self::Backoff,
        Self::Wire,
        Self::ServerQueue,
        Self::Cpu,
        Self::Runq,
        Self::RunqPreempted,
        Self::RunqWoken,
        Self::Throttled,
        Self::Stopped,
        Self::Lock,
        Self::IoRead,
        Self::IoWrite,
        Self::Sync,
        Self::Net,
        Self::Sleep,
        Self::Other,
        Self::ServerAndWire,
        Self::Unexplained,
    ];

    /// The parts of a traced request, in the order of the kernel's side (`enum part` in
    /// `crates/dbtime-observe/bpf/capture.h`) and of reports.
    pub const TRACED: [Self; 12] = [
        Self::Cpu,
        Self::RunqPreempted,
        Self::RunqWoken,
        Self::Lock,
        Self::IoRead,
        Self::IoWrite,
        Self::Sync,
        Self::Net,
        Self::Sleep,
        Self::Other,
        Self::Throttled,
        Self::Stopped,
    ];

    /// The part that this one is a kind of.
    pub fn whole(self) -> Option<Self> {
        matches!(self, Self::RunqPreempted | Self::RunqWoken).then_some(Self::Runq)
    }

    /// The part with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.name() == name)
    }

    /// The name used in records and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Lag => "lag",
            Self::Client => "client",
            Self::Think => "think",
            Self::Backoff => "backoff",
            Self::Wire => "wire",
            Self::ServerQueue => "server_queue",
            Self::Cpu => "cpu",
            Self::Runq => "runq",
            Self::RunqPreempted => "runq_preempted",
            Self::RunqWoken => "runq_woken",
            Self::Throttled => "throttled",
            Self::Stopped => "stopped",
            Self::Lock => "lock",
            Self::IoRead => "io_read",
            Self::IoWrite => "io_write",
            Self::Sync => "sync",
            Self::Net => "net",
            Self::Sleep => "sleep",
            Self::Other => "other",
            Self::ServerAndWire => "server_and_wire",
            Self::Unexplained => "unexplained",
        }
    }

    /// What the part means, in a few words for a report.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Queue => "waiting for a free connection or worker",
            Self::Lag => "the driver was late",
            Self::Client => "the driver between two statements",
            Self::Think => "deliberate think time",
            Self::Backoff => "pauses before retries",
            Self::Wire => "on the way between client and server",
            Self::ServerQueue => "unread in the server's socket",
            Self::Cpu => "on a CPU in the database",
            Self::Runq => "runnable, but the CPU was taken",
            Self::RunqPreempted => "pre-empted by another thread",
            Self::RunqWoken => "woken, and not yet on a CPU",
            Self::Throttled => "over the CPU limit of its control group",
            Self::Stopped => "stopped or frozen",
            Self::Lock => "waiting for a lock",
            Self::IoRead => "blocked in reads",
            Self::IoWrite => "blocked in writes",
            Self::Sync => "blocked in fsync",
            Self::Net => "the server waiting on the client",
            Self::Sleep => "sleeping in the server",
            Self::Other => "blocked elsewhere",
            Self::ServerAndWire => "server and wire together",
            Self::Unexplained => "not explained by any part",
        }
    }
}

/// How many parts there are.
pub const PART_COUNT: usize = 22;

/// One signed number per part, and which of them were measured. Unit: nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    ns: [i64; PART_COUNT],
    measured: PartSet,
}

impl Parts {
    /// Parts of these amounts, in nanoseconds; the others were not measured.
    pub fn of(amounts: &[(Part, i64)]) -> Self {
        let mut parts = Self::default();
        amounts.iter().for_each(|(part, ns)| parts.add(*part, *ns));
        parts
    }

    /// The parts of a traced request: so much of each of [`Part::TRACED`], by its index there.
    pub fn traced(amount: impl Fn(usize) -> Nanos) -> Self {
        let mut parts = Self::default();
        for (index, part) in Part::TRACED.into_iter().enumerate() {
            parts.add(part, amount(index).signed());
        }
        parts
    }

    /// The amount of one part; zero where it was not measured.
    #[inline]
    pub fn get(&self, part: Part) -> i64 {
        self.ns[part as usize]
    }

    /// The amount of a part that cannot be negative, as a duration.
    #[inline]
    pub fn duration(&self, part: Part) -> Nanos {
        Nanos(self.get(part).max(0).cast_unsigned())
    }

    /// The amount of a part that cannot be negative; `None` where it was not measured.
    #[inline]
    pub fn measured_duration(&self, part: Part) -> Option<Nanos> {
        self.measured.has(part).then(|| self.duration(part))
    }

    /// Whether nothing was measured: no part stands for anything then, and nothing is unexplained.
    #[inline]
    pub fn are_unknown(&self) -> bool {
        self.measured == PartSet::default()
    }

    /// Adds to one part, which was measured.
    #[inline]
    pub fn add(&mut self, part: Part, ns: i64) {
        self.ns[part as usize] += ns;
        self.measured.0 |= 1 << part as u32;
    }

    /// These parts were measured, also where they came to nothing.
    #[inline]
    pub fn measure(&mut self, parts: PartSet) {
        self.measured = self.measured.with(parts);
    }

    /// Which parts were measured.
    #[inline]
    pub fn measured(&self) -> PartSet {
        self.measured
    }

    /// All in one part.
    #[inline]
    pub fn only(part: Part, ns: i64) -> Self {
        let mut parts = Self::default();
        parts.add(part, ns);
        parts
    }

    /// The part that all is in; `None` where there are several or none.
    #[inline]
    pub fn only_part(&self) -> Option<Part> {
        let first = self.ns.iter().position(|&ns| ns != 0)?;
        let is_only = self.ns[first + 1..].iter().all(|&ns| ns == 0);
        is_only.then(|| Part::ALL[first])
    }

    /// Adds every part of another set. Sums of what was measured never wrap; of what a stranger
    /// has written they may.
    #[inline]
    pub fn add_all(&mut self, other: &Self) {
        for (mine, theirs) in self.ns.iter_mut().zip(other.ns) {
            *mine = mine.wrapping_add(theirs);
        }
        self.measured = self.measured.with(other.measured);
    }

    /// What has come since they were `before`.
    #[must_use]
    pub(crate) fn since(&self, before: &Self) -> Self {
        let mut since = *self;
        let pairs = since.ns.iter_mut().zip(before.ns);
        pairs.for_each(|(mine, before)| *mine = mine.wrapping_sub(before));
        since
    }

    /// The sum of all parts, unexplained included.
    pub fn total(&self) -> i64 {
        self.ns.iter().sum()
    }

    /// Sets `unexplained` to whatever `response` has beyond the other parts.
    #[inline]
    pub fn close(&mut self, response: Nanos) {
        self.ns[Part::Unexplained as usize] = 0;
        let rest = response.signed() - self.total();
        self.add(Part::Unexplained, rest);
    }

    /// The longest part of a traced request that is not CPU, if there is any.
    pub fn longest_wait(&self) -> Option<(Part, i64)> {
        let waits = Part::TRACED.into_iter().skip(1).map(|part| (part, self.get(part)));
        // Of equals the one that reports show last.
        waits.max_by_key(|(_, ns)| *ns).filter(|(_, ns)| *ns > 0)
    }
}

/// As JSON: an object of the parts that came to anything, `cpu_us` and so on, in microseconds;
/// `null` where none was measured. In binary formats: which parts were measured, a bit each, and
/// the nanoseconds of these.
impl Serialize for Parts {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if !to.is_human_readable() {
            let mut tuple = to.serialize_tuple(1 + self.measured.0.count_ones() as usize)?;
            tuple.serialize_element(&self.measured.0)?;
            for part in self.measured.iter() {
                tuple.serialize_element(&self.get(part))?;
            }
            return tuple.end();
        }
        if self.are_unknown() {
            return to.serialize_unit();
        }
        let present = || Part::ALL.into_iter().filter(|part| self.get(*part) != 0);
        let mut map = to.serialize_map(Some(present().count()))?;
        for part in present() {
            map.serialize_entry(&InMicroseconds(part), &(self.get(part) as f64 / 1e3))?;
        }
        map.end()
    }
}

/// A part's name as a key: the unit behind it.
struct InMicroseconds(Part);

impl Serialize for InMicroseconds {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{}_us", self.0.name()))
    }
}

/// What is not in it came to nothing; names that this program does not know are passed over.
impl<'de> Deserialize<'de> for Parts {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        if from.is_human_readable() {
            return from.deserialize_any(PartsVisitor);
        }
        from.deserialize_tuple(1 + PART_COUNT, MeasuredPartsVisitor)
    }
}

struct MeasuredPartsVisitor;

impl<'de> Visitor<'de> for MeasuredPartsVisitor {
    type Value = Parts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a set of parts, and the nanoseconds of each")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Parts, A::Error> {
        let lacks = || A::Error::custom("parts are missing");
        let measured = PartSet(from.next_element()?.ok_or_else(lacks)?);
        if measured.without(PartSet::of(&Part::ALL)) != PartSet::default() {
            return Err(A::Error::custom("a part is not known"));
        }
        let mut parts = Parts { ns: [0; PART_COUNT], measured };
        for part in measured.iter() {
            parts.ns[part as usize] = from.next_element()?.ok_or_else(lacks)?;
        }
        Ok(parts)
    }
}

struct PartsVisitor;

impl<'de> Visitor<'de> for PartsVisitor {
    type Value = Parts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of parts in microseconds")
    }

    fn visit_unit<E: Error>(self) -> Result<Parts, E> {
        Ok(Parts::default())
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Parts, M::Error> {
        let mut parts = Parts::default();
        parts.measure(PartSet::of(&Part::TRACED));
        while let Some(key) = map.next_key::<String>()? {
            match key.strip_suffix("_us").and_then(Part::named) {
                Some(part) => {
                    let us: f64 = map.next_value()?;
                    parts.add(part, (us * 1e3).round() as i64);
                }
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(parts)
    }
}

/// A set of parts, such as those measured on a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartSet(u32);

impl PartSet {
    /// The set of the given parts.
    pub const fn of(parts: &[Part]) -> Self {
        let mut bits = 0;
        let mut i = 0;
        while i < parts.len() {
            bits |= 1 << parts[i] as u32;
            i += 1;
        }
        Self(bits)
    }

    /// Whether the part is in it.
    pub fn has(self, part: Part) -> bool {
        self.0 & (1 << part as u32) != 0
    }

    /// Both sets together.
    #[must_use]
    pub(crate) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What both sets have.
    #[must_use]
    pub(crate) const fn common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// What this set has and the other has not.
    #[must_use]
    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Its parts in the order of a transaction's life.
    pub fn iter(self) -> impl Iterator<Item = Part> {
        Part::ALL.into_iter().filter(move |part| self.has(*part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn part_order_matches_the_array() {
        for (index, part) in Part::ALL.into_iter().enumerate() {
            assert_eq!(part as usize, index);
            assert_eq!(Part::named(part.name()), Some(part));
            assert_eq!(serde_json::to_value(part).expect("a name"), part.name());
        }
    }

    #[test]
    fn the_only_part_is_the_one_that_is_not_zero() {
        for part in Part::ALL {
            assert_eq!(Parts::only(part, -3).only_part(), Some(part));
        }
        assert_eq!(Parts::default().only_part(), None);
        let two = Parts::of(&[(Part::Cpu, 5), (Part::Unexplained, 1)]);
        assert_eq!(two.only_part(), None);
    }

    #[test]
    fn what_was_measured_is_known_of_each() {
        let mut parts = Parts::only(Part::Cpu, 5);
        parts.measure(PartSet::of(&[Part::Sync]));
        assert_eq!(parts.measured().iter().collect::<Vec<_>>(), [Part::Cpu, Part::Sync]);
    }

    #[test]
    fn what_was_not_measured_stays_unknown_in_json() {
        let unknown = Parts::default();
        assert!(unknown.are_unknown() && unknown.measured_duration(Part::Cpu).is_none());
        assert_eq!(serde_json::to_string(&unknown).expect("JSON"), "null");
        assert_eq!(serde_json::from_str::<Parts>("null").expect("parts"), unknown);
        let nothing: Parts = serde_json::from_str("{}").expect("parts");
        assert_eq!(nothing.measured_duration(Part::Cpu), Some(Nanos::ZERO));
    }

    #[test]
    fn the_longest_wait_is_no_cpu_time() {
        let parts = Parts::of(&[(Part::Cpu, 9), (Part::Lock, 3), (Part::Sync, 4)]);
        assert_eq!(parts.longest_wait(), Some((Part::Sync, 4)));
        assert_eq!(Parts::only(Part::Cpu, 9).longest_wait(), None);
    }

    proptest! {
        #[test]
        fn parts_always_add_up(
            response in 0u64..1 << 50,
            amounts in prop::collection::vec(-1000i64..1 << 40, PART_COUNT),
        ) {
            let mut parts = Parts::default();
            for (part, ns) in Part::ALL.into_iter().zip(amounts) {
                parts.add(part, ns);
            }
            parts.close(Nanos(response));
            prop_assert_eq!(parts.total(), response.cast_signed());
        }

        #[test]
        fn what_is_written_is_read(amounts in prop::collection::vec(-(1i64 << 50)..1 << 50, 12)) {
            let mut parts = Parts::default();
            for (part, ns) in Part::TRACED.into_iter().zip(amounts) {
                parts.add(part, ns);
            }
            let json = serde_json::to_string(&parts).expect("an object");
            prop_assert_eq!(serde_json::from_str::<Parts>(&json).expect("parts"), parts);
            let bytes = postcard::to_allocvec(&[parts, parts]).expect("room");
            prop_assert_eq!(postcard::from_bytes::<[Parts; 2]>(&bytes).expect("parts"), [parts; 2]);
        }
    }
}
