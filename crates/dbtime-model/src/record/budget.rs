//! The time budget of a run in `run.json`, and what stands beside it: files, lock holders.

use super::measuring_cost::MeasuringCost;
use super::values::SamplingOrigin;
use crate::parts::each_part;
use crate::{Budget, Part, PartSet, Parts};
use serde::{Deserialize, Serialize};

/// Declares the parts as fields, so that the names in the file are written down once.
macro_rules! budget_us {
    ($($field:ident: $part:ident = $meaning:literal,)*) => {
        /// Mean per transaction by part. Unit: microseconds. `null`: not measured. The others add
        /// up to `total`, which is the mean response.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct BudgetUs {
            $(#[doc = concat!("See [`Part::", stringify!($part), "`].")] pub $field: Option<f64>,)*
            /// The mean response (statements: the mean time) the parts add up to.
            pub total: f64,
        }

        impl BudgetUs {
            /// One part; `None` when it was not measured.
            pub fn get(&self, part: Part) -> Option<f64> {
                match part { $(Part::$part => self.$field,)* }
            }

            /// Sets one part; `None`: it was not measured.
            pub fn set(&mut self, part: Part, us: Option<f64>) {
                match part { $(Part::$part => self.$field = us,)* }
            }
        }
    };
}

each_part!(budget_us);

impl BudgetUs {
    /// The means of `budget`.
    pub fn from_budget(budget: &Budget) -> Self {
        let mean = |ns: i64| ns as f64 / 1e3 / budget.count.max(1) as f64;
        let response = i64::try_from(budget.response_ns).unwrap_or(i64::MAX);
        Self::from_sums(&budget.sums, mean, mean(response))
    }

    /// The parts of a single transaction.
    pub fn from_parts(parts: &Parts) -> Self {
        let us = |ns: i64| ns as f64 / 1e3;
        Self::from_sums(parts, us, us(parts.total()))
    }

    fn from_sums(sums: &Parts, to_us: impl Fn(i64) -> f64, total: f64) -> Self {
        let mut us = Self { total, ..Self::default() };
        let remainder = PartSet::of(&[Part::Unexplained]);
        for part in sums.measured().with(remainder).iter() {
            us.set(part, Some(to_us(sums.get(part))));
        }
        us
    }

    /// The parts that were measured, in the order of a transaction's life.
    pub fn measured(&self) -> impl Iterator<Item = (Part, f64)> {
        Part::ALL.into_iter().filter_map(|part| self.get(part).map(|us| (part, us)))
    }
}

/// Responses in one power-of-two bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BudgetBucket {
    /// Exclusive upper edge; the lower edge is half of it.
    pub below_us: f64,
    /// Sampled transactions.
    pub count: u64,
    /// Their mean parts.
    pub budget_us: BudgetUs,
}

/// How the budget was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BudgetInfo {
    /// Costly parts were measured on one transaction in so many.
    pub every: u32,
    /// Transactions with parts.
    pub sampled: u64,
    /// Transactions they stand for, unfinished ones included.
    pub of: u64,
    /// How `every` was chosen.
    pub chosen: SamplingOrigin,
    /// How the parts inside statements were told apart.
    pub method: BudgetMethod,
    /// How far the mean response of the measured ones is above the mean of all.
    pub mean_off_pct: Option<f64>,
    /// Cost of measuring, where tried out.
    pub cost: Option<MeasuringCost>,
    /// Parts measured on some of them only, else in the remainder.
    pub partly_measured: Vec<Part>,
    /// Mean time in two parts at once, taken off `unexplained` and the budget error.
    pub twice_us: Option<f64>,
}

/// How the parts inside statements are told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetMethod {
    /// Instants of a transaction alone; nothing inside statements.
    #[default]
    Instants,
    /// A thread sees that it was switched out, and asks the kernel only then.
    Switches,
    /// The CPU clock around each stretch, which disturbs what it measures.
    Probes,
    /// A tracer in the kernel.
    Traced,
}

/// Calls on one kind of file, over the whole window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileIo {
    /// `database`, `wal`, `journal`, `temporary`, …
    pub file: String,
    /// `read`, `write`, `sync`, `truncate`, `delete`, `open`, `lock`, …
    pub call: String,
    /// Calls.
    pub count: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Wall time in them; `None` when only counted.
    pub wall_s: Option<f64>,
    /// The longest.
    pub max_us: Option<f64>,
}

/// Waiting for a lock, by who held it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BudgetLockHolder {
    /// Operation and statement: `withdraw: begin`.
    pub waiter: String,
    /// An operation and statement of the load, `pid 1234 (sqlite3)` or `unknown`; on a server also
    /// another client's, a thread of the server, or `nobody: a timer or signal ended it`.
    pub holder: String,
    /// The connection of another client that held it (servers only).
    pub outside: Option<OutsideHolder>,
    /// The server's name of the lock.
    pub lock: Option<String>,
    /// Waits; on a server requests whose longest wait for a lock this was.
    pub count: u64,
    /// Time waited; on a server the longest wait of each request, at most the part `lock` in all.
    pub wait_s: f64,
}

/// Another client's connection whose locks the run waited for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OutsideHolder {
    /// The server's number, for KILL or `pg_terminate_backend`.
    pub server_id: Option<u64>,
    /// The statement of its transaction before the one that released the lock.
    pub last_statement: Option<String>,
    /// Length of its transaction at the release, the longest one; `None`: it was one statement.
    pub transaction_us: Option<f64>,
    /// Of that, idle in the transaction.
    pub idle_us: Option<f64>,
    /// Whether its client had gone.
    pub has_left: bool,
}

/// Holders on a traced server of which no statement is known.
impl BudgetLockHolder {
    /// A timer or a signal ended the wait.
    pub const NOBODY: &str = "nobody: a timer or signal ended it";
    /// A connection whose statement is not known.
    pub const CONNECTION: &str = "a connection, statement unknown";
    /// A thread that served no connection.
    pub const SERVER_THREAD: &str = "a thread of the server";
    /// Those for which there was no row.
    pub const OTHERS: &str = "others";

    /// Whether the holder is a statement.
    pub fn has_statement(&self) -> bool {
        let others = [Self::NOBODY, Self::CONNECTION, Self::SERVER_THREAD, Self::OTHERS];
        !others.contains(&self.holder.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Nanos;

    #[test]
    fn unmeasured_parts_are_null_and_the_rest_adds_up() {
        let mut parts = Parts::of(&[(Part::Cpu, 900_000), (Part::Sync, 0)]);
        parts.close(Nanos(1_000_000));
        let us = BudgetUs::from_parts(&parts);
        assert_eq!((us.cpu, us.sync, us.wire), (Some(900.0), Some(0.0), None));
        assert_eq!(us.unexplained, Some(100.0));
        assert!((us.measured().map(|(_, us)| us).sum::<f64>() - us.total).abs() < 1e-9);
        let json = serde_json::to_value(us).expect("plain numbers");
        assert_eq!(json["wire"], serde_json::Value::Null);
        for part in Part::ALL {
            assert!(json.get(part.name()).is_some(), "{} is missing", part.name());
        }
    }
}
