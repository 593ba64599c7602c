//! Whether checkpoints fall into a run, and why they begin.

use super::super::check::{CheckVerdict, RuleResult, ServerCheck};
use super::super::examined::ExaminedServer;
use super::alter_system;
use crate::targets::megabytes;
use dbtime_model::doctor::FindingScope;

pub(super) const CHECKS: &[ServerCheck] = &[
    ServerCheck {
        id: "run_checkpoint",
        scope: FindingScope::Server,
        expected: "a run that is longer than checkpoint_timeout",
        source: "checkpoint_timeout, max_wal_size",
        rule: run_checkpoint,
    },
    ServerCheck {
        id: "forced_checkpoints",
        scope: FindingScope::Server,
        expected: "checkpoints begin by time, not for want of room",
        source: "pg_stat_checkpointer, before PostgreSQL 17 pg_stat_bgwriter",
        rule: forced_checkpoints,
    },
    ServerCheck {
        id: "wal_size",
        scope: FindingScope::Data,
        expected: "at most twice what max_wal_size and wal_keep_size allow",
        source: "pg_ls_waldir(), max_wal_size, wal_keep_size or wal_keep_segments",
        rule: wal_size,
    },
];

/// Bytes of all files of the WAL; who may see them is a member of pg_monitor.
pub(super) const WAL: &str = "SELECT coalesce(sum(size), 0)::bigint FROM pg_catalog.pg_ls_waldir()";

/// Begun by time, and for other reasons.
pub(super) const COUNTS: &str =
    "SELECT num_timed, num_requested FROM pg_catalog.pg_stat_checkpointer";

pub(super) const OLD_COUNTS: &str =
    "SELECT checkpoints_timed, checkpoints_req FROM pg_catalog.pg_stat_bgwriter";

fn run_checkpoint(server: &ExaminedServer) -> RuleResult {
    let timeout_ms = server.amount("checkpoint_timeout")?;
    let room = server.amount("max_wal_size")?;
    let run_s = server.planned.run_s.ok_or("no length of a run is planned: --time")?;
    let timeout_s = timeout_ms as f64 / 1e3;
    let value = format!(
        "a run of {run_s:.0} s, checkpoints every {timeout_s:.0} s or {} of WAL",
        megabytes(room)
    );
    if run_s >= timeout_s {
        return Ok(CheckVerdict::good(value, "checkpoints are a part of the run"));
    }
    let because = "unless the run writes that much WAL, it has no checkpoint, or one by chance";
    let costs = "Not measured here. Short runs flatter: after a checkpoint the first change of a \
                 page writes all of it (PostgreSQL manual, \"WAL Configuration\")";
    let verdict = CheckVerdict::note(value, because, costs);
    Ok(verdict.mended(format!("run for {timeout_s:.0} s or longer: --time"), ""))
}

/// What `max_wal_size` is raised to at most. Unit: bytes.
const MOST_WAL: u64 = 16 << 30;

fn forced_checkpoints(server: &ExaminedServer) -> RuleResult {
    let name = "max_wal_size";
    let room = server.amount(name)?;
    let query = ["checkpoints", "checkpoints before 17"];
    let query = query.into_iter().find(|query| server.answers.contains_key(query));
    // The older one is there in all of them, so that its refusal is the reason.
    let query = query.unwrap_or("checkpoints before 17");
    let (timed, forced) = (server.figure(query, 0)?, server.figure(query, 1)?);
    let value = format!("{forced} requested, {timed} by time");
    if forced < 10 || forced <= timed.saturating_mul(2) {
        return Ok(CheckVerdict::good(value, "checkpoints are seldom requested"));
    }
    let because = "WAL fills max_wal_size before checkpoint_timeout, or CHECKPOINT is executed";
    let costs = "Not measured here. Each checkpoint makes the next change of each page write the \
                 whole page (PostgreSQL manual, \"WAL Configuration\")";
    let verdict = CheckVerdict::bad(value, because, costs);
    let wide = room.saturating_mul(2).min(MOST_WAL);
    let set = |bytes: u64| alter_system(server, &[(name, format!("{}MB", bytes >> 20).as_str())]);
    Ok(match wide > room {
        true => verdict.mended(set(wide), set(room)),
        false => verdict,
    })
}

/// Of a usual server, in which `wal_keep_segments` counts. Unit: bytes.
const SEGMENT: u64 = 16 << 20;

fn wal_size(server: &ExaminedServer) -> RuleResult {
    let (wal, room) = (server.figure("size of the WAL", 0)?, server.amount("max_wal_size")?);
    let segments = server.amount("wal_keep_segments").unwrap_or(0);
    let kept = server.amount("wal_keep_size").unwrap_or(segments.saturating_mul(SEGMENT));
    let allowed = room.saturating_add(kept);
    let value = format!("{}, of {} that settings allow", megabytes(wal), megabytes(allowed));
    if wal <= allowed.saturating_mul(2) {
        return Ok(CheckVerdict::good(value, "no WAL is kept for longer than it is needed"));
    }
    let because = "something keeps WAL: a slot, an archive_command that fails, or a checkpoint \
                   that does not end; the disk may fill up, and then the server stops";
    let costs = "Not measured here. `inactive_slots` has slots, pg_stat_archiver has failures \
                 (PostgreSQL manual, \"WAL Configuration\")";
    Ok(CheckVerdict::note(value, because, costs))
}
