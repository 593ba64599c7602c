//! What a run measured, as far as a report tells it.

use super::moments::RunningMoments;
use crate::pgbench::init::PartitionScheme;
use crate::pgbench::statistics::PgbenchCounts;

/// What a run measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PgbenchOutcome {
    /// The scaling factor, as the tables or the command line say.
    pub scale: u64,
    /// How the accounts are cut up.
    pub partitions: Option<PartitionScheme>,
    /// All transactions.
    pub total: PgbenchCounts,
    /// From the first transaction to the last; connections made before are left out.
    /// Unit: seconds.
    pub duration_s: f64,
    /// What it took to make the connections; with `-C` all of them together. Unit: seconds.
    pub connecting_s: f64,
    /// In the order of the command line.
    pub scripts: Vec<ScriptOutcome>,
}

/// What a run measured of a script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScriptOutcome {
    /// Its transactions.
    pub tally: PgbenchCounts,
    /// Its commands in their order.
    pub commands: Vec<CommandOutcome>,
}

/// What a run measured of a command.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CommandOutcome {
    /// Its first line.
    pub text: String,
    /// What it took where it did not fail. Unit: microseconds.
    pub latency: RunningMoments,
    /// How often it failed its transaction.
    pub failures: u64,
    /// How often its transaction was tried again.
    pub retries: u64,
}
