//! Logs and instruments whose price each statement pays.

use super::super::check::{CheckVerdict, RuleResult, ServerCheck};
use super::super::examined::ExaminedServer;
use super::set_global;
use dbtime_model::doctor::FindingScope;

pub(super) const CHECKS: &[ServerCheck] = &[
    ServerCheck {
        id: "general_log",
        scope: FindingScope::Server,
        expected: "off",
        source: "general_log",
        rule: general_log,
    },
    ServerCheck {
        id: "slow_log",
        scope: FindingScope::Server,
        expected: "off, or long_query_time above 10 ms",
        source: "slow_query_log, long_query_time",
        rule: slow_log,
    },
    ServerCheck {
        id: "performance_schema",
        scope: FindingScope::Server,
        expected: "no consumer of single waits",
        source: "performance_schema, performance_schema.setup_consumers",
        rule: performance_schema,
    },
    ServerCheck {
        id: "userstat",
        scope: FindingScope::Server,
        expected: "off",
        source: "userstat",
        rule: userstat,
    },
];

/// Consumers that keep every wait.
pub(super) const CONSUMERS: &str = "SELECT name FROM performance_schema.setup_consumers WHERE \
    enabled = 'YES' AND name LIKE 'events\\_waits%' ORDER BY name LIMIT 5";

fn general_log(server: &ExaminedServer) -> RuleResult {
    if !server.is_on("general_log")? {
        return Ok(CheckVerdict::good("off", "statements are not written down"));
    }
    let costs = "Not measured here: run with it on and off. Every statement is written to a file \
                 under one mutex (MySQL manual, \"The General Query Log\")";
    let verdict = CheckVerdict::note("on", "every statement is written down", costs);
    Ok(verdict.mended(set_global("general_log", "OFF"), set_global("general_log", "ON")))
}

/// Shorter statements are usual in a load. Unit: seconds.
const SHORT_S: f64 = 0.01;

fn slow_log(server: &ExaminedServer) -> RuleResult {
    let seconds = server.decimal("long_query_time")?;
    if !server.is_on("slow_query_log")? {
        return Ok(CheckVerdict::good("off", "statements are not written down"));
    }
    let value = format!("on, from {seconds} s");
    if seconds > SHORT_S {
        return Ok(CheckVerdict::good(value, "only slow statements are written down"));
    }
    let because = match seconds == 0.0 {
        true => "every statement is written down",
        false => "most statements of a load may be written down",
    };
    let costs = "Not measured here: run with it on and off. Each such statement is written to a \
                 file (MySQL manual, \"The Slow Query Log\")";
    let verdict = CheckVerdict::note(value, because, costs);
    let undo = set_global("long_query_time", seconds);
    // A second is what the manual's examples take, and slow for a statement of a load.
    Ok(verdict.mended(set_global("long_query_time", 1), undo))
}

fn performance_schema(server: &ExaminedServer) -> RuleResult {
    if !server.is_on("performance_schema")? {
        return Ok(CheckVerdict::good("off", "nothing is instrumented"));
    }
    let consumers = server.names("wait consumers")?;
    if consumers.is_empty() {
        return Ok(CheckVerdict::good("on, without waits", "single waits are not kept"));
    }
    let value = format!("on, with {}", consumers.join(", "));
    let costs = "Not measured here: run with them on and off. Each wait of a mutex, a file or a \
                 socket is timed and stored (MySQL manual, \"Performance Schema Consumers\")";
    let list = |state: &str| {
        format!(
            "UPDATE performance_schema.setup_consumers SET enabled = '{state}' WHERE name LIKE \
             'events\\_waits%'"
        )
    };
    let verdict = CheckVerdict::note(value, "every wait of the server is timed and kept", costs);
    Ok(verdict.mended(list("NO"), list("YES")))
}

fn userstat(server: &ExaminedServer) -> RuleResult {
    server.setting("version_comment")?;
    if server.setting("userstat").is_err() {
        return Ok(CheckVerdict::good("none", "this server has no such statistics"));
    }
    if !server.is_on("userstat")? {
        return Ok(CheckVerdict::good("off", "users and tables are not counted"));
    }
    let costs = "Not measured here: run with it on and off. Each statement counts for its user, \
                 client, tables and indexes (MariaDB manual, \"User Statistics\")";
    let verdict = CheckVerdict::note("on", "each statement is counted by user and table", costs);
    Ok(verdict.mended(set_global("userstat", "OFF"), set_global("userstat", "ON")))
}
