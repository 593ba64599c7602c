//! What else goes on in the server, and what sessions begin with.

use super::super::check::{CheckVerdict, RuleResult, ServerCheck};
use super::super::examined::ExaminedServer;
use super::{lacked, set_global};
use dbtime_model::doctor::FindingScope;
use dbtime_model::units::counted;

pub(super) const CHECKS: &[ServerCheck] = &[
    ServerCheck {
        id: "history_length",
        scope: FindingScope::Data,
        expected: "at most 100,000 transactions to purge",
        source: "Innodb_history_list_length or information_schema.innodb_metrics",
        rule: history_length,
    },
    ServerCheck {
        id: "idle_transactions",
        scope: FindingScope::Server,
        expected: "none is idle for a minute",
        source: "information_schema.innodb_trx, information_schema.processlist",
        rule: idle_transactions,
    },
    ServerCheck {
        id: "session_defaults",
        scope: FindingScope::Server,
        expected: "autocommit on, REPEATABLE-READ",
        source: "autocommit, transaction_isolation or tx_isolation",
        rule: session_defaults,
    },
    ServerCheck {
        id: "event_scheduler",
        scope: FindingScope::Server,
        expected: "off, or without enabled events",
        source: "event_scheduler, information_schema.events",
        rule: event_scheduler,
    },
    ServerCheck {
        id: "replicas",
        scope: FindingScope::Server,
        expected: "none, or those of production",
        source: "information_schema.processlist, wsrep_on",
        rule: replicas,
    },
];

pub(super) const HISTORY: &str = "SELECT `count` FROM information_schema.innodb_metrics WHERE \
    name = 'trx_rseg_history_len'";

pub(super) const IDLE: &str = "SELECT COUNT(*) FROM information_schema.innodb_trx t JOIN \
    information_schema.processlist p ON p.id = t.trx_mysql_thread_id WHERE p.command = 'Sleep' AND \
    p.time >= 60";

pub(super) const EVENTS: &str =
    "SELECT COUNT(*) FROM information_schema.events WHERE status = 'ENABLED'";

pub(super) const REPLICAS: &str =
    "SELECT COUNT(*) FROM information_schema.processlist WHERE command LIKE 'Binlog Dump%'";

fn history_length(server: &ExaminedServer) -> RuleResult {
    let length = server.counted("Innodb_history_list_length");
    let length = length.or_else(|_| server.figure("history length", 0))?;
    let value = counted(length, "transaction");
    let because = "old versions of rows are kept: reads pass them, and purging takes CPU and disk";
    let costs = "Not measured here (MySQL manual, \"Purge Configuration\")";
    Ok(match length {
        0..=100_000 => CheckVerdict::good(value, "old versions of rows are purged in time"),
        100_001..=1_000_000 => CheckVerdict::note(value, because, costs),
        _ => CheckVerdict::bad(value, because, costs).mended(
            "end the oldest transaction of information_schema.innodb_trx, and wait",
            "none is possible",
        ),
    })
}

fn idle_transactions(server: &ExaminedServer) -> RuleResult {
    let idle = server.figure("idle transactions", 0)?;
    if idle == 0 {
        return Ok(CheckVerdict::good("none", "no transaction holds its locks for nothing"));
    }
    let value = format!("{} idle for a minute and longer", counted(idle, "transaction"));
    let because = "they hold locks, and keep old versions of rows from being purged";
    let costs = "Not measured here. Statements that need their locks wait, and reads pass old \
                 versions (MySQL manual, \"Purge Configuration\")";
    let fix = "end them by KILL, where their owners agree";
    Ok(CheckVerdict::bad(value, because, costs).mended(fix, "none is possible"))
}

/// How far transactions are kept apart, and the usual way.
const LEVELS: [&str; 4] = ["READ-UNCOMMITTED", "READ-COMMITTED", USUAL_LEVEL, "SERIALIZABLE"];
const USUAL_LEVEL: &str = "REPEATABLE-READ";

fn session_defaults(server: &ExaminedServer) -> RuleResult {
    let is_auto = server.is_on("autocommit")?;
    let level = server.setting("transaction_isolation");
    let level = level.or_else(|_| server.setting("tx_isolation"))?;
    let level = LEVELS.into_iter().find(|known| level.eq_ignore_ascii_case(known));
    let level = level.ok_or("the level of isolation has a value whose meaning is not known")?;
    let value = format!("autocommit {}, {level}", if is_auto { "on" } else { "off" });
    if is_auto && level == USUAL_LEVEL {
        return Ok(CheckVerdict::good(value, "sessions begin as the manual has it"));
    }
    let because = "sessions begin otherwise than on most servers: locks and snapshots differ";
    let costs = "Not measured here (MySQL manual, \"Transaction Isolation Levels\")";
    let set = |state: &str, to: &str| {
        let auto = (!is_auto).then(|| set_global("autocommit", state));
        let to = to.replace('-', " ");
        let isolation = format!("SET GLOBAL TRANSACTION ISOLATION LEVEL {to}");
        let isolation = (level != USUAL_LEVEL).then_some(isolation);
        [auto, isolation].into_iter().flatten().collect::<Vec<_>>().join("; ")
    };
    let verdict = CheckVerdict::note(value, because, costs);
    Ok(verdict.mended(set("ON", USUAL_LEVEL), set("OFF", level)))
}

fn event_scheduler(server: &ExaminedServer) -> RuleResult {
    let state = server.setting("event_scheduler")?;
    if !state.eq_ignore_ascii_case("on") {
        return Ok(CheckVerdict::good(state, "no job of the server runs beside the load"));
    }
    let events = server.figure("enabled events", 0)?;
    let value = format!("on, {} enabled", counted(events, "event"));
    if let Some(right) = lacked(server, "EVENT").filter(|_| events == 0) {
        return Err(format!("it is on, and this user sees no event: {right} on *.* shows them"));
    }
    if events == 0 {
        return Ok(CheckVerdict::good(value, "there is nothing that it could run"));
    }
    let because = "jobs of the server may run beside the load";
    let costs = "Not measured here: it is the price of these jobs (MySQL manual, \"Using the Event \
                 Scheduler\")";
    let (off, on) = (set_global("event_scheduler", "OFF"), set_global("event_scheduler", "ON"));
    Ok(CheckVerdict::note(value, because, costs).mended(off, on))
}

fn replicas(server: &ExaminedServer) -> RuleResult {
    let attached = server.figure("replicas", 0)?;
    let is_cluster = server.setting("wsrep_on").is_ok() && server.is_on("wsrep_on")?;
    let cluster = if is_cluster { ", in a Galera cluster" } else { "" };
    let value = format!("{}{cluster}", counted(attached, "replica"));
    if let Some(right) = lacked(server, "PROCESS").filter(|_| attached == 0 && !is_cluster) {
        return Err(format!(
            "sessions of other users are hidden from this one: {right} shows them"
        ));
    }
    if attached == 0 && !is_cluster {
        return Ok(CheckVerdict::good(
            value,
            "commits wait for no other server, as far as is seen",
        ));
    }
    let because = match is_cluster {
        true => "each commit is certified by the other nodes, and flow control may stop writers",
        false => "the binary log is read and sent beside the load",
    };
    let costs = "Not measured here (MySQL manual, \"Replication\"; MariaDB manual, \"Galera \
                 Cluster\")";
    Ok(CheckVerdict::note(value, because, costs))
}
