//! Checks of PostgreSQL.

mod activity;
mod checkpoints;
mod data;
mod durability;
mod logging;
mod memory;
#[cfg(test)]
mod tests;

use super::check::ServerCheck;
use super::examined::SETTINGS;
use super::login::{LookQuery, LookScript};
use std::fmt::Display;

/// All of them, by families.
pub(super) const CHECKS: &[&[ServerCheck]] = &[
    durability::CHECKS,
    memory::CHECKS,
    checkpoints::CHECKS,
    logging::CHECKS,
    data::CHECKS,
    activity::CHECKS,
];

/// What they need. Queries of tables end after five of them, and after a second.
pub(super) const SCRIPT: LookScript = LookScript {
    bounds: &[
        "SET statement_timeout = 1000",
        "SET lock_timeout = 500",
        "SET default_transaction_read_only = on",
    ],
    queries: &[
        LookQuery { name: SETTINGS, sql: "SELECT name, setting, unit FROM pg_catalog.pg_settings" },
        LookQuery { name: "data size", sql: memory::SIZE },
        LookQuery { name: "checkpoints", sql: checkpoints::COUNTS },
        LookQuery { name: "checkpoints before 17", sql: checkpoints::OLD_COUNTS },
        LookQuery { name: "tables due for vacuum", sql: data::DUE },
        LookQuery { name: "running vacuums", sql: data::VACUUMS },
        LookQuery { name: "tables with old statistics", sql: data::OLD_STATISTICS },
        LookQuery { name: "changed collations", sql: data::COLLATIONS },
        LookQuery { name: "idle transactions", sql: activity::IDLE },
        LookQuery { name: "oldest snapshot", sql: activity::SNAPSHOT },
        LookQuery { name: "prepared transactions", sql: activity::PREPARED },
        LookQuery { name: "inactive slots", sql: activity::SLOTS },
        LookQuery { name: "database counters", sql: activity::DATABASE },
        LookQuery { name: "client connections", sql: activity::CONNECTIONS },
    ],
};

/// The statements that set a variable. `value` is a number, with its unit, or a word of the rule,
/// never a text of the server.
fn alter_system(name: &str, value: impl Display) -> String {
    format!("ALTER SYSTEM SET {name} = '{value}'; SELECT pg_reload_conf()")
}

/// The same of a variable that counts from the next start of the server.
fn alter_start(name: &str, value: impl Display) -> String {
    format!("ALTER SYSTEM SET {name} = '{value}', and restart the server")
}
