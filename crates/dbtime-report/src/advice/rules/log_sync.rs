//! Syncs: what a commit waits for until its log is on the disk.

use crate::advice::case::AdviceCase;
use crate::advice::{AdviceRule, BudgetAdvice};
use crate::format::{rate, us};
use dbtime_model::{Part, SqlDialect};

pub(super) const RULE: AdviceRule = AdviceRule::new("log_sync", &[Part::Sync], advise);

/// Names under which servers count syncs of their log.
const COUNTERS: [&str; 4] =
    ["Innodb_os_log_fsyncs", "Innodb_data_fsyncs", "wal_sync", "WAL fsyncs"];

/// `commit_delay` does nothing with fewer transactions at once than `commit_siblings`, and one.
const MIN_SIBLINGS: u32 = 6;

const LAST_SECOND: &str = "a power loss or a crash of the machine can lose the last second of \
     commits; a crash of the server alone loses none";

/// Which file, and what may make its syncs slow: of the device's other users nothing is known here.
fn cause(case: &AdviceCase<'_>) -> String {
    match (already(case), case.file(Part::Sync)) {
        (Some(_), Some(file)) => {
            format!("transactions wait for syncs of {file}, but not for those of commits")
        }
        (Some(_), None) => "transactions wait for syncs, but not for those of commits".to_owned(),
        (None, Some(file)) => {
            format!("transactions wait for syncs of {file}: the disk is slow, or others use it too")
        }
        (None, None) => {
            "transactions wait for syncs: the disk is slow, or others use it too".to_owned()
        }
    }
}

fn advise(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    advice.because(cause(case));
    case.file_place(Part::Sync).into_iter().for_each(|place| advice.figure(place));
    let syncs = COUNTERS.into_iter().find_map(|name| Some((name, case.counted(name)?)));
    if let Some((name, each)) = syncs {
        advice.figure(format!("the server counted {} {name} per transaction", rate(each)));
    }
    advice.step(
        "use a log device with faster syncs: one whose cache is safe from power loss need not \
         wait for its medium",
    );
    settings(case, advice);
    delay(case, advice);
    if let Some(name) = already(case) {
        advice.figure(format!(
            "{name} is {} already: these are not the syncs of commits",
            case.setting(name).unwrap_or_default()
        ));
        advice.step("`dbtime trace --summary` during the load: which statements sync which files");
        return;
    }
    advice.step_at_price(
        "commit less often: several changes in one transaction share a sync",
        "they are undone together, and their locks are held longer",
    );
}

/// The setting for which no commit waits for a sync any more; `None` where one does.
fn already(case: &AdviceCase<'_>) -> Option<&'static str> {
    let redo = "innodb_flush_log_at_trx_commit";
    let is_unsynced = case.is_set(redo, &["0", "2"]) && !syncs_binlog(case);
    let is_off = case.is_set("synchronous_commit", &["off"]);
    is_unsynced.then_some(redo).or(is_off.then_some("synchronous_commit"))
}

fn syncs_binlog(case: &AdviceCase<'_>) -> bool {
    case.is_set("log_bin", &["on", "1"]) && !case.is_set("sync_binlog", &["0"])
}

/// The settings that trade syncs of commits for what a crash can lose.
pub(super) fn settings(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    match case.dialect() {
        Some(SqlDialect::Mysql) => mysql(case, advice),
        Some(SqlDialect::Postgres) => postgres(case, advice),
        Some(SqlDialect::Sqlite) => sqlite(case, advice),
        None => {}
    }
}

fn mysql(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    let syncs_redo = !case.is_set("innodb_flush_log_at_trx_commit", &["0", "2"]);
    let binlog_price = "a power loss can lose events of the binary log, which replicas then lack";
    match (syncs_redo, syncs_binlog(case)) {
        (true, false) => {
            advice.step_at_price("innodb_flush_log_at_trx_commit=2", LAST_SECOND);
        }
        (true, true) => advice.step_at_price(
            "innodb_flush_log_at_trx_commit=2 and sync_binlog=0 together: each log has a sync of \
             its own",
            &format!("{LAST_SECOND}; and {binlog_price}"),
        ),
        (false, true) => advice.step_at_price("sync_binlog=0", binlog_price),
        (false, false) => {}
    }
}

fn postgres(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    if case.is_set("synchronous_commit", &["off"]) {
        return;
    }
    advice.step_at_price(
        "synchronous_commit=off, for all or in single transactions",
        "a crash of the server or the machine can lose the last commits, up to three times \
         wal_writer_delay (0.6 s as delivered); the database stays consistent",
    );
    if case.is_set("wal_sync_method", &["fdatasync", "fsync"]) {
        advice.step(
            "pg_test_fsync on the disk of the WAL: where open_datasync is faster there, \
             wal_sync_method=open_datasync",
        );
    }
}

/// Waiting for companions: of no use to commits that hold locks which others wait for.
fn delay(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    let is_undelayed = case.is_set("commit_delay", &["0"]) && already(case).is_none();
    let is_locked = case.sum(&[Part::Lock]) >= 0.1 * case.means.total;
    if is_undelayed && !is_locked && case.concurrency() >= MIN_SIBLINGS {
        advice.step_at_price(
            "commit_delay, half as long as a sync: more commits share each, for throughput",
            "every commit waits that much longer",
        );
    }
}

fn sqlite(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    let syncs = case.record.files.iter().filter(|file| file.call == "sync");
    if let Some(file) = syncs.max_by_key(|file| file.count).filter(|file| file.count > 0) {
        let each = file
            .wall_s
            .map_or(String::new(), |s| format!(", {} each", us(s * 1e6 / file.count as f64)));
        let per = rate(file.count as f64 / case.record.counts.completed.max(1) as f64);
        let name = crate::format::clean(&file.file);
        let times = if per == "1" { "once".to_owned() } else { format!("{per} times") };
        advice.figure(format!("the {name} file is synced {times} per transaction{each}"));
    }
    let is_wal = case.is_set("journal_mode", &["wal"]);
    if !is_wal && case.setting("journal_mode").is_some() {
        advice.step_at_price(
            "PRAGMA journal_mode=WAL: a commit syncs one file instead of two or three times",
            "all processes have to be on one machine, and there are two more files",
        );
    }
    if is_wal && !case.is_set("synchronous", &["off", "normal", "0", "1"]) {
        advice.step_at_price(
            "PRAGMA synchronous=NORMAL: with a WAL only checkpoints sync",
            "a power loss can lose the last commits; the database stays whole",
        );
    }
    if is_wal && case.is_set("synchronous", &["normal", "1"]) {
        let pages = case.setting("wal_autocheckpoint").unwrap_or_else(|| "1000".to_owned());
        advice.step_at_price(
            format!(
                "PRAGMA wal_autocheckpoint above {} pages: with synchronous=normal only \
                 checkpoints sync, and there are fewer of them",
                crate::format::clean(&pages)
            ),
            "the WAL gets larger, reads look through more of it, single checkpoints last longer",
        );
    }
}
