//! The build, and what a crash would cost.

use super::super::check::{CheckVerdict, RuleResult, ServerCheck};
use super::super::durability::DurabilityClass;
use super::super::examined::ExaminedServer;
use super::set_global;
use dbtime_model::doctor::FindingScope;

pub(super) const CHECKS: &[ServerCheck] = &[
    ServerCheck {
        id: "debug_build",
        scope: FindingScope::Server,
        expected: "a build without assertions and sanitizers",
        source: "VERSION(), version_comment",
        rule: debug_build,
    },
    ServerCheck {
        id: "durability",
        scope: FindingScope::Server,
        expected: "D3, or the class of production",
        source: "innodb_flush_log_at_trx_commit, sync_binlog, innodb_doublewrite, \
                 innodb_flush_method, Innodb_redo_log_enabled",
        rule: durability,
    },
    ServerCheck {
        id: "durability_pair",
        scope: FindingScope::Server,
        expected: "redo log and binary log are synced alike",
        source: "innodb_flush_log_at_trx_commit, log_bin, sync_binlog",
        rule: durability_pair,
    },
];

const COMMIT: &str = "innodb_flush_log_at_trx_commit";

/// Parts of versions and comments that name a build for finding errors.
const DEBUG_WORDS: [&str; 5] = ["debug", "asan", "ubsan", "msan", "valgrind"];

fn debug_build(server: &ExaminedServer) -> RuleResult {
    let comment = server.setting("version_comment")?;
    let text = format!("{} {comment}", server.version);
    let lower = text.to_ascii_lowercase();
    if !DEBUG_WORDS.iter().any(|word| lower.contains(word)) {
        return Ok(CheckVerdict::good(text, "it names no debugging aid"));
    }
    let costs = "Not measured here. MySQL's manual (DEBUG_UTILS and WITH_DEBUG of \"MySQL \
                 Source-Configuration Options\") keeps such builds for development";
    let verdict = CheckVerdict::bad(text, "figures of a debug build hold for no other", costs);
    Ok(verdict.mended("install the release build of the same version", ""))
}

/// How many commits go by between two syncs of the binary log; `None`: there is no such log.
fn binlog_sync(server: &ExaminedServer) -> Result<Option<u64>, String> {
    match server.is_on("log_bin")? {
        true => server.amount("sync_binlog").map(Some),
        false => Ok(None),
    }
}

/// When the redo log is written and synced.
fn commit_mode(server: &ExaminedServer) -> Result<u64, String> {
    let mode = server.amount(COMMIT)?;
    match mode {
        0..=3 => Ok(mode),
        _ => Err(format!("the server gives {mode} for {COMMIT}, whose meaning is not known")),
    }
}

/// Whether MySQL, from 8.0.21 on, was told to keep no redo log.
fn has_no_redo_log(server: &ExaminedServer) -> bool {
    server.status("Innodb_redo_log_enabled").is_ok_and(|state| state.eq_ignore_ascii_case("off"))
}

fn durability(server: &ExaminedServer) -> RuleResult {
    if !has_no_redo_log(server) {
        return durability_of_settings(server);
    }
    let manual = "MySQL manual, \"Disabling Redo Logging\"";
    let verdict = DurabilityClass::Damage.verdict("Innodb_redo_log_enabled=OFF", manual);
    let set = |to: &str| format!("ALTER INSTANCE {to} INNODB REDO_LOG");
    Ok(verdict.mended(set("ENABLE"), set("DISABLE")))
}

fn durability_of_settings(server: &ExaminedServer) -> RuleResult {
    let (commit, binlog) = (commit_mode(server)?, binlog_sync(server)?);
    let doublewrite = server.setting("innodb_doublewrite")?;
    // MariaDB 11 is about to give it up.
    let method = server.setting("innodb_flush_method").unwrap_or("not shown");
    let is = |text: &str, words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    let is_torn = is(doublewrite, &["off", "0", "detect_only"]);
    let is_synced = matches!(commit, 1 | 3);
    let class = match (is_synced, is_torn) {
        _ if is(method, &["nosync", "littlesync"]) => DurabilityClass::Damage,
        (false, true) => DurabilityClass::Damage,
        (false, false) => DurabilityClass::Loss,
        (true, true) => DurabilityClass::Gap,
        (true, false) if binlog.is_some_and(|every| every != 1) => DurabilityClass::Gap,
        (true, false) => DurabilityClass::Full,
    };
    let synced = binlog.map_or("no binary log".to_owned(), |every| format!("sync_binlog={every}"));
    let settings = format!(
        "{COMMIT}={commit}, {synced}, innodb_doublewrite={doublewrite}, \
         innodb_flush_method={method}"
    );
    let verdict = class.verdict(&settings, "MySQL manual, \"InnoDB and the ACID Model\"");
    Ok(match is_synced {
        true => verdict,
        false => verdict.mended(set_global(COMMIT, 1), set_global(COMMIT, commit)),
    })
}

fn durability_pair(server: &ExaminedServer) -> RuleResult {
    let commit = commit_mode(server)?;
    let Some(every) = binlog_sync(server)? else {
        return Ok(CheckVerdict::good("no binary log", "there is no second log to be synced"));
    };
    let value = format!("{COMMIT}={commit}, sync_binlog={every}");
    if matches!(commit, 1 | 3) == (every == 1) {
        return Ok(CheckVerdict::good(value, "both logs are synced alike"));
    }
    let costs = "Not measured here. Each sync waits for the disk; MySQL's manual (\"Binary Logging \
                 Options and Variables\") wants 1 with 1 where replicas are not to differ";
    let because = "the price of one sync is paid, and after a crash the logs may differ";
    let verdict = CheckVerdict::note(value, because, costs);
    Ok(match every {
        1 => verdict.mended(set_global(COMMIT, 1), set_global(COMMIT, commit)),
        _ => verdict.mended(set_global("sync_binlog", 1), set_global("sync_binlog", every)),
    })
}
