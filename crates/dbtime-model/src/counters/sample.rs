//! What a database said of its counters at one instant.

use super::CounterValue;
use crate::Product;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Where a sample comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterSource {
    /// The product; of a file that does not tell MySQL from MariaDB, `mysql`.
    pub product: Product,
    /// Its version as it says; `null` when the file does not hold it.
    #[serde(default)]
    pub version: Option<String>,
    /// The target without password; `null` of a file that another program wrote.
    #[serde(default)]
    pub url: Option<String>,
}

/// When a sample was taken. A file that another program wrote does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SampleInstant {
    /// Wall clock, UTC, RFC 3339.
    pub at: Option<String>,
    /// `CLOCK_MONOTONIC` of the machine that sampled, in nanoseconds since its boot.
    pub mono_ns: Option<u64>,
    /// Which boot that was: monotonic instants compare only within one.
    /// Source: random/boot_id in proc_sys_kernel(5).
    pub boot: Option<String>,
}

/// Counters by name.
pub type CounterValues = BTreeMap<String, CounterValue>;

/// What a database said of its counters at one instant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CounterSample {
    /// `SCHEMA` of the program that wrote it.
    pub schema: u32,
    /// Version of the program that wrote it.
    pub dbtime: String,
    /// Whose counters they are.
    pub source: CounterSource,
    /// When they were read.
    #[serde(default)]
    pub taken: SampleInstant,
    /// How long the server had been up, in seconds; `null` where there is no server or it is not
    /// known.
    #[serde(default)]
    pub uptime_s: Option<f64>,
    /// Counters by where the database keeps them: `global_status`, `pg_stat_database (app)`. A row
    /// of a view with several is named by its key in parentheses.
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
