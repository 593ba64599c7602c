//! The buffer pool, the redo log, and the query cache.

use super::super::check::{CheckVerdict, RuleResult, ServerCheck};
use super::super::examined::ExaminedServer;
use super::super::memory::CacheFit;
use super::{lacked, set_global};
use crate::targets::megabytes;
use dbtime_model::doctor::FindingScope;

pub(super) const CHECKS: &[ServerCheck] = &[
    ServerCheck {
        id: "buffer_pool",
        scope: FindingScope::Data,
        expected: "at most 80 % of the memory, and known whether the data fit",
        source: "innodb_buffer_pool_size, information_schema.tables",
        rule: buffer_pool,
    },
    ServerCheck {
        id: "pool_load",
        scope: FindingScope::Server,
        expected: "the pool's pages have been loaded",
        source: "Innodb_buffer_pool_load_status",
        rule: pool_load,
    },
    ServerCheck {
        id: "redo_capacity",
        scope: FindingScope::Server,
        expected: "room for a minute of writes",
        source: "innodb_redo_log_capacity or innodb_log_file_size, Innodb_os_log_written, Uptime",
        rule: redo_capacity,
    },
    ServerCheck {
        id: "query_cache",
        scope: FindingScope::Server,
        expected: "off",
        source: "query_cache_type, query_cache_size",
        rule: query_cache,
    },
];

fn buffer_pool(server: &ExaminedServer) -> RuleResult {
    let name = "innodb_buffer_pool_size";
    let fit = CacheFit {
        cache: server.amount(name)?,
        data: server.figure("data size", 0)?,
        hidden_from: lacked(server, "SELECT").map(|_| "SELECT on *.*"),
        memory: server.memory_bytes,
        most_pct: 80,
        enough_pct: 60,
        manual: "MySQL manual, \"InnoDB Buffer Pool\"",
    };
    // Before MySQL 5.7 and MariaDB 10.2 the size is that of the start.
    let is_dynamic = server.setting("innodb_buffer_pool_chunk_size").is_ok();
    let most = server.amount("innodb_buffer_pool_size_max").ok().filter(|most| *most > 0);
    fit.verdict(|bytes| match is_dynamic && most.is_none_or(|most| bytes <= most) {
        true => set_global(name, bytes),
        false => format!("start the server with {name}={bytes}"),
    })
}

fn pool_load(server: &ExaminedServer) -> RuleResult {
    let status = server.status("Innodb_buffer_pool_load_status")?;
    let lower = status.to_ascii_lowercase();
    let is_over = ["completed", "not started", "aborted", "cannot open"];
    if status.is_empty() || is_over.iter().any(|words| lower.contains(words)) {
        return Ok(CheckVerdict::good(status, "no pages are being loaded"));
    }
    let because = "pages are being loaded: reads compete with them, and the pool still warms up";
    let costs = "Not measured here. It lasts as long as reading the pool's pages from the disk \
                 (MySQL manual, \"Saving and Restoring the Buffer Pool State\")";
    let fix = "wait, or SET GLOBAL innodb_buffer_pool_load_abort = ON";
    let undo = "SET GLOBAL innodb_buffer_pool_load_now = ON";
    Ok(CheckVerdict::note(status, because, costs).mended(fix, undo))
}

/// A server that has run for less has no rate of its own yet. Unit: seconds.
const LEAST_UPTIME: u64 = 60;

/// Beyond this a redo log only makes recovery longer. Unit: bytes.
const MOST_REDO: u64 = 16 << 30;

/// The size of the redo log, and whether it can be set while the server runs.
fn redo_log(server: &ExaminedServer) -> Result<(u64, bool), String> {
    if let Ok(bytes) = server.amount("innodb_redo_log_capacity") {
        return Ok((bytes, true));
    }
    let file = server.amount("innodb_log_file_size")?;
    // MariaDB from 10.6 has one.
    let files = server.amount("innodb_log_files_in_group").unwrap_or(1);
    Ok((file.saturating_mul(files), false))
}

fn redo_capacity(server: &ExaminedServer) -> RuleResult {
    let (capacity, is_dynamic) = redo_log(server)?;
    let (written, uptime) = (server.counted("Innodb_os_log_written")?, server.counted("Uptime")?);
    if uptime < LEAST_UPTIME {
        return Err(format!("the server runs for {uptime} s: too short to have a rate of writes"));
    }
    let minute = (written / uptime).saturating_mul(60);
    let value = format!("{}, {} written in a mean minute", megabytes(capacity), megabytes(minute));
    if minute <= capacity {
        return Ok(CheckVerdict::good(value, "it does not fill up within a minute"));
    }
    let because = "it fills up within a minute, and then commits wait for pages to be written";
    let costs = "Not measured here. Throughput falls while pages are flushed to make room (MySQL \
                 manual, \"Redo Log\")";
    let verdict = CheckVerdict::note(value, because, costs);
    let size = minute.min(MOST_REDO);
    if size <= capacity {
        return Ok(verdict);
    }
    let name = "innodb_redo_log_capacity";
    Ok(match is_dynamic {
        true => verdict.mended(set_global(name, size), set_global(name, capacity)),
        false => verdict.mended(
            format!("start the server with innodb_log_file_size={size}"),
            format!("start it with innodb_log_file_size={capacity}"),
        ),
    })
}

fn query_cache(server: &ExaminedServer) -> RuleResult {
    // Without any settings at all the reason is theirs.
    server.setting("version_comment")?;
    let Ok(kind) = server.setting("query_cache_type") else {
        return Ok(CheckVerdict::good("none", "this version has no query cache"));
    };
    let size = server.amount("query_cache_size")?;
    let value = format!("query_cache_type={kind}, query_cache_size={size}");
    if size == 0 || kind.eq_ignore_ascii_case("off") || kind == "0" {
        return Ok(CheckVerdict::good(value, "no answer comes from the cache"));
    }
    let because = "answers may come from the cache, and every change of a table takes its lock";
    let costs = "Not measured here. It does not scale on many cores, and MySQL 8.0 has none \
                 (MariaDB manual, \"Query Cache\")";
    let undo = set_global("query_cache_size", size);
    Ok(CheckVerdict::note(value, because, costs).mended("SET GLOBAL query_cache_size = 0", undo))
}
