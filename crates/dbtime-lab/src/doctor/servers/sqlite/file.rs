//! The file, its log, what lies around it, and the library that reads it.

use super::super::check::{CheckVerdict, RuleResult, ServerCheck, listed};
use super::super::examined::ExaminedServer;
use crate::targets::megabytes;
use dbtime_engines::databases::sqlite::LARGE_ROWS;
use dbtime_model::doctor::FindingScope;
use dbtime_model::units::count;

pub(super) const CHECKS: &[ServerCheck] = &[
    ServerCheck {
        id: "wal_size",
        scope: FindingScope::Data,
        expected: "at most four times wal_autocheckpoint",
        source: "the size of the -wal file, wal_autocheckpoint, page_size",
        rule: wal_size,
    },
    ServerCheck {
        id: "table_statistics",
        scope: FindingScope::Data,
        expected: "statistics of every table with more than 1,000 rows",
        source: "sqlite_stat1, the first rows of tables",
        rule: table_statistics,
    },
    ServerCheck {
        id: "database_file_system",
        scope: FindingScope::Data,
        expected: "a file system on a disk of this machine",
        source: "statfs(2)",
        rule: file_system,
    },
    ServerCheck {
        id: "other_processes",
        scope: FindingScope::Data,
        expected: "none",
        source: "/proc/locks",
        rule: other_processes,
    },
    ServerCheck {
        id: "library_build",
        scope: FindingScope::Server,
        expected: "no SQLITE_DEBUG",
        source: "PRAGMA compile_options",
        rule: library_build,
    },
];

fn wal_size(server: &ExaminedServer) -> RuleResult {
    let log = server.counted("wal_bytes")?;
    if log > 0 && server.is_log_left {
        let because = "no process has the database open: the next one reads all of the log first";
        let costs = "Not measured here (SQLite manual, \"Write-Ahead Logging\")";
        let value = format!("{} were left behind", megabytes(log));
        let fix = "open the database and close it again, which writes the log back";
        return Ok(CheckVerdict::note(value, because, costs).mended(fix, "none is needed"));
    }
    let pages = server.amount("wal_autocheckpoint")?;
    let limit = pages.saturating_mul(server.amount("page_size")?);
    let value = format!("{}, checkpoints from {} on", megabytes(log), megabytes(limit));
    if log == 0 || (limit > 0 && log <= limit.saturating_mul(4)) {
        return Ok(CheckVerdict::good(value, "the log is written back in time"));
    }
    let because = match limit {
        0 => "nothing writes the log back, and reads search all of it",
        _ => "a reader keeps the log from being written back, and reads search all of it",
    };
    let costs = "Not measured here (SQLite manual, \"Avoiding Excessively Large WAL Files\")";
    let fix = "end readers that stay open; PRAGMA wal_checkpoint(TRUNCATE)";
    Ok(CheckVerdict::note(value, because, costs).mended(fix, "none is needed"))
}

fn table_statistics(server: &ExaminedServer) -> RuleResult {
    let unknown = server.names("large tables without statistics")?;
    if unknown.is_empty() {
        let value = match server.figure("statistics", 0)? {
            0 => "none, and no large table",
            _ => "of every large table",
        };
        return Ok(CheckVerdict::good(value, "the planner guesses of no large table"));
    }
    let value = format!("none of {}, with more than {} rows", listed(&unknown), count(LARGE_ROWS));
    let because = "the planner guesses how selective indexes are";
    let costs = "Not measured here: run before and after (SQLite manual, \"ANALYZE\")";
    let undo = "DELETE FROM sqlite_stat1, for these tables alone";
    Ok(CheckVerdict::note(value, because, costs).mended("PRAGMA optimize, or ANALYZE", undo))
}

/// Where locks and syncs go over a network, or through another program.
const REMOTE: [&str; 3] = ["nfs", "cifs", "fuse"];

fn file_system(server: &ExaminedServer) -> RuleResult {
    let name = server.status("file_system")?;
    let move_it = "put the database on a local disk";
    if REMOTE.contains(&name) {
        let because = "locks and syncs depend on another machine or program, and may not hold";
        let costs = "Not measured here. Databases were damaged so (SQLite manual, \"SQLite Over a \
                     Network\")";
        return Ok(CheckVerdict::bad(name, because, costs).mended(move_it, "move it back"));
    }
    match name {
        "unknown" => Err("statfs(2) of its folder failed".to_owned()),
        "tmpfs" => {
            let because = "it is in memory: syncs cost nothing, and nothing survives a restart";
            let costs = "Not measured here. Commits wait for no disk (tmpfs(5))";
            Ok(CheckVerdict::note(name, because, costs).mended(move_it, "move it back"))
        }
        _ => Ok(CheckVerdict::good(name, "syncs go to a disk of this machine")),
    }
}

fn other_processes(server: &ExaminedServer) -> RuleResult {
    let holders = server.names("holder")?;
    if holders.is_empty() {
        return Ok(CheckVerdict::good("none", "no lock of another process was seen"));
    }
    let because = "another process holds a lock on it: writers wait for each other";
    let costs = "Not measured here: a run names the holders of locks (SQLite manual, \"File \
                 Locking And Concurrency\")";
    let verdict = CheckVerdict::note(holders.join(", "), because, costs);
    Ok(verdict.mended("end it before the run", "start it again"))
}

fn library_build(server: &ExaminedServer) -> RuleResult {
    let options = server.names("compile options")?;
    let costs = "Not measured here (SQLite manual, \"Compile-time Options\")";
    if options.contains(&"DEBUG") {
        let because = "figures of a debug build hold for no other";
        return Ok(CheckVerdict::bad("SQLITE_DEBUG", because, costs));
    }
    let mode = options.iter().find(|option| option.starts_with("THREADSAFE="));
    let value = mode.copied().unwrap_or("THREADSAFE unknown");
    let because = "the build within dbtime has no assertions; other programs may have another one";
    Ok(CheckVerdict::good(value, because))
}
