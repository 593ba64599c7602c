//! Two digests class by class: what each class takes of an hour, and by how much its mean changed.

use super::class_table::class_text;
use super::share;
use crate::compare::SCHEMA;
use crate::format::finite;
use dbtime_model::log_digest::{DigestClass, DigestTimes, LogDigest};
use dbtime_stats::{DigestChange, RecordMoments};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Microseconds of an hour.
const HOUR_US: f64 = 3.6e9;

/// What `dbtime compare --json` prints of two digests of logs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DigestComparison {
    /// The version of the document.
    pub schema: u32,
    /// The earlier digest, or the one that was named first.
    pub a: DigestSide,
    /// The other one.
    pub b: DigestSide,
    /// Whether figures are those of an hour; otherwise of a whole log, because one of them has no
    /// times.
    pub is_per_hour: bool,
    /// What differs between the digests besides, and may explain changes, in sentences.
    pub unlike: Vec<String>,
    /// The classes, largest change of their time first.
    pub classes: Vec<ComparedClass>,
}

/// One of two digests.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DigestSide {
    /// Its file.
    pub place: String,
    /// How many classes it has.
    pub classes: u64,
    /// How many records.
    pub count: u64,
    /// How long they took. Unit: microseconds; `null`: its log has no durations.
    pub total_us: Option<f64>,
    /// From its first record to its last. Unit: hours; `null`: its log has no times.
    pub hours: Option<f64>,
}

/// A class in both digests, or in one of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedClass {
    /// The ID that it has in both.
    pub id: String,
    /// Its text.
    pub text: String,
    /// In the first digest; `null`: it is new.
    pub a: Option<ClassLoad>,
    /// In the second one; `null`: it is gone.
    pub b: Option<ClassLoad>,
    /// By how much more it takes, of logs without durations: how many more there are. Unit:
    /// microseconds or records, an hour or in all.
    pub change: f64,
    /// By which factor its mean changed; `null`: not known.
    pub mean_factor: Option<f64>,
    /// The 95 % interval of the factor, where records are independent of each other.
    pub mean_factor_interval: Option<[f64; 2]>,
    /// By which factor its count changed, an hour or in all; `null`: one side has none.
    pub count_factor: Option<f64>,
    /// The 95 % interval of that factor, where records come independently of each other.
    pub count_factor_interval: Option<[f64; 2]>,
}

/// A class in one digest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ClassLoad {
    /// How many records, an hour or in all.
    pub count: f64,
    /// How long they took. Unit: microseconds, an hour or in all; `null`: not known.
    pub total_us: Option<f64>,
    /// Their share of the time, or of the records of a log without durations. Shape: 0 to 1.
    pub share: f64,
    /// Unit: microseconds.
    pub mean_us: Option<f64>,
    /// Unit: microseconds.
    pub p99_us: Option<f64>,
}

impl DigestComparison {
    /// Of two digests with the names of their files.
    pub fn of(sides: [(&str, &LogDigest); 2]) -> Self {
        let [(_, a), (_, b)] = sides;
        let hours = [a, b].map(hours);
        let scales = match hours {
            [Some(a), Some(b)] => Some([a, b]),
            _ => None,
        };
        let mut classes = compared(a, b, scales.unwrap_or([1.0; 2]));
        classes.sort_by(|a, b| b.change.abs().total_cmp(&a.change.abs()));
        let side = |at: usize| DigestSide {
            place: sides[at].0.to_owned(),
            classes: (sides[at].1.classes.len() as u64).saturating_add(sides[at].1.other_classes),
            count: sides[at].1.total.count,
            total_us: sides[at].1.total.times.as_ref().map(|times| times.total_us),
            hours: hours[at],
        };
        Self {
            schema: SCHEMA,
            a: side(0),
            b: side(1),
            is_per_hour: scales.is_some(),
            unlike: unlike(a, b),
            classes,
        }
    }
}

/// How long a log is; `None`: it has no times, or only one instant.
fn hours(digest: &LogDigest) -> Option<f64> {
    let length_us = digest.last_us?.checked_sub(digest.first_us?)?;
    (length_us > 0).then_some(length_us as f64 / HOUR_US)
}

/// The classes of both, by their IDs. A class of an ID that is there twice is compared once.
fn compared(a: &LogDigest, b: &LogDigest, [of_a, of_b]: [f64; 2]) -> Vec<ComparedClass> {
    let by_id = |digest: &LogDigest| -> BTreeMap<String, usize> {
        let named = digest.classes.iter().enumerate();
        named.map(|(index, class)| (class.id.clone(), index)).collect()
    };
    let (known_a, known_b) = (by_id(a), by_id(b));
    let ids: BTreeSet<&String> = known_a.keys().chain(known_b.keys()).collect();
    let class = |id: &String| {
        let one = known_a.get(id).map(|index| &a.classes[*index]);
        let other = known_b.get(id).map(|index| &b.classes[*index]);
        let text = one.or(other).map_or_else(String::new, class_text);
        let loads = [
            one.map(|class| ClassLoad::of(class, a, of_a)),
            other.map(|class| ClassLoad::of(class, b, of_b)),
        ];
        let changes = one.zip(other).map(|(one, other)| {
            let [one, other] = [one, other].map(moments);
            let rates = DigestChange::of_rates((&one, of_a), (&other, of_b));
            (DigestChange::of_means(&one, &other), rates)
        });
        let (means, rates) = changes.unwrap_or_default();
        ComparedClass::of(id, text, loads, [means, rates])
    };
    ids.into_iter().map(class).collect()
}

impl ClassLoad {
    /// Of a class in the log of a digest that is so many hours long.
    fn of(class: &DigestClass, digest: &LogDigest, hours: f64) -> Self {
        let time = |of: fn(&DigestTimes) -> f64| class.times.as_ref().map(of).map(finite);
        Self {
            count: class.count as f64 / hours,
            total_us: time(|times| times.total_us).map(|total| total / hours),
            share: share(class, digest),
            mean_us: time(|times| times.mean_us),
            p99_us: time(|times| times.p99_us),
        }
    }

    /// What is compared of it: its time, else its count.
    fn weight(&self) -> f64 {
        finite(self.total_us.unwrap_or(self.count))
    }
}

impl ComparedClass {
    fn of(
        id: &str,
        text: String,
        [a, b]: [Option<ClassLoad>; 2],
        [means, rates]: [Option<DigestChange>; 2],
    ) -> Self {
        let weight = |load: &Option<ClassLoad>| load.as_ref().map_or(0.0, ClassLoad::weight);
        let interval = |change: DigestChange| [change.low, change.high];
        Self {
            id: id.to_owned(),
            text,
            change: weight(&b) - weight(&a),
            a,
            b,
            mean_factor: means.map(|change| change.ratio),
            mean_factor_interval: means.map(interval),
            count_factor: rates.map(|change| change.ratio),
            count_factor_interval: rates.map(interval),
        }
    }

    /// Whether its mean differs by more than chance.
    pub(super) fn is_mean_changed(&self) -> bool {
        self.mean_factor_interval.is_some_and(|[low, high]| low > 1.0 || high < 1.0)
    }
}

/// How many records a class has, and the sums of their durations, which are zero without any.
fn moments(class: &DigestClass) -> RecordMoments {
    let times = class.times.as_ref();
    RecordMoments {
        logged: class.logged,
        count: class.count as f64,
        sum: times.map_or(0.0, |times| times.total_us),
        squares: times.map_or(0.0, |times| times.squares_us2),
    }
}

/// What differs between two digests besides their records.
fn unlike(a: &LogDigest, b: &LogDigest) -> Vec<String> {
    let mut unlike = Vec::new();
    if a.basis != b.basis {
        unlike.push(format!("durations are of different things: A {}, B {}", a.basis, b.basis));
    }
    if a.other_classes > 0 || b.other_classes > 0 {
        unlike.push("classes that were merged for want of room are not compared".to_owned());
    }
    let is_partial = |digest: &LogDigest| digest.inputs.iter().any(|input| input.from > 0);
    if is_partial(a) != is_partial(b) {
        unlike.push("one is of a part of its log (--since-last)".to_owned());
    }
    unlike
}
