//! Checks of servers and of their data.
//!
//! A server is read once, over a login whose exchanges are bounded and change nothing
//! ([`login`]). Rules are pure functions of what was read ([`ExaminedServer`]), so that they are
//! tested without a server. Each product has a list of checks, by families: a file each. To add a
//! check, write its rule, its [`ServerCheck`] in the list of its family, a query that it needs in
//! the product's script, and its tests: a server that is well, one that is not, one that does not
//! show it, and one with hostile values.

mod check;
mod durability;
mod examined;
mod login;
mod memory;
mod mysql;
mod postgres;
mod sqlite;

use crate::error::LabError;
use crate::targets::Target;
use check::ServerCheck;
use dbtime_engines::databases::sqlite::SqliteTarget;
use dbtime_engines::server::Server;
use dbtime_machine::now;
use dbtime_model::doctor::DoctorFinding;
use dbtime_model::{MonoNanos, Nanos, WireProtocol};
use examined::ExaminedServer;
use login::LookDepth;

/// What is going to be done to a server; what is not known is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlannedServerUse {
    /// Connections at once.
    pub connections: Option<u64>,
    /// Statements that each of them has prepared.
    pub statements: Option<u64>,
    /// How long the load lasts. Unit: seconds.
    pub run_s: Option<f64>,
}

/// How long a look may take where nothing else waits for it.
const LOOK_LIMIT: Nanos = Nanos::from_secs(6);

/// What came of a look at a target.
#[derive(Debug, Default)]
pub(crate) struct TargetLook {
    /// A finding for each check, in the order of the checks.
    pub(crate) findings: Vec<DoctorFinding>,
    /// Why it could not be reached; `None`: it was, or it is none that is reached.
    pub(crate) unreached: Option<LabError>,
}

impl TargetLook {
    /// A look at something that needs no connection.
    pub(crate) fn of(findings: Vec<DoctorFinding>) -> Self {
        Self { findings, unreached: None }
    }
}

/// What the settings and data of a target do to figures, a finding for each check in the order of
/// the checks; empty for a target that has neither. A server that cannot be reached or refuses to
/// answer gives findings of the grade `unknown` with its reason. Nothing is changed.
pub fn server_findings(target: &Target, planned: &PlannedServerUse) -> Vec<DoctorFinding> {
    target.look(planned, now() + LOOK_LIMIT).findings
}

/// Looks at a server that runs, until then.
pub(crate) fn look_at_server(
    server: &dyn Server,
    planned: &PlannedServerUse,
    until: MonoNanos,
) -> TargetLook {
    examined(server, LookDepth::Whole, planned, until)
}

/// The same before a load, without queries of tables: what these would show is `unknown`.
pub(crate) fn quick_findings_of_server(
    server: &dyn Server,
    planned: &PlannedServerUse,
) -> Vec<DoctorFinding> {
    examined(server, LookDepth::Quick, planned, now() + LOOK_LIMIT).findings
}

fn examined(
    server: &dyn Server,
    depth: LookDepth,
    planned: &PlannedServerUse,
    until: MonoNanos,
) -> TargetLook {
    let (checks, script) = match server.wire_protocol() {
        WireProtocol::Mysql => (mysql::CHECKS, &mysql::SCRIPT),
        WireProtocol::Postgres => (postgres::CHECKS, &postgres::SCRIPT),
    };
    let (server, unreached) = login::examined(server, script, depth, planned, until);
    TargetLook { findings: findings(checks, &server), unreached: unreached.map(LabError::from) }
}

/// The findings of an SQLite database that is there.
pub(crate) fn findings_of_sqlite(target: &SqliteTarget) -> Vec<DoctorFinding> {
    findings(sqlite::CHECKS, &sqlite::examined(target))
}

/// What each check of these families makes of a server.
fn findings(families: &[&[ServerCheck]], server: &ExaminedServer) -> Vec<DoctorFinding> {
    families.iter().flat_map(|checks| checks.iter()).map(|check| check.finding(server)).collect()
}
