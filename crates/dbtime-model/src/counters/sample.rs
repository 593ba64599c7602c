//! What a database said of its counters at one instant.

use super::CounterValue;
use crate::Product;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Origin of a sample.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterSource {
    /// `mysql` too where MySQL and MariaDB cannot be told apart.
    pub product: Product,
    /// As it says.
    #[serde(default)]
    pub version: Option<String>,
    /// Target without password.
    #[serde(default)]
    pub url: Option<String>,
}

/// When a sample was taken, as far as its file says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SampleInstant {
    /// Wall clock, UTC, RFC 3339.
    pub at: Option<String>,
    /// `CLOCK_MONOTONIC` of the machine that sampled.
    pub mono_ns: Option<u64>,
    /// Its boot, within which monotonic instants compare.
    pub boot: Option<String>,
}

/// Counters by name.
pub type CounterValues = BTreeMap<String, CounterValue>;

/// Counters of a database at one instant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CounterSample {
    /// Version of the sample's meaning.
    pub schema: u32,
    /// Version of the program that wrote it.
    pub dbtime: String,
    /// Whose counters they are.
    pub source: CounterSource,
    /// When they were read.
    #[serde(default)]
    pub taken: SampleInstant,
    /// Uptime of the server.
    #[serde(default)]
    pub uptime_s: Option<f64>,
    /// By source: `global_status`, `pg_stat_database (app)`, with the row's key in parentheses.
    pub groups: BTreeMap<String, CounterValues>,
}

impl CounterSample {
    /// A sample of this version with no counters yet.
    pub fn new(source: CounterSource) -> Self {
        Self {
            schema: super::SCHEMA,
            dbtime: env!("CARGO_PKG_VERSION").to_owned(),
            source,
            taken: SampleInstant::default(),
            uptime_s: None,
            groups: BTreeMap::new(),
        }
    }

    /// A counter, by its group and name.
    pub fn get(&self, group: &str, name: &str) -> Option<&CounterValue> {
        self.groups.get(group)?.get(name)
    }

    /// How many counters it holds.
    pub fn count(&self) -> usize {
        self.groups.values().map(BTreeMap::len).sum()
    }
}
