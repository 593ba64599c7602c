//! One form of a statement, and what its executions took.

use super::StatementPlan;
use crate::Part;
use serde::{Deserialize, Serialize};

/// One form of a statement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QueryForm {
    /// `A` or `B`.
    pub name: String,
    /// Where its text comes from: a file's path, or `--query`.
    pub source: String,
    /// Its text, whose literals are `?`; with `--raw-sql` as it was given, without passwords.
    pub sql: String,
    /// Its first execution, which no other figure has in it; `None`: it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<FirstExecution>,
    /// What plain executions took; `None`: there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<ExecutionTimes>,
    /// Executions that failed.
    #[serde(default)]
    pub failed: u64,
    /// Why the first of them did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Where the time of an execution went, in the order of the parts; they add up to
    /// `watched_mean_us`, and without that to `times.mean_us`. Empty: it was not seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<ExecutionPart>,
    /// The mean of the executions that were watched for `parts`, none of which is in `times`;
    /// `None`: none was. Unit: microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watched_mean_us: Option<f64>,
    /// What the server counted for an execution, the calibrated price of looking taken off.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<ExecutionCounter>,
    /// What the server's processes used while this form was measured, an execution; of a server
    /// elsewhere, and of what is rolled back, `None`. Unit: microseconds of CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_cpu_us: Option<f64>,
    /// How the server executes it; `None`: it did not say, see the notes of the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<StatementPlan>,
}

/// The first execution of a form on its connection: it prepares, plans, and finds caches cold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FirstExecution {
    /// Until the statement was prepared; `None`: it was sent as a text.
    pub prepare_us: Option<f64>,
    /// From the request to the last byte of the answer.
    pub execute_us: f64,
}

/// What plain executions took, from the request to the last byte of the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExecutionTimes {
    /// How many.
    pub count: u64,
    /// The mean.
    pub mean_us: f64,
    /// The shortest.
    pub min_us: f64,
    /// Half of them took no longer.
    pub p50_us: f64,
    /// 90 in 100 took no longer.
    pub p90_us: f64,
    /// 99 in 100 took no longer.
    pub p99_us: f64,
    /// The longest.
    pub max_us: f64,
    /// Rows returned, or changed where none are returned: the mean.
    pub rows: f64,
    /// Bytes of the answer: the mean.
    pub bytes: f64,
}

/// A part of an execution's time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExecutionPart {
    /// Which part.
    pub part: Part,
    /// The mean of an execution; of `unexplained` it may be below zero.
    pub mean_us: f64,
}

/// What a server counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExecutionCounter {
    /// The server's own name: `Handler_read_rnd_next`.
    pub name: String,
    /// Where it is read: `SHOW SESSION STATUS`.
    pub source: String,
    /// Of one execution, the mean of those that were looked at.
    pub value: f64,
}
