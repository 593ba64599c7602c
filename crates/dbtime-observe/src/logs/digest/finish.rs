//! The end of a digest: classes in their order, with what they have to do with each other.

use super::DigestBuilder;
use super::builder::{InputSums, percona_rules};
use super::class_sums::ClassSums;
use super::figures::MAX_UNKNOWN;
use super::overlap_table::{OverlapSums, OverlapTable};
use super::samples::cut_text;
use super::stored_class::StoredClass;
use dbtime_model::log_digest::{
    ClassGrouping, ClassOverlap, DigestClass, DigestTimeline, NamedCount, UnreadLines,
};
use dbtime_model::units::{count, counted};
use rustc_hash::FxHashMap;

/// Of so many classes, those with the most time, groups are searched.
const SEARCHED: usize = 1000;

/// What stands for the classes that were merged, where a class is named.
const OTHERS: &str = "other classes";

/// The sums of logs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DigestSums {
    /// All records together, without text and samples.
    pub(crate) total: DigestClass,
    /// Largest total time first, then count, then text.
    pub(crate) classes: Vec<DigestClass>,
    /// The classes that were merged for want of room.
    pub(crate) others: Option<DigestClass>,
    /// How many classes those are; one that came again after that counts again.
    pub(crate) other_classes: u64,
    /// Load over time.
    pub(crate) timeline: DigestTimeline,
    /// What was counted by its name alone, most frequent first.
    pub(crate) events: Vec<NamedCount>,
    /// When the first record began. Unit: microseconds since 1970-01-01.
    pub(crate) first_us: Option<i64>,
    /// When the last record ended. Unit: microseconds since 1970-01-01.
    pub(crate) last_us: Option<i64>,
    /// What could not be read, by the index of the file.
    pub(crate) unread: Vec<Vec<UnreadLines>>,
    /// What is to be known of the durations and times, by the index of the file, in sentences.
    pub(crate) time_notes: Vec<Vec<String>>,
    /// How many records there were, by the index of the file.
    pub(crate) records: Vec<u64>,
    /// How many records were left out, because they were not in the time that was asked for.
    pub(crate) left_out: u64,
    /// What the bounds of memory left out, in sentences.
    pub(crate) notes: Vec<String>,
}

impl DigestBuilder {
    /// The sums of all that was taken.
    pub(crate) fn finish(mut self) -> DigestSums {
        self.repeats.end();
        self.join.sort();
        let weight = self.options.assumed_weight;
        let mut notes = self.notes();
        let (found, merged) = self.store.finish();
        let mut total = ClassSums::default();
        let classes = self.classes(found, &mut total);
        if let Some(sums) = &merged.sums {
            total.merge(sums);
        }
        notes.extend(unknown_outcomes(total.without_outcome()));
        notes.extend(total.has_more_figures().then(more_figures));
        DigestSums {
            total: self.total(&total),
            classes,
            others: merged.sums.map(|sums| sums.digest(weight)),
            other_classes: merged.count,
            first_us: total.first_us,
            last_us: total.last_us,
            notes,
            events: self.events(),
            timeline: std::mem::take(&mut self.timeline).finish(weight),
            time_notes: self.inputs.iter().map(InputSums::notes).collect(),
            records: self.inputs.iter().map(|input| input.records).collect(),
            unread: self.inputs.into_iter().map(|input| input.unread).collect(),
            left_out: self.left_out,
        }
    }

    /// The classes in their order, linked with each other and added to the total.
    fn classes(
        &self,
        found: Vec<(Box<str>, StoredClass)>,
        total: &mut ClassSums,
    ) -> Vec<DigestClass> {
        let serials: Vec<u32> = found.iter().map(|(_, stored)| stored.serial).collect();
        let mut classes = Vec::with_capacity(found.len());
        for (index, (text, stored)) in found.into_iter().enumerate() {
            classes.push(self.class(text, stored, index < SEARCHED, total));
        }
        self.link_classes(&mut classes, &serials);
        classes
    }

    /// A class, which is added to the total.
    fn class(
        &self,
        text: Box<str>,
        mut stored: StoredClass,
        is_searched: bool,
        total: &mut ClassSums,
    ) -> DigestClass {
        let (percona_id, shown) = (stored.percona_id.take(), stored.shown.take());
        let sums = stored.into_sums();
        total.merge(&sums);
        let mut class = sums.digest(self.options.assumed_weight);
        let of_percona = percona_rules(self.options.grouping).and(percona_id.clone());
        class.id = of_percona.unwrap_or_else(|| dbtime_sql::statement_id(text.as_bytes()));
        class.percona_id = percona_id;
        class.text = self.shown_text(text, shown);
        if is_searched {
            sums.fill_groups(&mut class);
        }
        class
    }

    /// What stands for a class where it is shown: of the records that lack what divides them, that.
    fn shown_text(&self, text: Box<str>, shown: Option<Box<str>>) -> String {
        match self.options.grouping {
            ClassGrouping::User if text.is_empty() => "(user unknown)".to_owned(),
            ClassGrouping::Host if text.is_empty() => "(host unknown)".to_owned(),
            ClassGrouping::Database if text.is_empty() => "(no database, or unknown)".to_owned(),
            // Most are not cut, and stay where they are.
            _ => {
                let mut shown = String::from(shown.unwrap_or(text));
                shown.truncate(cut_text(&shown).len());
                shown.shrink_to_fit();
                shown
            }
        }
    }

    fn total(&self, sums: &ClassSums) -> DigestClass {
        let mut total = sums.digest(self.options.assumed_weight);
        if let Some(percona) = &self.percona {
            percona.fill(&mut total);
        }
        DigestClass { worst: None, random: None, ..total }
    }

    /// Puts what ran beside, what is repeated and what requests ran into the classes, which have
    /// these numbers.
    fn link_classes(&self, classes: &mut [DigestClass], serials: &[u32]) {
        let places: FxHashMap<u32, usize> =
            serials.iter().enumerate().map(|(place, serial)| (*serial, place)).collect();
        for (place, serial) in serials.iter().enumerate() {
            let beside = self.overlaps.table(*serial).map(OverlapTable::most).unwrap_or_default();
            let overlaps = named(&beside, &places, classes);
            let joined = self.join.statements(*serial);
            let mut statements = named(&joined.most, &places, classes);
            for statement in &mut statements {
                statement.is_by_time_alone = joined.is_by_time_alone;
            }
            let class = &mut classes[place];
            class.overlaps = overlaps;
            class.statements = statements;
            class.repeats = self.repeats.repeats(*serial).map(Box::new);
        }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.join.dropped > 0 {
            notes.push(format!(
                "Joined with no request, for want of room: the last {}; name a shorter time with \
                 --since and --until to join all.",
                counted(self.join.dropped, "statement")
            ));
        }
        let cut = self.join.cut_requests();
        if cut > 0 {
            notes.push(format!(
                "Of the slowest requests, {} have more statements at their time than are looked \
                 at: the first of those are left out.",
                count(cut as u64)
            ));
        }
        if self.join.is_coarse {
            notes.push(
                "The access log has whole seconds: what ran within the second of a request, and \
                 took no longer, is taken for its statements."
                    .to_owned(),
            );
        }
        notes
    }

    fn events(&self) -> Vec<NamedCount> {
        let counts = self
            .events
            .iter()
            .map(|(name, count)| NamedCount { name: name.clone(), count: *count });
        let mut events: Vec<NamedCount> = counts.collect();
        events.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
        events
    }
}

/// That it is known of a part of the records alone whether they failed.
fn unknown_outcomes(records: u64) -> Option<String> {
    let records = (records > 0).then(|| counted(records, "record"))?;
    Some(format!("Not shown by the log: whether {records} failed. Errors are those of the others."))
}

/// That figures were left out.
fn more_figures() -> String {
    format!(
        "Left out: figures that dbtime does not know, beyond the first {MAX_UNKNOWN} of a class or \
         of all classes together."
    )
}

/// Overlaps with the names of their classes; those of classes that were merged are one.
fn named(
    found: &[OverlapSums],
    places: &FxHashMap<u32, usize>,
    classes: &[DigestClass],
) -> Vec<ClassOverlap> {
    let mut overlaps: Vec<ClassOverlap> = Vec::new();
    for sums in found {
        let class = places.get(&sums.serial).map(|place| &classes[*place]);
        let (id, text) = class.map_or(("", OTHERS), |class| (&*class.id, &*class.text));
        let time_us = sums.time_us as f64;
        if let Some(others) = overlaps.iter_mut().find(|own| own.id.is_empty() && id.is_empty()) {
            others.count += sums.count;
            others.time_us += time_us;
            continue;
        }
        overlaps.push(ClassOverlap {
            id: id.to_owned(),
            text: text.to_owned(),
            count: sums.count,
            time_us,
            is_by_time_alone: false,
        });
    }
    overlaps.sort_by(|a, b| b.time_us.total_cmp(&a.time_us));
    overlaps
}
