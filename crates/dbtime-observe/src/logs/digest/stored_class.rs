//! A class as it is kept: its first records as they are, and sums once there are more. Sums take
//! ten times as much memory as a record, and in a log whose classes have no bounds most have one.

use super::class_sums::ClassSums;
use super::early_record::EarlyRecord;
use super::seen::SeenRecord;

/// So many records are kept as they are.
const MOST_EARLY: usize = 3;

/// A class. Whether it has sums yet shows nowhere.
#[derive(Debug)]
pub(super) struct StoredClass {
    /// Its number, which no other class ever had.
    pub(super) serial: u32,
    /// Whether it is summed up as Percona's tools do, too.
    pub(super) has_percona: bool,
    /// The ID that Percona's tools give its first record.
    pub(super) percona_id: Option<String>,
    /// What is shown in the place of its name; `None`: its name.
    pub(super) shown: Option<Box<str>>,
    content: ClassContent,
}

/// The records of a class.
#[derive(Debug)]
enum ClassContent {
    Early(Vec<EarlyRecord>),
    Summed(Box<ClassSums>),
}

impl StoredClass {
    /// One without records.
    pub(super) fn new(serial: u32) -> Self {
        let content = ClassContent::Early(Vec::new());
        Self { serial, has_percona: false, percona_id: None, shown: None, content }
    }

    /// Adds a record; with `is_raw`, samples have its text. Returns whether it has sums since.
    pub(super) fn add(&mut self, seen: &SeenRecord<'_>, is_raw: bool) -> bool {
        let early = match &mut self.content {
            ClassContent::Summed(sums) => {
                sums.add(seen, is_raw);
                return false;
            }
            ClassContent::Early(early) => early,
        };
        // Early records have no text.
        if early.len() < MOST_EARLY && !is_raw {
            // Most are the only one.
            early.reserve_exact(1);
            early.push(EarlyRecord::of(seen));
            return false;
        }
        let mut sums = Box::new(summed(early, self.has_percona));
        sums.add(seen, is_raw);
        self.content = ClassContent::Summed(sums);
        true
    }

    /// Whether it has sums, which take memory.
    pub(super) fn is_summed(&self) -> bool {
        matches!(self.content, ClassContent::Summed(_))
    }

    /// How many records, by weight.
    pub(super) fn count(&self) -> u64 {
        match &self.content {
            ClassContent::Early(early) => early.iter().map(EarlyRecord::weight).sum(),
            ClassContent::Summed(sums) => sums.count,
        }
    }

    /// The time of all, by weight. Unit: nanoseconds.
    pub(super) fn total_ns(&self) -> u128 {
        match &self.content {
            ClassContent::Early(early) => early.iter().map(EarlyRecord::total_ns).sum(),
            ClassContent::Summed(sums) => sums.total_ns(),
        }
    }

    /// Whether a record is among the slowest hundredth of those before it; of a few there is none.
    pub(super) fn is_slow(&mut self, duration_ns: u64) -> bool {
        match &mut self.content {
            ClassContent::Early(_) => false,
            ClassContent::Summed(sums) => sums.is_slow(duration_ns),
        }
    }

    /// Looks at a record that others are compared with; returns whether there is one more kept now.
    pub(super) fn keep_record(&mut self, seen: &SeenRecord<'_>) -> bool {
        match &mut self.content {
            ClassContent::Early(_) => false,
            ClassContent::Summed(sums) => sums.keep_record(seen),
        }
    }

    /// How many records are kept for comparing.
    pub(super) fn kept(&self) -> usize {
        match &self.content {
            ClassContent::Early(_) => 0,
            ClassContent::Summed(sums) => sums.kept(),
        }
    }

    /// Its sums.
    pub(super) fn into_sums(self) -> Box<ClassSums> {
        match self.content {
            ClassContent::Early(early) => Box::new(summed(&early, self.has_percona)),
            ClassContent::Summed(sums) => sums,
        }
    }
}

/// The sums of records.
fn summed(early: &[EarlyRecord], has_percona: bool) -> ClassSums {
    let mut sums = ClassSums::new(has_percona);
    early.iter().for_each(|record| record.add_to(&mut sums));
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logs::JoinedRecord;
    use dbtime_model::Nanos;

    #[test]
    fn a_class_is_the_same_before_and_after_it_has_sums() {
        for records in [1, MOST_EARLY, MOST_EARLY + 1, 40] {
            let (mut class, mut sums) = (StoredClass::new(7), ClassSums::new(true));
            class.has_percona = true;
            for at in 0..records as u64 {
                let record = JoinedRecord {
                    offset: at,
                    end_us: Some(at.cast_signed() * 1000),
                    duration: Some(Nanos::from_micros(at % 7 + 1)),
                    weight: 2,
                    ..JoinedRecord::default()
                };
                let seen = SeenRecord::of(&record, 1);
                let has_become = class.add(&seen, false);
                assert_eq!(has_become, at == MOST_EARLY as u64, "{records}, {at}");
                sums.add(&seen, false);
            }
            assert_eq!((class.count(), class.total_ns()), (sums.count, sums.total_ns()));
            assert_eq!(class.is_summed(), records > MOST_EARLY);
            assert_eq!(class.into_sums().digest(1.0), sums.digest(1.0), "{records}");
        }
    }

    #[test]
    fn a_class_whose_samples_have_texts_has_sums_at_once() {
        let record = JoinedRecord { text: b"SELECT 42", ..JoinedRecord::default() };
        let mut class = StoredClass::new(0);
        assert!(class.add(&SeenRecord::of(&record, 0), true));
        let random = class.into_sums().digest(1.0).random.expect("a sample");
        assert_eq!(random.text, "SELECT 42");
    }
}
