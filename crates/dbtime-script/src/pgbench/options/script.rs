//! Which scripts a run chooses from, and how often it takes each.

use super::error::UsageError;
use crate::pgbench::builtin::BuiltinScript;

/// Where a script is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptSource {
    /// It is brought along.
    Builtin(BuiltinScript),
    /// It is in a file.
    File(String),
}

impl ScriptSource {
    /// The name in reports.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Builtin(builtin) => builtin.description,
            Self::File(path) => path,
        }
    }
}

/// A script of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptChoice {
    /// Where it is.
    pub source: ScriptSource,
    /// How often it is taken, against the other scripts' weights.
    pub weight: u32,
}

/// Cuts `NAME@WEIGHT` at its last `@`; without one the weight is 1.
pub(super) fn weighted(text: &str) -> Result<(&str, u32), UsageError> {
    const MAX_INTEGER: i64 = i32::MAX as i64;
    let Some((name, weight)) = text.rsplit_once('@') else { return Ok((text, 1)) };
    let is_number =
        weight.strip_prefix(['-', '+']).unwrap_or(weight).bytes().all(|b| b.is_ascii_digit());
    if weight.is_empty() || !is_number {
        return Err(UsageError::new(format!("invalid weight specification: @{weight}")));
    }
    match weight.parse::<i64>() {
        Ok(number @ 0..=MAX_INTEGER) => Ok((name, number as u32)),
        _ => Err(UsageError::new(format!(
            "weight specification out of range (0 .. {MAX_INTEGER}): {weight}"
        ))),
    }
}
