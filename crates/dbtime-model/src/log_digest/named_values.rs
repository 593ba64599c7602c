//! Values by their names, in little memory: a digest has such lists for each of 100,000 classes.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Index;

/// The name of a value; most are known to the program.
type ValueName = Cow<'static, str>;

/// Values by their names, in the order of these. As JSON it is an object.
///
/// Shape: few values; one is found by looking through them.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedValues<V>(Vec<(ValueName, V)>);

impl<V> Default for NamedValues<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<V> NamedValues<V> {
    /// Sets the value of a name.
    pub fn insert(&mut self, name: impl Into<ValueName>, value: V) {
        let name = name.into();
        let at = self.0.partition_point(|(own, _)| *own < name);
        match self.0.get_mut(at) {
            Some((own, known)) if *own == name => *known = value,
            _ => self.0.insert(at, (name, value)),
        }
    }

    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&V> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    /// The value of a name, to be changed.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut V> {
        self.0.iter_mut().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    /// Whether a name has a value.
    pub fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The values with their names, in the order of these.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &V)> {
        self.0.iter().map(|(name, value)| (&**name, value))
    }

    /// The values alone.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.0.iter().map(|(_, value)| value)
    }
}

impl<V> Index<&str> for NamedValues<V> {
    type Output = V;

    /// The value of a name. Panics: there is none.
    fn index(&self, name: &str) -> &V {
        self.get(name).expect("a value of this name")
    }
}

impl<N: Into<ValueName>, V> FromIterator<(N, V)> for NamedValues<V> {
    /// Of two with one name the last one counts.
    fn from_iter<I: IntoIterator<Item = (N, V)>>(values: I) -> Self {
        let named = values.into_iter().map(|(name, value)| (name.into(), value));
        let sorted: BTreeMap<ValueName, V> = named.collect();
        // A list that is made of one with a known number has no room to spare.
        Self(sorted.into_iter().collect())
    }
}

impl<N: Into<ValueName>, V, const COUNT: usize> From<[(N, V); COUNT]> for NamedValues<V> {
    fn from(values: [(N, V); COUNT]) -> Self {
        values.into_iter().collect()
    }
}

impl<V: Serialize> Serialize for NamedValues<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for NamedValues<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let values = BTreeMap::<String, V>::deserialize(deserializer)?;
        Ok(values.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_their_names_and_stand_in_their_order() {
        let mut values: NamedValues<u32> = [("c", 3), ("a", 1), ("c", 4)].into();
        values.insert("b".to_owned(), 2);
        values.insert("a", 5);
        let all: Vec<(&str, u32)> = values.iter().map(|(name, value)| (name, *value)).collect();
        assert_eq!(all, [("a", 5), ("b", 2), ("c", 4)]);
        *values.get_mut("b").expect("there") += 1;
        assert_eq!((values["b"], values.get("d"), values.contains_key("c")), (3, None, true));
        assert_eq!((values.len(), values.values().sum::<u32>()), (3, 12));
        assert!(NamedValues::<u32>::default().is_empty());
    }

    #[test]
    fn as_json_they_are_an_object() {
        let values: NamedValues<u32> = [("b", 2), ("a", 1)].into();
        let json = serde_json::to_string(&values).expect("JSON");
        assert_eq!(json, r#"{"a":1,"b":2}"#);
        assert_eq!(serde_json::from_str::<NamedValues<u32>>(&json).expect("the same"), values);
    }
}
