//! Checks of PostgreSQL.

mod activity;
mod checkpoints;
mod data;
mod durability;
mod logging;
mod memory;
#[cfg(test)]
mod tests;
mod wraparound;

use super::check::ServerCheck;
use super::examined::{ExaminedServer, SETTINGS};
use super::login::{LookQuery, LookScript};
use std::fmt::Display;

/// All of them, by families.
pub(super) const CHECKS: &[&[ServerCheck]] = &[
    durability::CHECKS,
    memory::CHECKS,
    checkpoints::CHECKS,
    logging::CHECKS,
    data::CHECKS,
    wraparound::CHECKS,
    activity::CHECKS,
];

/// What they need, in one transaction. Queries of tables end after six of them, and after half a
/// second.
pub(super) const SCRIPT: LookScript = LookScript {
    bounds: &[
        "BEGIN TRANSACTION READ ONLY",
        "SET LOCAL statement_timeout = 500",
        "SET LOCAL lock_timeout = 300",
    ],
    guard: Some(["SAVEPOINT look", "ROLLBACK TO SAVEPOINT look"]),
    queries: &[
        LookQuery { name: SETTINGS, sql: ALL_SETTINGS },
        LookQuery { name: "checkpoints", sql: checkpoints::COUNTS },
        LookQuery { name: "checkpoints before 17", sql: checkpoints::OLD_COUNTS },
        LookQuery { name: "size of the WAL", sql: checkpoints::WAL },
        LookQuery { name: "running vacuums", sql: data::VACUUMS },
        LookQuery { name: "changed collations", sql: data::COLLATIONS },
        LookQuery { name: "oldest rows", sql: wraparound::AGES },
        LookQuery { name: "idle transactions", sql: activity::IDLE },
        LookQuery { name: "hidden sessions", sql: activity::HIDDEN },
        LookQuery { name: "oldest snapshot", sql: activity::SNAPSHOT },
        LookQuery { name: "prepared transactions", sql: activity::PREPARED },
        LookQuery { name: "inactive slots", sql: activity::SLOTS },
        LookQuery { name: "database counters", sql: activity::DATABASE },
        LookQuery { name: "client connections", sql: activity::CONNECTIONS },
        LookQuery { name: "data size", sql: memory::SIZE },
        LookQuery { name: "unlogged tables", sql: data::UNLOGGED },
        LookQuery { name: "tables due for vacuum", sql: data::DUE },
        LookQuery { name: "tables due for vacuum by new rows", sql: data::DUE_BY_NEW_ROWS },
        LookQuery { name: "tables with old statistics", sql: data::OLD_STATISTICS },
    ],
    quick: &[
        SETTINGS,
        "idle transactions",
        "hidden sessions",
        "prepared transactions",
        "inactive slots",
        "client connections",
    ],
    end: Some("ROLLBACK"),
    stop: None,
};

const ALL_SETTINGS: &str = "SELECT name, setting, unit, source FROM pg_catalog.pg_settings";

/// The statements that set variables, each where it is set now: one of the command line, of a role
/// or of a database stands above what `ALTER SYSTEM` sets. Values are numbers, with their units, or
/// words of the rule, never texts of the server.
fn alter_system(server: &ExaminedServer, values: &[(&str, &str)]) -> String {
    let is_of_system = |(name, _): &(&str, &str)| other_place(server, name).is_none();
    let mut parts: Vec<String> = values
        .iter()
        .map(|(name, value)| match other_place(server, name) {
            Some(SettingPlace::Start) => format!("start the server with -c {name}={value}"),
            Some(SettingPlace::Statement(before)) => format!("{before} SET {name} = '{value}'"),
            Some(SettingPlace::Target) => format!("{name}={value} in the target's options"),
            None => format!("ALTER SYSTEM SET {name} = '{value}'"),
        })
        .collect();
    if values.iter().any(is_of_system) {
        parts.push("SELECT pg_reload_conf()".to_owned());
    }
    parts.join("; ")
}

/// The same of a variable that counts from the next start of the server.
fn alter_start(server: &ExaminedServer, name: &str, value: impl Display) -> String {
    match other_place(server, name) {
        Some(SettingPlace::Start) => format!("start the server with -c {name}={value}"),
        _ => format!("ALTER SYSTEM SET {name} = '{value}', and restart the server"),
    }
}

/// What stands above the files of a server's configuration.
enum SettingPlace {
    /// Its command line, or the environment of its start.
    Start,
    /// A role or a database, with the beginning of the statement that sets it there.
    Statement(&'static str),
    /// The options of this login.
    Target,
}

/// Where a variable is set, if not in files (`source` of pg_settings).
fn other_place(server: &ExaminedServer, name: &str) -> Option<SettingPlace> {
    match server.sources.get(name)?.as_str() {
        "command line" | "environment variable" => Some(SettingPlace::Start),
        "database" => Some(SettingPlace::Statement("ALTER DATABASE …")),
        "user" => Some(SettingPlace::Statement("ALTER ROLE …")),
        "database user" => Some(SettingPlace::Statement("ALTER ROLE … IN DATABASE …")),
        "client" => Some(SettingPlace::Target),
        _ => None,
    }
}
