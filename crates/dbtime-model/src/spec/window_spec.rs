//! The window of a run and what is measured in it, as written down.

use super::flag_value::{read, switch, whole};
use super::{BudgetChoice, duration_text, of_flag};
use crate::Nanos;
use serde::{Deserialize, Serialize};

/// What is measured. `budget` is `auto` (default), `off`, or `16` for one transaction in so many.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WindowSpec {
    /// Load before the window.
    #[serde(with = "duration_text")]
    pub warmup: Option<Nanos>,
    /// Length; `None` with `transactions`: until they have ended.
    #[serde(with = "duration_text")]
    pub time: Option<Nanos>,
    /// Transactions offered.
    pub transactions: Option<u64>,
    /// Transactions with parts: `auto` (default), `off`, or `16` for one in so many.
    #[serde(deserialize_with = "of_flag::budget")]
    pub budget: Option<BudgetChoice>,
    /// Whether the server is traced.
    pub trace: bool,
    /// Whether the driver's side of each statement is recorded, for `dbtime join`.
    pub statements: bool,
    /// Whether stacks of its threads are taken.
    pub stacks: bool,
}

impl WindowSpec {
    /// Whether it has the flag, which is set then.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<bool, String> {
        match name {
            "warmup" => self.warmup = Some(read(value)?),
            "time" => self.time = Some(read(value)?),
            "transactions" => self.transactions = Some(whole::<u64>(1.., 1000)(value)?),
            "budget-every" => {
                self.budget = Some(BudgetChoice::Every(whole::<u32>(1.., 100)(value)?));
            }
            "no-budget" => {
                let is_off = switch(value)?;
                // Which transactions are measured is another flag's affair.
                let chosen = self.budget.filter(|budget| *budget != BudgetChoice::Off);
                self.budget = if is_off { Some(BudgetChoice::Off) } else { chosen };
            }
            "trace" => self.trace = switch(value)?,
            "statements" => self.statements = switch(value)?,
            "stacks" => self.stacks = switch(value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Its numbers, by the paths of their fields: the flags of their names check them.
    pub(super) fn numbers(&self) -> [(&'static str, Option<u64>); 1] {
        [("window.transactions", self.transactions)]
    }
}
