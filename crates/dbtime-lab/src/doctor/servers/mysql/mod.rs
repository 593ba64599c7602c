//! Checks of MySQL and MariaDB.

mod activity;
mod caches;
mod capacity;
mod data;
mod durability;
mod logging;
#[cfg(test)]
mod tests;

use super::check::ServerCheck;
use super::examined::{COUNTERS, SETTINGS};
use super::login::{LookQuery, LookScript};
use std::fmt::Display;

/// All of them, by families.
pub(super) const CHECKS: &[&[ServerCheck]] = &[
    durability::CHECKS,
    caches::CHECKS,
    logging::CHECKS,
    capacity::CHECKS,
    data::CHECKS,
    activity::CHECKS,
];

/// What they need. Queries of tables end after five of them, and after a second.
pub(super) const SCRIPT: LookScript = LookScript {
    // MariaDB, MySQL; both.
    bounds: &[
        "SET SESSION max_statement_time = 1",
        "SET SESSION max_execution_time = 1000",
        "SET SESSION TRANSACTION READ ONLY",
    ],
    queries: &[
        LookQuery { name: SETTINGS, sql: "SHOW GLOBAL VARIABLES" },
        LookQuery { name: COUNTERS, sql: "SHOW GLOBAL STATUS" },
        LookQuery { name: "data size", sql: data::SIZE },
        LookQuery { name: "history length", sql: activity::HISTORY },
        LookQuery { name: "wait consumers", sql: logging::CONSUMERS },
        LookQuery { name: "tables without primary key", sql: data::KEYLESS },
        LookQuery { name: "tables with old statistics", sql: data::OLD_STATISTICS },
        LookQuery { name: "enabled events", sql: activity::EVENTS },
        LookQuery { name: "replicas", sql: activity::REPLICAS },
    ],
};

/// The statement that sets a variable. `value` is a number or a word of the rule, never a text of
/// the server.
fn set_global(name: &str, value: impl Display) -> String {
    format!("SET GLOBAL {name} = {value}")
}
