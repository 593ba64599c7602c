//! What the server counted in the measured window, by its key counters.

use serde::{Deserialize, Serialize};

/// What the server counted over the window. `counters.json` has all of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CountersInfo {
    /// Time between the two samples.
    pub interval_s: Option<f64>,
    /// Transactions of this run that ended between them.
    pub transactions: u64,
    /// The key counters that counted anything.
    #[serde(alias = "telling")]
    pub key_counters: Vec<KeyCounterDelta>,
    /// Notes on all counters: a restart, a reset.
    pub notes: Vec<String>,
}

/// A key counter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeyCounterDelta {
    /// At the server, or the terms of a sum.
    pub name: String,
    /// Of the two figures.
    pub unit: CounterUnit,
    /// Between the two samples.
    pub difference: f64,
    /// Likewise.
    pub per_transaction: Option<f64>,
    /// In a few words.
    pub meaning: String,
    /// The page of the manual that defines it.
    pub source: String,
}

/// What a counter counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CounterUnit {
    /// Events, rows, pages.
    #[default]
    Count,
    /// Bytes.
    Bytes,
    /// Milliseconds.
    Ms,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_before_call_key_counters_telling() {
        let old = r#"{"transactions":3,"telling":[{"name":"Questions","difference":6.0}]}"#;
        let info: CountersInfo = serde_json::from_str(old).expect("an old record");
        assert_eq!(info.key_counters[0].name, "Questions");
        let new = serde_json::to_string(&info).expect("plain data");
        assert!(new.contains("key_counters") && !new.contains("telling"), "{new}");
        assert_eq!(serde_json::from_str::<CountersInfo>(&new).expect("a record"), info);
    }
}
