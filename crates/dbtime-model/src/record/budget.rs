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

/// The budget of the responses in one power-of-two bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BudgetBucket {
    /// Exclusive upper edge; the lower edge is half of it.
    pub below_us: f64,
    /// Sampled transactions in the bucket.
    pub count: u64,
    /// Their mean parts.
    pub budget_us: BudgetUs,
}

/// How the budget was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BudgetInfo {
    /// The costly parts were measured on one transaction in so many.
    pub every: u32,
    /// Transactions whose parts were measured.
    pub sampled: u64,
    /// Transactions of the window they stand for: all that ended or were unfinished.
    pub of: u64,
    /// How `every` was chosen: `given` or `auto`.
    pub chosen: SamplingOrigin,
    /// How the parts inside statements were told apart.
    pub method: BudgetMethod,
    /// By how much the mean response of the measured ones is above the mean of all, in percent;
    /// `null` where nothing was measured.
    pub mean_off_pct: Option<f64>,
    /// What measuring costs; `null` where it was not tried out.
    pub cost: Option<MeasuringCost>,
    /// The parts that were measured on some of them and not on others: of the others they are among
    /// the remainder.
    pub partly_measured: Vec<Part>,
    /// What of a transaction is in two parts at once, in the mean: the driver's lateness from
    /// before an answer came, which the server or the way took too. Unexplained is less by as much,
    /// and the budget error leaves it out. Unit: microseconds; `null`: not traced, or a record of
    /// before, where it is an error.
    pub twice_us: Option<f64>,
}

/// How the parts inside statements are told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetMethod {
    /// From the instants of a transaction alone; nothing inside statements is measured.
    #[default]
    Instants,
    /// A thread sees when it was switched out, and asks the kernel only then.
    Switches,
    /// By readings of the CPU clock around each stretch, which disturb what they measure.
    Probes,
    /// A tracer saw in the kernel what the server did.
    Traced,
}

/// Calls on one kind of file, over the whole window, all transactions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileIo {
    /// `database`, `wal`, `journal`, `temporary`, …
    pub file: String,
    /// `read`, `write`, `sync`, `truncate`, `delete`, `open`, `lock`, …
    pub call: String,
    /// How many calls.
    pub count: u64,
    /// Bytes moved; zero for calls that move none.
    pub bytes: u64,
    /// Wall time in them, in seconds; `null` when calls of this kind are only counted.
    pub wall_s: Option<f64>,
    /// The longest call, in microseconds; `null` when only counted.
    pub max_us: Option<f64>,
}

/// Waiting for a lock, by who held it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BudgetLockHolder {
    /// The operation and statement that waited: `withdraw: begin`.
    pub waiter: String,
    /// Who held the lock: an operation and statement of the load, `pid 1234 (sqlite3)`, `unknown`,
    /// or, on a server, who let it go: also the statement of somebody else, a thread of the server,
    /// or `nobody: a timer or signal ended it`.
    pub holder: String,
    /// The connection that held it, where that is none of the run's; `null` where it is, where it
    /// is not known, and on the embedded engine.
    pub outside: Option<OutsideHolder>,
    /// What the server calls the lock; `null` where it does not, and on the embedded engine.
    pub lock: Option<String>,
    /// How often the waiter found it so; on a server, in how many requests that was the longest
    /// wait for a lock.
    pub count: u64,
    /// How long was waited, in seconds. On a server the longest wait of each request alone, so that
    /// the rows come to no more than the part `lock`.
    pub wait_s: f64,
}

/// A connection of somebody else that held locks which the run waited for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OutsideHolder {
    /// What the server calls it, for KILL or `pg_terminate_backend`; `null`: it has not said.
    pub server_id: Option<u64>,
    /// The statement of its transaction before the one that let go; `null`: there was none.
    pub last_statement: Option<String>,
    /// How long its transaction had lasted when it let go, the longest that was waited for. Unit:
    /// microseconds; `null`: it was one statement.
    pub transaction_us: Option<f64>,
    /// How long of that its client said nothing, idle in its transaction. Unit: microseconds;
    /// `null` likewise.
    pub idle_us: Option<f64>,
    /// Whether its client had gone by then.
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
