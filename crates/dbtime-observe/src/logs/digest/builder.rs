//! Takes records, and hands each to what sums it up.

use super::DigestOptions;
use super::class_store::ClassStore;
use super::duration_step::DurationStep;
use super::overlap::{OverlapFinder, RecordSpan};
use super::percona::{PerconaSums, command_text, shown_text};
use super::repeats::RepeatFinder;
use super::requests::RequestJoin;
use super::samples::MAX_TEXT_BYTES;
use super::seen::SeenRecord;
use super::stored_class::StoredClass;
use super::time_step::TimeStep;
use super::timeline::LoadTimeline;
use crate::logs::{JoinedRecord, RecordSink};
use dbtime_model::log_digest::{ClassGrouping, ClassKind, InputKind, UnreadLines, UnreadReason};
use dbtime_sql::PerconaRules;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// So many records are kept to be compared with others of their class, in all.
const MAX_KEPT: usize = 200_000;

/// The lengths of texts that may be cut: joiners that keep texts cut them there, between two
/// characters if they mind. Unit: bytes.
const CUT_LENGTHS: RangeInclusive<usize> = MAX_TEXT_BYTES - 3..=MAX_TEXT_BYTES;

/// So many names of events are counted, and what stands for all others.
const MAX_EVENTS: usize = 256;
const OTHER_EVENTS: &str = "event of another kind";

/// Sums up the records of logs by class. They come from one thread in the order of the files, so
/// that the sums are a matter of the bytes alone.
#[derive(Debug)]
pub(crate) struct DigestBuilder {
    pub(super) options: DigestOptions,
    pub(super) store: ClassStore,
    pub(super) percona: Option<PerconaSums>,
    pub(super) timeline: LoadTimeline,
    pub(super) overlaps: OverlapFinder,
    pub(super) repeats: RepeatFinder,
    pub(super) join: RequestJoin,
    pub(super) events: BTreeMap<String, u64>,
    pub(super) inputs: Vec<InputSums>,
    /// The index of the file that is read.
    input: u32,
    kind: InputKind,
    pub(super) left_out: u64,
    /// How many records are kept to be compared.
    kept: usize,
    fingerprint: Vec<u8>,
}

/// What is counted of a file.
#[derive(Debug, Default)]
pub(super) struct InputSums {
    pub(super) records: u64,
    pub(super) unread: Vec<UnreadLines>,
    durations: DurationStep,
    times: TimeStep,
}

impl InputSums {
    /// What is to be known of its durations and times, in sentences.
    pub(super) fn notes(&self) -> Vec<String> {
        [self.durations.note(), self.times.note()].into_iter().flatten().collect()
    }
}

impl DigestBuilder {
    /// A digest of nothing yet.
    pub(crate) fn new(options: DigestOptions) -> Self {
        Self {
            store: ClassStore::new(options.max_classes, options.max_text_bytes),
            percona: percona_rules(options.grouping).map(|_| PerconaSums::default()),
            timeline: LoadTimeline::default(),
            overlaps: OverlapFinder::default(),
            repeats: RepeatFinder::default(),
            join: RequestJoin::default(),
            events: BTreeMap::new(),
            inputs: vec![InputSums::default()],
            input: 0,
            kind: InputKind::Slow,
            left_out: 0,
            kept: 0,
            fingerprint: Vec::new(),
            options,
        }
    }

    /// What comes now is of the file with this index, which has this format.
    pub(crate) fn begin_input(&mut self, input: u32, kind: InputKind) {
        let count = self.inputs.len().max(input as usize + 1);
        self.inputs.resize_with(count, InputSums::default);
        self.input = input;
        self.kind = kind;
    }

    /// Whether lines of the present file have not the form of its format. One that is cut may have
    /// had it, and one without its statement has it.
    pub(crate) fn has_foreign_lines(&self) -> bool {
        let is_foreign = |lines: &UnreadLines| {
            !matches!(lines.why, UnreadReason::Incomplete | UnreadReason::NoStatement)
        };
        self.inputs[self.input as usize].unread.iter().any(is_foreign)
    }

    /// Records of the file that ended before the first of these instants, or at the other or later,
    /// are left out. Unit: microseconds, as the times of its records.
    pub(crate) fn keep_within(&mut self, since_us: Option<i64>, until_us: Option<i64>) {
        (self.options.since_us, self.options.until_us) = (since_us, until_us);
    }

    fn input(&mut self) -> &mut InputSums {
        &mut self.inputs[self.input as usize]
    }

    /// Whether an instant is in the time that was asked for; one that is not known is in none.
    fn is_within(&self, at_us: Option<i64>) -> bool {
        let (since, until) = (self.options.since_us, self.options.until_us);
        if since.is_none() && until.is_none() {
            return true;
        }
        at_us.is_some_and(|at| {
            since.is_none_or(|since| at >= since) && until.is_none_or(|until| at < until)
        })
    }

    /// Adds a record to its class; returns the number of the class, and whether the record is
    /// among its slowest.
    fn add_to_class(&mut self, seen: &SeenRecord<'_>) -> (u32, bool) {
        let name = class_name(self.options.grouping, seen.record);
        let (place, is_new) = self.store.place(&name);
        if is_new {
            let percona_id = self.percona_id(seen.record, &name);
            let shown = self.shown(seen.record, &name);
            let class = self.store.class(place);
            class.percona_id = percona_id;
            class.shown = shown;
            class.has_percona = self.percona.is_some();
        }
        let class = self.store.class(place);
        let serial = class.serial;
        let is_slow = seen.duration_ns.is_some_and(|ns| class.is_slow(ns));
        self.store.add(place, seen, self.options.is_raw);
        let class = self.store.class(place);
        if class.kept() > 0 || self.kept < MAX_KEPT {
            self.kept += usize::from(class.keep_record(seen));
        }
        if self.store.shrink() {
            self.forget_merged();
        }
        (serial, is_slow)
    }

    /// The ID that Percona's tools give a statement or command; `None`: it is none, its text may be
    /// cut, or its class has records of any text.
    fn percona_id(&mut self, record: &JoinedRecord<'_>, name: &str) -> Option<String> {
        if !is_of_texts(self.options.grouping) {
            return None;
        }
        if record.kind == ClassKind::Command {
            return Some(dbtime_sql::statement_id(command_text(record.class).as_bytes()));
        }
        if record.kind != ClassKind::Statement || record.text.is_empty() {
            return None;
        }
        let rules = percona_rules(self.options.grouping);
        if CUT_LENGTHS.contains(&record.text.len()) {
            return rules.map(|_| dbtime_sql::statement_id(name.as_bytes()));
        }
        let rules = rules.unwrap_or(PerconaRules::Current);
        dbtime_sql::percona_fingerprint(record.text, rules, &mut self.fingerprint);
        Some(dbtime_sql::statement_id(&self.fingerprint))
    }

    /// What is shown of a class in the place of its name, which may have parts of literals in it.
    fn shown(&self, record: &JoinedRecord<'_>, name: &str) -> Option<Box<str>> {
        let rules = percona_rules(self.options.grouping)?;
        if record.kind != ClassKind::Statement {
            return None;
        }
        let text = if record.text.is_empty() { name.as_bytes() } else { record.text };
        let shown = shown_text(text, self.kind, rules);
        (shown != name).then(|| shown.into())
    }

    /// Looks at what a record has to do with others.
    fn link(&mut self, seen: &SeenRecord<'_>, serial: u32, is_slow: bool) {
        let record = seen.record;
        let is_statement = record.kind == ClassKind::Statement;
        if is_statement && record.session != 0 && is_of_texts(self.options.grouping) {
            // Sessions of servers of two kinds may have the same number.
            let session = record.session.wrapping_mul(8).wrapping_add(self.kind as u64);
            self.repeats.add(session, seen.interval_us(), serial, record.text);
        }
        let Some(interval) = seen.interval_us() else { return };
        let span = RecordSpan { serial, start_us: interval.0, end_us: interval.1 };
        let times = &mut self.input().times;
        let is_coarse = times.is_coarse(interval);
        if !(is_coarse && times.leaves_out(interval, is_slow)) {
            self.overlaps.add(span, is_slow);
        }
        if !self.options.joins_requests {
            return;
        }
        match record.kind {
            ClassKind::Statement => self.join.add_statement(span, record.session),
            ClassKind::Request => self.join.add_request(span, record.session, is_coarse),
            ClassKind::Command | ClassKind::Mixed => {}
        }
    }

    /// Forgets what is known of classes that are no longer counted apart.
    fn forget_merged(&mut self) {
        let mut serials: Vec<u32> = self.store.classes().iter().map(|class| class.serial).collect();
        serials.sort_unstable();
        let is_kept = |serial: u32| serials.binary_search(&serial).is_ok();
        self.overlaps.retain(is_kept);
        self.repeats.retain(is_kept);
        self.join.retain(is_kept);
        self.kept = self.store.classes().iter().map(StoredClass::kept).sum();
    }

    /// Adds a record to all sums.
    fn add(&mut self, record: &JoinedRecord<'_>) {
        self.input().records += 1;
        let seen = SeenRecord::of(record, self.input);
        if !self.is_within(seen.at_us()) {
            self.left_out += 1;
            return;
        }
        if let Some(duration_ns) = seen.duration_ns {
            self.input().durations.add(duration_ns);
        }
        self.timeline.add(&seen);
        if let Some(percona) = &mut self.percona {
            percona.add(&seen);
        }
        let (serial, is_slow) = self.add_to_class(&seen);
        self.link(&seen, serial, is_slow);
    }
}

impl RecordSink for DigestBuilder {
    fn take(&mut self, record: &JoinedRecord<'_>) {
        if self.options.names_accounts && !record.account.is_empty() {
            self.add(&JoinedRecord { user: record.account, ..record.clone() });
        } else {
            self.add(record);
        }
    }

    fn count_event(&mut self, name: &str, at_us: Option<i64>) {
        if !self.is_within(at_us) {
            return;
        }
        let is_kept = self.events.len() < MAX_EVENTS || self.events.contains_key(name);
        let name = if is_kept { name } else { OTHER_EVENTS };
        match self.events.get_mut(name) {
            Some(count) => *count += 1,
            None => {
                self.events.insert(name.to_owned(), 1);
            }
        }
    }

    fn count_unread(&mut self, why: UnreadReason, offset: u64) {
        let unread = &mut self.input().unread;
        match unread.iter_mut().find(|lines| lines.why == why) {
            Some(lines) => {
                lines.count += 1;
                lines.first_offset = lines.first_offset.min(offset);
            }
            None => unread.push(UnreadLines { why, count: 1, first_offset: offset }),
        }
    }
}

/// The rules by which Percona's tools divide into classes, where that was asked for.
pub(super) fn percona_rules(grouping: ClassGrouping) -> Option<PerconaRules> {
    match grouping {
        ClassGrouping::Percona => Some(PerconaRules::Current),
        ClassGrouping::PerconaOld => Some(PerconaRules::Old),
        _ => None,
    }
}

/// Whether the records of a class have a text in common.
fn is_of_texts(grouping: ClassGrouping) -> bool {
    !matches!(
        grouping,
        ClassGrouping::User
            | ClassGrouping::Host
            | ClassGrouping::Database
            | ClassGrouping::Session
    )
}

/// What makes a record one of its class.
fn class_name<'a>(grouping: ClassGrouping, record: &JoinedRecord<'a>) -> Cow<'a, str> {
    match grouping {
        ClassGrouping::User => String::from_utf8_lossy(record.user),
        ClassGrouping::Host => String::from_utf8_lossy(record.host),
        ClassGrouping::Database => String::from_utf8_lossy(record.database),
        ClassGrouping::Session => Cow::Owned(session_name(record)),
        ClassGrouping::Percona | ClassGrouping::PerconaOld if record.kind == ClassKind::Command => {
            Cow::Owned(command_text(record.class))
        }
        ClassGrouping::Fingerprint | ClassGrouping::Percona | ClassGrouping::PerconaOld => {
            Cow::Borrowed(record.class)
        }
    }
}

/// A process says more than the number that it makes with a thread or connection; empty: unknown.
fn session_name(record: &JoinedRecord<'_>) -> String {
    match (record.process, record.session) {
        (0, 0) => String::new(),
        (0, session) => format!("session {session}"),
        (process, _) => format!("process {process}"),
    }
}
