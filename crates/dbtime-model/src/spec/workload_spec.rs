//! What is run, as written down.

use super::flag_value::{variable, whole};
use serde::{Deserialize, Serialize};

/// What is run. Shape: at most one of `name`, `query` and `script`; none is `atm`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkloadSpec {
    /// A shipped workload, or the path of a workload file.
    pub name: Option<String>,
    /// One statement.
    pub query: Option<String>,
    /// The path of a script written for pgbench (`.sql`) or sysbench (`.lua`).
    pub script: Option<String>,
    /// Its variables or options, `NAME=VALUE` each; `NAME` alone is taken from the environment of
    /// dbtime (`-` and `.` in it are `_` there), as every secret is.
    pub script_set: Vec<String>,
    /// How many times the workload's base size; `null`: as it was loaded, 1 where the run loads it.
    pub scale: Option<u64>,
    /// Seed of the rows that a run loads; `null`: the seed of the run.
    pub data_seed: Option<u64>,
    /// SHA-256 of the workload's or the script's text, in hexadecimal: a run of another text is
    /// refused. `null`: whatever it is now. Files that the text names are not part of it.
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
