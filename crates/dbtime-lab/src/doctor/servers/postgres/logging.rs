//! Logs and clocks whose price each statement pays.

use super::super::check::{CheckVerdict, RuleResult, ServerCheck};
use super::super::examined::ExaminedServer;
use super::alter_system;
use dbtime_model::doctor::FindingScope;
use dbtime_observe::doctor::takes_system_call;

pub(super) const CHECKS: &[ServerCheck] = &[
    ServerCheck {
        id: "statement_log",
        scope: FindingScope::Server,
        expected: "no log of every statement",
        source: "log_statement, log_duration, log_min_duration_statement",
        rule: statement_log,
    },
    ServerCheck {
        id: "auto_explain",
        scope: FindingScope::Server,
        expected: "auto_explain.log_analyze off",
        source: "auto_explain.log_min_duration, auto_explain.log_analyze, auto_explain.log_timing",
        rule: auto_explain,
    },
    ServerCheck {
        id: "track_io_timing",
        scope: FindingScope::Server,
        expected: "off, or a clock that is read in user space",
        source: "track_io_timing, the kernel's current_clocksource",
        rule: track_io_timing,
    },
];

fn statement_log(server: &ExaminedServer) -> RuleResult {
    let statements = server.setting("log_statement")?;
    let least_ms = server.decimal("log_min_duration_statement")?;
    let durations = server.is_on("log_duration")?;
    let found = [
        (statements == "all", "log_statement", "none", "all"),
        (least_ms == 0.0, "log_min_duration_statement", "-1", "0"),
        (durations, "log_duration", "off", "on"),
    ];
    let found: Vec<_> = found.into_iter().filter(|(is_found, ..)| *is_found).collect();
    if found.is_empty() {
        return Ok(CheckVerdict::good("off", "not every statement is written down"));
    }
    let costs = "Not measured here: run with it on and off. Each statement is sent to the log, \
                 which a slow disk holds up (PostgreSQL manual, \"Error Reporting and Logging\")";
    let value = found.iter().map(|(_, name, _, on)| format!("{name}={on}"));
    let value = value.collect::<Vec<_>>().join("; ");
    let verdict = CheckVerdict::note(value, "every statement is written down", costs);
    let [off, on]: [Vec<_>; 2] = [
        found.iter().map(|(_, name, off, _)| (*name, *off)).collect(),
        found.iter().map(|(_, name, _, on)| (*name, *on)).collect(),
    ];
    Ok(verdict.mended(alter_system(server, &off), alter_system(server, &on)))
}

fn auto_explain(server: &ExaminedServer) -> RuleResult {
    server.setting("log_statement")?;
    let analyze = "auto_explain.log_analyze";
    if server.setting(analyze).is_err() {
        return Ok(CheckVerdict::good("not loaded", "no plan is written down"));
    }
    let least_ms = server.decimal("auto_explain.log_min_duration")?;
    let is_timed = server.is_on("auto_explain.log_timing")?;
    let value = format!("from {least_ms} ms, timing {}", if is_timed { "on" } else { "off" });
    if least_ms < 0.0 || !server.is_on(analyze)? {
        return Ok(CheckVerdict::good(value, "nothing is counted within plans"));
    }
    let because = "every statement is instrumented, whether it is written down or not";
    let costs = "Not measured here: run with it on and off. With timing the clock is read for each \
                 row of each node of a plan (PostgreSQL manual, \"auto_explain\")";
    let set = |value| alter_system(server, &[(analyze, value)]);
    Ok(CheckVerdict::note(value, because, costs).mended(set("off"), set("on")))
}

fn track_io_timing(server: &ExaminedServer) -> RuleResult {
    let name = "track_io_timing";
    if !server.is_on(name)? {
        return Ok(CheckVerdict::good("off", "reads and writes are not timed"));
    }
    let Some(clock) = &server.clock_source else {
        return Err("it is on, and the clock of the server's machine is not seen from here".into());
    };
    let value = format!("on, by {clock}");
    match takes_system_call(clock) {
        Some(true) => {}
        Some(false) => {
            return Ok(CheckVerdict::good(value, "reading this clock takes no system call"));
        }
        None => return Err(format!("{value}, of which it is not known whether it is fast")),
    }
    let costs = "Not measured here: pg_test_timing measures it (PostgreSQL manual, \
                 \"pg_test_timing\")";
    let verdict = CheckVerdict::note(value, "each read of the clock is a system call", costs);
    let set = |value| alter_system(server, &[(name, value)]);
    Ok(verdict.mended(set("off"), set("on")))
}
