//! What the server counted in the measured window, by its key counters.

use serde::{Deserialize, Serialize};

/// What the server counted between the start and the end of the window. All of it is in
/// `counters.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CountersInfo {
    /// Time between the two samples, in seconds; `null` when it is not known.
    pub interval_s: Option<f64>,
    /// Transactions of this run that ended between them.
    pub transactions: u64,
    /// The key counters that counted anything.
    #[serde(alias = "telling")]
    pub key_counters: Vec<KeyCounterDelta>,
    /// What a reader must know of all of them: a restart, a reset.
    pub notes: Vec<String>,
}

/// One key counter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeyCounterDelta {
    /// Its name at the server, or what several of them add up to.
    pub name: String,
    /// The unit of the two figures.
    pub unit: CounterUnit,
    /// What was counted between the two samples.
    pub difference: f64,
    /// The same per transaction; `null` without any.
    pub per_transaction: Option<f64>,
    /// What it counts, in a few words.
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
