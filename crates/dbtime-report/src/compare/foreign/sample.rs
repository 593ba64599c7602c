//! Values by name and unit, as files of other tools have them, with bounds on how many.

use dbtime_model::secret_text::script_without_secrets;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Values of one name in one unit: looking for groups among them takes the square of their number.
pub(super) const MOST_OF_A_NAME: usize = 1_000;

/// Names with their units, and values of all of them.
const MOST_SAMPLES: usize = 20_000;
const MOST_VALUES: usize = 500_000;

/// Bytes of a name with its unit.
const MOST_NAME_BYTES: usize = 1_000;

/// What a value is of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct SampleKey {
    /// What tells names apart that are alike, such as a package; empty: nothing.
    pub(super) group: String,
    pub(super) name: String,
    pub(super) unit: String,
}

impl SampleKey {
    /// The name as reports have it, behind what tells it from others that are alike. A name may be
    /// a command line, and reports are passed on.
    pub(super) fn shown(&self) -> String {
        script_without_secrets(&match self.group.as_str() {
            "" => self.name.clone(),
            group => format!("{group}.{}", self.name),
        })
    }
}

/// One value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ForeignValue {
    /// Zero or above, and finite.
    pub(super) value: f64,
    /// The turn in which it was measured; a value of the other side with this number is its pair.
    pub(super) block: Option<u64>,
}

/// The values of one name in one unit, in the order of their file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ForeignSample {
    pub(super) key: SampleKey,
    pub(super) values: Vec<ForeignValue>,
}

/// Samples in the order of their first values.
#[derive(Clone, Debug, Default)]
pub(super) struct SampleTable {
    samples: Vec<ForeignSample>,
    places: HashMap<SampleKey, usize>,
    values: usize,
}

impl SampleTable {
    /// Adds a value.
    ///
    /// Errors: it is no number from zero on, or there are too many of them; in words.
    pub(super) fn add(&mut self, key: SampleKey, value: ForeignValue) -> Result<(), String> {
        if !(value.value.is_finite() && value.value >= 0.0) {
            return Err(format!("{} is no value: it must be finite, and not below 0", value.value));
        }
        let bytes = key.group.len() + key.name.len() + key.unit.len();
        if bytes > MOST_NAME_BYTES {
            return Err(format!("a name of {bytes} bytes; at most {MOST_NAME_BYTES}: shorten it"));
        }
        if self.values == MOST_VALUES {
            return Err(format!("more than {MOST_VALUES} values: compare fewer names at a time"));
        }
        let next = self.samples.len();
        let place = match self.places.entry(key) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(_) if next == MOST_SAMPLES => {
                return Err(format!("more than {MOST_SAMPLES} names: compare fewer at a time"));
            }
            Entry::Vacant(new) => {
                self.samples.push(ForeignSample { key: new.key().clone(), values: Vec::new() });
                *new.insert(next)
            }
        };
        let values = &mut self.samples[place].values;
        if values.len() == MOST_OF_A_NAME {
            return Err(format!(
                "more than {MOST_OF_A_NAME} values of one name: a value must be a repetition of \
                 the whole measurement, such as its mean, not a single request"
            ));
        }
        values.push(value);
        self.values += 1;
        Ok(())
    }

    /// All of them.
    pub(super) fn samples(&self) -> &[ForeignSample] {
        &self.samples
    }

    /// The one with this key.
    pub(super) fn find(&self, key: &SampleKey) -> Option<&ForeignSample> {
        self.places.get(key).map(|place| &self.samples[*place])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> SampleKey {
        SampleKey { name: name.to_owned(), ..SampleKey::default() }
    }

    fn value(value: f64) -> ForeignValue {
        ForeignValue { value, block: None }
    }

    #[test]
    fn values_of_a_name_are_one_sample_in_their_order() {
        let mut table = SampleTable::default();
        for (name, number) in [("b", 2.0), ("a", 3.0), ("b", 1.0)] {
            table.add(key(name), value(number)).expect("a value");
        }
        let names: Vec<&str> =
            table.samples().iter().map(|sample| sample.key.name.as_str()).collect();
        assert_eq!(names, ["b", "a"]);
        let of_b = table.find(&key("b")).expect("a sample");
        assert_eq!(of_b.values, [value(2.0), value(1.0)]);
        assert!(table.find(&key("c")).is_none());
    }

    #[test]
    fn names_are_shown_without_their_passwords() {
        for (name, shown) in [
            ("mysql -psecretpw", "mysql -p***"),
            ("mysql -u root -phunter2 x", "mysql -u root -p*** x"),
            ("curl https://u:pass99@h/", "curl https://u:***@h/"),
            ("Sort/1k-8", "Sort/1k-8"),
        ] {
            assert_eq!(key(name).shown(), shown);
        }
        let key = SampleKey { group: "u:hush@/x".to_owned(), ..key("y") };
        assert_eq!(key.shown(), "u:***@/x.y");
    }

    #[test]
    fn what_is_no_value_or_one_too_many_is_refused() {
        let mut table = SampleTable::default();
        for number in [f64::NAN, f64::INFINITY, -1.0] {
            assert!(table.add(key("a"), value(number)).is_err());
        }
        assert!(table.add(key(&"a".repeat(MOST_NAME_BYTES + 1)), value(1.0)).is_err());
        for _ in 0..MOST_OF_A_NAME {
            table.add(key("a"), value(1.0)).expect("a value");
        }
        let error = table.add(key("a"), value(1.0)).expect_err("one too many");
        assert!(error.contains("not a single request"), "{error}");
    }
}
