//! What is run, as written down.

use super::flag_value::{variable, whole};
use serde::{Deserialize, Serialize};

/// What is run. One of `name`, `query` and `script`; without any `atm`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkloadSpec {
    /// A shipped workload, or a workload file.
    pub name: Option<String>,
    /// One statement.
    pub query: Option<String>,
    /// A script for pgbench (`.sql`) or sysbench (`.lua`).
    pub script: Option<String>,
    /// Its variables or options, `NAME=VALUE`; `NAME` alone, as every secret, is taken from the
    /// environment (`_` there for `-` and `.`).
    pub script_set: Vec<String>,
    /// Multiple of the workload's base size; `None`: as loaded, else 1.
    pub scale: Option<u64>,
    /// Seed of the rows loaded; `None`: the run's.
    pub data_seed: Option<u64>,
    /// SHA-256 of the workload's or script's text, in hexadecimal: another text is refused.
    pub sha256: Option<String>,
}

impl WorkloadSpec {
    /// Whether it has the flag, which is set then.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<bool, String> {
        match name {
            "workload" => self.name = Some(value.to_owned()),
            "query" => self.query = Some(value.to_owned()),
            "script" => self.script = Some(value.to_owned()),
            "script-set" => self.script_set.push(variable(value)?),
            "scale" => self.scale = Some(whole::<u64>(1.., 10)(value)?),
            "data-seed" => self.data_seed = Some(whole::<u64>(0.., 42)(value)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Its numbers, by the paths of their fields: the flags of their names check them.
    pub(super) fn numbers(&self) -> [(&'static str, Option<u64>); 1] {
        [("workload.scale", self.scale)]
    }
}
