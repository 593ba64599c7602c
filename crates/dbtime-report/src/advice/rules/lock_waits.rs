//! Waits for locks and latches: who had them, and what for.

use super::{latches, outside_holder, retries};
use crate::advice::case::AdviceCase;
use crate::advice::{AdviceRule, BudgetAdvice};
use crate::format::{clean, counted, percent, us};
use crate::means::PartMeans;
use dbtime_model::record::{
    BudgetLockChain, BudgetLockHolder, ChainCause, OutsideHolder, TraceInfo,
};
use dbtime_model::{Part, Product};

pub(super) const RULE: AdviceRule = AdviceRule::new("lock_waits", &[Part::Lock], advise);

/// Locks on rows, as servers call them.
const ROW_LOCKS: [&str; 3] = ["row lock", "transactionid", "tuple"];

/// Waits for the log of a commit that another writes and syncs.
const COMMITS: [&str; 3] = ["group commit", "binlog", "WALWrite"];

/// A holder that less of the waiting is for is not named. Unit: percent.
const MIN_HOLDER_PCT: f64 = 20.0;

/// A holder that syncs for this share of its time is shortened by the settings of syncs too. Unit:
/// percent.
const MIN_SYNC_PCT: f64 = 20.0;

/// Transactions that keep a CPU busy although some of them wait for rows: with more, holders wait
/// too. A beginning for a sweep, no law.
const ROW_WRITERS_PER_CPU: u32 = 8;

/// Of a response with more of them than this, locks are most on SQLite. Unit: percent.
const MOSTLY_LOCK_PCT: f64 = 50.0;

/// What to do about a lock that the application takes.
const OWN_LOCK_STEP: &str = "look at the application: it takes this lock explicitly";

/// So many holders are named.
const MAX_HOLDERS: usize = 2;

/// The waiting for one holder with one lock, over all who waited.
#[derive(Default)]
struct HolderSum<'a> {
    holder: &'a str,
    lock: Option<&'a str>,
    /// Its connection, where that is somebody else's.
    outside: Option<&'a OutsideHolder>,
    /// Whether the holder is a statement.
    has_statement: bool,
    /// Who waited, and how long, in seconds.
    waiters: Vec<(&'a str, f64)>,
    count: u64,
    wait_s: f64,
}

fn advise(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    let all: f64 = case.record.lock_holders.iter().map(|row| row.wait_s).sum();
    let mut sums = holder_sums(&case.record.lock_holders);
    sums.retain(|sum| 100.0 * sum.wait_s >= MIN_HOLDER_PCT * all);
    advice.because(cause(case, &sums, all));
    if case.deadlocks().is_some() {
        advice.step(retries::SAME_ORDER);
    }
    let is_sqlite = case.product == Some(Product::Sqlite);
    if is_sqlite && advice.mean.share_pct > MOSTLY_LOCK_PCT && has_many_workers(case) {
        fewer_workers(case, advice);
    }
    sums.truncate(MAX_HOLDERS);
    for sum in &sums {
        who(case, sum, 100.0 * sum.wait_s / all, advice);
    }
    idle_holder(case, advice);
    if is_sqlite {
        return sqlite(case, advice);
    }
    // What somebody else has is not let go sooner for what the run does.
    sums.retain(|sum| sum.outside.is_none());
    sums.iter().for_each(|sum| of_lock(case, sum, advice));
    let is_unknown = |sum: &HolderSum<'_>| sum.lock.is_none() && !is_mutex(case, sum);
    if advice.steps.is_empty() || (!sums.is_empty() && sums.iter().all(is_unknown)) {
        latches::latches(case, advice);
    }
}

/// Who has the lock, or what kind of lock it is, as far as that is known.
fn cause(case: &AdviceCase<'_>, sums: &[HolderSum<'_>], all: f64) -> String {
    if let Some((code, times)) = case.deadlocks() {
        return retries::deadlock_cause(code, times);
    }
    let outside = || sums.iter().filter(|sum| sum.outside.is_some());
    let outside_s: f64 = outside().map(|sum| sum.wait_s).sum();
    if let Some((sum, holder)) = outside().find_map(|sum| Some((sum, sum.outside?)))
        && outside_s >= 0.5 * all
    {
        return outside_holder::cause(holder, sum.holder);
    }
    let Some(first) = sums.first() else {
        return match case.product {
            Some(Product::Sqlite) => "SQLite has one writer at a time: the others wait for it",
            _ => "locks whose holders are not known",
        }
        .to_owned();
    };
    if first.holder == BudgetLockHolder::NOBODY {
        return "a lock whose holder is not known: a timer or a signal ended the wait".to_owned();
    }
    let name = clean(first.holder);
    match first.lock {
        Some(lock) if ROW_LOCKS.contains(&lock) => {
            format!("many change the same rows: transactions wait for {name}, which has the locks")
        }
        Some(lock) if COMMITS.contains(&lock) => {
            format!("commits wait for each other's log ({})", clean(lock))
        }
        Some("metadata lock") if takes_own_locks(case, first) => own_lock(&name),
        Some(lock @ ("relation" | "metadata lock" | "table lock" | "global lock")) => {
            format!("a whole table is locked ({lock}), by {name}")
        }
        Some("advisory" | "user lock") => own_lock(&name),
        Some(lock) => format!("a lock within the server ({}), released by {name}", clean(lock)),
        None if is_mutex(case, first) => {
            format!("a mutex inside the server, released by threads that execute {name}")
        }
        None if case.product == Some(Product::Sqlite) => {
            format!("SQLite has one writer at a time: the others wait for {name}")
        }
        None => format!("a lock that {name} had"),
    }
}

fn own_lock(holder: &str) -> String {
    format!("the application's own lock, which it has while it executes {holder}")
}

/// Whether one of the statements that wait takes a lock of the application, which MariaDB and MySQL
/// have among their metadata locks.
fn takes_own_locks(case: &AdviceCase<'_>, sum: &HolderSum<'_>) -> bool {
    let waits = |name: &str| sum.waiters.iter().any(|(waiter, _)| clean(waiter) == name);
    let is_between = |sign: char| !sign.is_alphanumeric() && sign != '_';
    let takes_one =
        |sql: &str| sql.split(is_between).any(|word| word.eq_ignore_ascii_case("get_lock"));
    let mut statements = case.record.statements.iter();
    statements.any(|one| takes_one(&one.fingerprint) && waits(&case.statement_name(one)))
}

/// The sums, the longest waited for first.
fn holder_sums(rows: &[BudgetLockHolder]) -> Vec<HolderSum<'_>> {
    let mut sums: Vec<HolderSum<'_>> = Vec::new();
    for row in rows.iter().filter(|row| row.wait_s > 0.0) {
        let outside = row.outside.as_ref();
        let is_same = |sum: &HolderSum<'_>| {
            let is_same_end = sum.outside.map(|of| of.server_id) == outside.map(|of| of.server_id);
            is_same_end && sum.holder == row.holder && sum.lock == row.lock.as_deref()
        };
        let at = sums.iter().position(is_same).unwrap_or_else(|| {
            let (holder, lock) = (row.holder.as_str(), row.lock.as_deref());
            let has_statement = row.has_statement();
            sums.push(HolderSum { holder, lock, outside, has_statement, ..HolderSum::default() });
            sums.len() - 1
        });
        let sum = &mut sums[at];
        sum.count = sum.count.saturating_add(row.count);
        sum.wait_s += row.wait_s;
        sum.waiters.push((&row.waiter, row.wait_s));
    }
    sums.sort_by(|a, b| b.wait_s.total_cmp(&a.wait_s));
    sums
}

impl HolderSum<'_> {
    /// Who waited for it for a good share: `tpcb: update teller and tpcb: update branch`.
    fn waiters(&self) -> String {
        let is_large = |(_, wait_s): &&(&str, f64)| *wait_s >= 0.25 * self.wait_s;
        let names: Vec<_> =
            self.waiters.iter().filter(is_large).map(|(name, _)| clean(name)).collect();
        if names.is_empty() { "several statements".to_owned() } else { names.join(" and ") }
    }
}

/// Who is waited for, and what that one does meanwhile.
fn who(case: &AdviceCase<'_>, sum: &HolderSum<'_>, share_pct: f64, advice: &mut BudgetAdvice) {
    let lock = sum.lock.map_or(String::new(), |lock| format!(" ({})", clean(lock)));
    let name = clean(sum.holder);
    advice.figure(format!(
        "{} of the waits with a name were for {name}{lock}: {}, {} each, by {}",
        percent(share_pct),
        counted(sum.count, "time"),
        us(sum.wait_s * 1e6 / sum.count.max(1) as f64),
        sum.waiters(),
    ));
    if let Some(outside) = sum.outside {
        return outside_holder::steps(case, outside, advice);
    }
    let statements = &case.record.statements;
    let statement = statements.iter().find(|s| case.statement_name(s) == name);
    let means = statement.and_then(|s| s.budget_us.as_ref()).map(PartMeans::from);
    let Some(means) = means else { return };
    // It may wait for locks too, but not for this one.
    let parts = means.largest().into_iter().filter(|(part, _)| *part != Part::Lock).take(2);
    let parts: Vec<_> = parts.map(|(part, time)| format!("{} {}", part.name(), us(time))).collect();
    if !parts.is_empty() {
        advice.step(format!("shorten {name}: {} of its {}", parts.join(" and "), us(means.total)));
    }
    if means.share(Part::Sync).is_some_and(|share| share >= MIN_SYNC_PCT) {
        super::log_sync::settings(case, advice);
    }
}

/// A holder that does nothing meanwhile: its client is slow to commit.
fn idle_holder(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    let chains = || case.record.lock_chains.iter().flatten();
    let idle = chains().filter(|chain| chain.cause == ChainCause::Part(Part::Client));
    let all: f64 = chains().map(|chain| chain.wait_s).sum();
    let share_pct = 100.0 * idle.clone().map(|chain| chain.wait_s).sum::<f64>() / all;
    let most = idle.max_by(|a, b| a.wait_s.total_cmp(&b.wait_s));
    let last = most.and_then(|chain| chain.statements.last());
    // Without any wait the share is no number.
    let Some(last) = last.filter(|_| share_pct >= MIN_HOLDER_PCT) else { return };
    let is_outside = last.ends_with(BudgetLockChain::OUTSIDE);
    advice.figure(format!(
        "in {} of it the holder did nothing: its client keeps the transaction open after {}",
        percent(share_pct),
        clean(last)
    ));
    if !is_outside {
        advice
            .step("commit sooner: nothing that needs no lock between the first change and COMMIT");
    }
}

/// What to do about a kind of lock.
fn of_lock(case: &AdviceCase<'_>, sum: &HolderSum<'_>, advice: &mut BudgetAdvice) {
    if sum.holder == BudgetLockHolder::NOBODY {
        advice.step(
            "`dbtime top --login` during the load: it names the holder of a lock never released",
        );
    }
    match sum.lock {
        Some(lock) if ROW_LOCKS.contains(&lock) => rows(case, sum, advice),
        Some(lock) if COMMITS.contains(&lock) => {
            advice.figure(format!(
                "{lock}: another commit writes, and mostly syncs, the log for all that wait"
            ));
            super::log_sync::settings(case, advice);
        }
        Some("metadata lock") if takes_own_locks(case, sum) => advice.step(OWN_LOCK_STEP),
        Some(lock @ ("relation" | "metadata lock" | "table lock" | "global lock")) => {
            advice.step(
                "keep DDL, LOCK TABLES, VACUUM FULL and backups that lock tables away from the load",
            );
            if lock == "metadata lock" {
                advice.step(
                    "look at the application: locks of GET_LOCK are among these on MariaDB and \
                     MySQL",
                );
            }
        }
        Some("extend") => advice.step(
            "spread new rows over tables or partitions: one process at a time makes a table longer",
        ),
        Some("advisory" | "user lock") => advice.step(OWN_LOCK_STEP),
        Some(_) => latches::latches(case, advice),
        None if is_mutex(case, sum) => latches::mutex(case, sum.holder, advice),
        None => {}
    }
}

/// Whether a statement let go of something without a name although the server's locks have theirs.
/// Commits that wait for each other are left out: not every server names that.
fn is_mutex(case: &AdviceCase<'_>, sum: &HolderSum<'_>) -> bool {
    let is_traced = case.record.trace.as_ref().is_some_and(TraceInfo::has_lock_names);
    let is_commit = |name: &str| name.to_ascii_lowercase().ends_with("commit");
    let are_commits = is_commit(sum.holder) && sum.waiters.iter().any(|(name, _)| is_commit(name));
    case.is_server() && is_traced && sum.lock.is_none() && sum.has_statement && !are_commits
}

fn rows(case: &AdviceCase<'_>, sum: &HolderSum<'_>, advice: &mut BudgetAdvice) {
    advice.step(format!(
        "execute {} as late in the transaction as can be: a changed row is locked until the \
         commit",
        sum.waiters()
    ));
    let (many, cpus) = (case.concurrency(), case.cpus());
    let enough = cpus.saturating_mul(ROW_WRITERS_PER_CPU);
    if enough > 0 && many > enough {
        advice.step_at_price(
            format!(
                "let fewer transactions than {many} run at once (--workers {enough}): one that \
                 holds a row waits for its CPU and its own locks behind all others in the database"
            ),
            "they wait for a worker instead (queue), where they hold nothing",
        );
    }
    advice.step_at_price(
        "split a row that all transactions change into several, of which each changes one",
        "readers add them up",
    );
    let is_repeatable = ["transaction_isolation", "tx_isolation"]
        .iter()
        .any(|name| case.is_set(name, &["repeatable-read", "serializable"]));
    if case.is_mysql() && is_repeatable {
        advice.step_at_price(
            "transaction_isolation=READ-COMMITTED, where the locks are on gaps between rows",
            "a transaction that reads twice may see the commits of others in between",
        );
    }
}

/// Whether more workers than CPUs execute statements at once.
fn has_many_workers(case: &AdviceCase<'_>) -> bool {
    let cpus = case.cpus();
    cpus > 0 && case.concurrency() > cpus
}

/// What wins most where one writes at a time and several want to.
fn fewer_workers(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    let many = case.concurrency();
    if many > 1 {
        advice.step_at_price(
            format!(
                "fewer workers than {many} (--workers): one writes at a time, and a waiter that \
                 sleeps does not see at once that the lock is free"
            ),
            "transactions wait for a worker instead (queue), and readers have fewer too",
        );
    }
}

fn sqlite(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    fewer_workers(case, advice);
    if case.setting("journal_mode").is_some() && !case.is_set("journal_mode", &["wal"]) {
        advice.step_at_price(
            "PRAGMA journal_mode=WAL: readers and the writer do not wait for each other",
            "all processes have to be on one machine, and there are two more files",
        );
    }
    if case.is_set("immediate", &["off"]) {
        advice.step(
            "BEGIN IMMEDIATE (immediate=on) for transactions that write: they wait once, at first",
        );
    }
    advice.step_at_price(
        "in a program, a busy handler with shorter naps than those of sqlite3_busy_timeout, which \
         reach 100 ms",
        "more CPU while it waits",
    );
}
