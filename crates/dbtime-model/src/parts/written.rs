//! The parts of a response as JSON and as bytes.

use super::{PART_COUNT, Part, PartSet, Parts};
use crate::traced::BorrowedText;
use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeTuple};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// The number of each part in binary formats.
const NUMBERS: [u32; PART_COUNT] = {
    let mut numbers = [0; PART_COUNT];
    let mut number = 0;
    while number < PART_COUNT {
        numbers[Part::WRITTEN[number] as usize] = number as u32;
        number += 1;
    }
    numbers
};

/// As JSON: its name. In binary formats: its number.
impl Serialize for Part {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match to.is_human_readable() {
            true => to.serialize_str(self.name()),
            false => to.serialize_u32(NUMBERS[*self as usize]),
        }
    }
}

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        if from.is_human_readable() {
            let name = String::deserialize(from)?;
            return Self::named(&name).ok_or_else(|| unknown(&name));
        }
        let number = u32::deserialize(from)?;
        Self::WRITTEN.get(number as usize).copied().ok_or_else(|| unknown(number))
    }
}

/// The parts of a set, by their numbers.
fn numbered(set: PartSet) -> impl Iterator<Item = Part> {
    Part::WRITTEN.into_iter().filter(move |part| set.has(*part))
}

fn unknown<E: Error>(part: impl fmt::Display) -> E {
    E::custom(format_args!("there is no part `{part}`"))
}

/// A bit for each part, by its number.
impl Serialize for PartSet {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let bits = self.iter().fold(0u32, |bits, part| bits | (1 << NUMBERS[part as usize]));
        to.serialize_u32(bits)
    }
}

impl<'de> Deserialize<'de> for PartSet {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let bits = u32::deserialize(from)?;
        if bits >> PART_COUNT != 0 {
            return Err(D::Error::custom("a part is not known"));
        }
        let mut set = Self::default();
        for (number, part) in Part::WRITTEN.into_iter().enumerate() {
            if bits & (1 << number) != 0 {
                set = set.with(Self::of(&[part]));
            }
        }
        Ok(set)
    }
}

/// As JSON: an object of the parts that came to anything, `cpu_us` and so on, in microseconds;
/// `null` where none was measured. In binary formats: which parts were measured, a bit each, and
/// the nanoseconds of these.
impl Serialize for Parts {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if !to.is_human_readable() {
            let mut tuple = to.serialize_tuple(1 + self.measured.iter().count())?;
            tuple.serialize_element(&self.measured)?;
            for part in numbered(self.measured) {
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
        let measured: PartSet = from.next_element()?.ok_or_else(lacks)?;
        let mut parts = Parts { ns: [0; PART_COUNT], measured };
        for part in numbered(measured) {
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
        // A recording has a dozen keys in each line; their unit is behind them in some.
        while let Some(BorrowedText(key)) = map.next_key()? {
            match Part::named(key.strip_suffix("_us").unwrap_or(&key)) {
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
