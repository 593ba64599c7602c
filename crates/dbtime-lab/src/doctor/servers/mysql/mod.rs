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
use super::examined::{COUNTERS, ExaminedServer, SETTINGS};
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

/// What they need. Queries of tables end after six of them, and after half a second.
pub(super) const SCRIPT: LookScript = LookScript {
    // MariaDB, MySQL; both.
    bounds: &[
        "SET SESSION max_statement_time = 0.5",
        "SET SESSION max_execution_time = 500",
        "SET SESSION TRANSACTION READ ONLY",
        // MySQL from 8.0 on shows sizes of yesterday otherwise, and writes down those it reads.
        "SET SESSION information_schema_stats_expiry = 0",
    ],
    guard: None,
    queries: &[
        LookQuery { name: SETTINGS, sql: "SHOW GLOBAL VARIABLES" },
        LookQuery { name: COUNTERS, sql: "SHOW GLOBAL STATUS" },
        LookQuery { name: OWN_RIGHTS, sql: RIGHTS },
        LookQuery { name: "history length", sql: activity::HISTORY },
        LookQuery { name: "wait consumers", sql: logging::CONSUMERS },
        LookQuery { name: "idle transactions", sql: activity::IDLE },
        LookQuery { name: "replicas", sql: activity::REPLICAS },
        LookQuery { name: "enabled events", sql: activity::EVENTS },
        LookQuery { name: "data size", sql: data::SIZE },
        LookQuery { name: "tables without primary key", sql: data::KEYLESS },
        LookQuery { name: "tables with old statistics", sql: data::OLD_STATISTICS },
        LookQuery { name: data::CHANGED[0], sql: data::CHANGED_SINCE },
        LookQuery { name: data::CHANGED[1], sql: data::CHANGED_SINCE_BEFORE_8 },
    ],
    quick: &[SETTINGS, COUNTERS],
    end: None,
    stop: Some(end_session),
};

fn end_session(number: u32) -> String {
    format!("KILL {number}")
}

/// What the login may do everywhere, as far as other users' tables, sessions and events are seen by
/// it. Rights of roles are not among them.
const RIGHTS: &str = "SELECT privilege_type FROM information_schema.user_privileges WHERE \
    privilege_type IN ('SELECT', 'PROCESS', 'EVENT') AND grantee = CONCAT('''', \
    LEFT(CURRENT_USER(), CHAR_LENGTH(CURRENT_USER()) - 1 - \
    CHAR_LENGTH(SUBSTRING_INDEX(CURRENT_USER(), '@', -1))), '''@''', \
    SUBSTRING_INDEX(CURRENT_USER(), '@', -1), '''')";

/// The name of its rows.
const OWN_RIGHTS: &str = "own rights";

/// What the login needs so as to see all of something, where it lacks that.
fn lacked(server: &ExaminedServer, right: &'static str) -> Option<&'static str> {
    let rights = server.names(OWN_RIGHTS).unwrap_or_default();
    rights.iter().all(|own| !own.eq_ignore_ascii_case(right)).then_some(right)
}

/// The statement that sets a variable. `value` is a number or a word of the rule, never a text of
/// the server.
fn set_global(name: &str, value: impl Display) -> String {
    format!("SET GLOBAL {name} = {value}")
}
