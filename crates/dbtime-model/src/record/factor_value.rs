//! What makes a run this one among several: flags and their values.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A factor and its value in one run.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct FactorValue {
    /// The flag that is swept, without its dashes.
    pub name: String,
    /// Its value, without passwords.
    pub value: String,
}

impl fmt::Display for FactorValue {
    /// As on the command line: `workers=4`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.value)
    }
}

/// Factors as they are shown: `workers=4 rate=500/s`; `as given` where there are none.
pub fn combination_text<'a>(factors: impl IntoIterator<Item = &'a FactorValue>) -> String {
    let pairs: Vec<String> = factors.into_iter().map(FactorValue::to_string).collect();
    if pairs.is_empty() { "as given".to_owned() } else { pairs.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_combination_of_nothing_is_as_given() {
        let factor =
            |name: &str, value: &str| FactorValue { name: name.into(), value: value.into() };
        assert_eq!(combination_text([]), "as given");
        let factors = [factor("workers", "4"), factor("rate", "500/s")];
        assert_eq!(combination_text(&factors), "workers=4 rate=500/s");
    }
}
