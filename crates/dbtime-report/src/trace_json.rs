//! The sums of a trace as one JSON document. Times are microseconds; statements are without their
//! literals. What was not measured is `null`.

use crate::reports::TracedReport;
use crate::terminal::{LockRelease, StatementLocks};
use dbtime_model::traced_file::TraceEnd;
use dbtime_model::traced_json::{FileJson, LedgerJson, PartsJson};
use dbtime_model::traced_ledger::TraceCost;
use dbtime_model::traced_totals::{Preemption, ReplacedStatements, TraceTotals};
use dbtime_model::{Nanos, ServerQueueParts};
use serde::Serialize;

#[derive(Serialize)]
struct SummaryJson<'a> {
    length_us: f64,
    only_counted_us: f64,
    all: TotalsJson<'a>,
    statements: Vec<SummaryStatementJson<'a>>,
    lock_waits: Option<Vec<LockWaitJson<'a>>>,
    preemptors: Option<Vec<Preemption>>,
    replaced: Option<&'a ReplacedStatements>,
    ledger: LedgerJson<'a>,
    cost: Option<TraceCost>,
}

#[derive(Serialize)]
struct SummaryStatementJson<'a> {
    text: &'a str,
    #[serde(flatten)]
    totals: TotalsJson<'a>,
}

#[derive(Serialize)]
struct TotalsJson<'a> {
    count: u64,
    errors: u64,
    executes: u64,
    response_us: f64,
    mean_us: Option<f64>,
    p50_us: Option<f64>,
    p90_us: Option<f64>,
    p99_us: Option<f64>,
    p999_us: Option<f64>,
    max_us: Option<f64>,
    parts_us: PartsJson,
    server_queue_us: Option<f64>,
    server_queue_parts_us: Option<ServerQueueParts>,
    server_queue_known_of: u64,
    files: Option<Vec<FileJson<'a>>>,
}

/// `holder` is how the lock was let go: `statement`, `client_left`, `unknown` or `nobody`.
#[derive(Serialize)]
struct LockWaitJson<'a> {
    statement: &'a str,
    lock: &'a str,
    holder: &'static str,
    holder_statement: Option<&'a str>,
    holder_connections: &'a [String],
    count: u64,
    wait_us: f64,
    longest_us: f64,
}

/// The document, without the end of its line.
///
/// # Errors
/// None but a bug's.
pub fn trace_json(report: &TracedReport<'_>, end: &TraceEnd) -> serde_json::Result<String> {
    let mut rows: Vec<_> = report.statements.iter().filter(|(_, row)| row.count > 0).collect();
    rows.sort_by_key(|(_, row)| std::cmp::Reverse(row.response));
    let all = report.totals.all();
    let has_parts = !all.lack_parts();
    serde_json::to_string(&SummaryJson {
        length_us: report.length.as_micros(),
        only_counted_us: report.only_counted.as_micros(),
        all: totals(&all),
        statements: rows
            .iter()
            .map(|(text, row)| SummaryStatementJson { text, totals: totals(row) })
            .collect(),
        lock_waits: has_parts.then(|| report.locks.iter().map(lock_wait).collect()),
        preemptors: has_parts.then(|| report.totals.preemptions()),
        replaced: report.totals.replaced.as_ref(),
        ledger: LedgerJson::of(&end.ledger),
        cost: end.cost,
    })
}

fn totals(row: &TraceTotals) -> TotalsJson<'_> {
    let micros = |time: Option<Nanos>| time.map(|time| time.as_micros());
    let (has_queue, has_parts) = (row.queued > 0, !row.lack_parts());
    TotalsJson {
        count: row.count,
        errors: row.errors,
        executes: row.executes,
        response_us: row.response.as_micros(),
        mean_us: micros(row.mean()),
        p50_us: micros(row.quantile(0.5)),
        p90_us: micros(row.quantile(0.9)),
        p99_us: micros(row.quantile(0.99)),
        p999_us: micros(row.quantile(0.999)),
        max_us: micros(row.max()),
        parts_us: PartsJson(row.parts),
        server_queue_us: has_queue.then(|| row.server_queue.as_micros()),
        server_queue_parts_us: (has_queue && has_parts)
            .then(|| row.queue_parts.within(row.server_queue)),
        server_queue_known_of: row.queued,
        files: has_parts.then(|| row.files.iter().map(FileJson::of).collect()),
    }
}

fn lock_wait(wait: &StatementLocks) -> LockWaitJson<'_> {
    let (holder, holder_statement) = match &wait.release {
        LockRelease::Statement(text) => ("statement", Some(text.as_str())),
        LockRelease::ClientLeft => ("client_left", None),
        LockRelease::Unknown => ("unknown", None),
        LockRelease::Nobody => ("nobody", None),
    };
    LockWaitJson {
        statement: &wait.statement,
        lock: &wait.lock,
        holder,
        holder_statement,
        holder_connections: &wait.connections,
        count: wait.count,
        wait_us: wait.length.as_micros(),
        longest_us: wait.longest.as_micros(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::{Part, Parts};
    use serde_json::{Value, json};

    #[test]
    fn what_was_not_measured_is_null_and_no_zero() {
        let told = |row: &TraceTotals| serde_json::to_value(totals(row)).expect("plain data");
        let nothing = told(&TraceTotals::default());
        let unmeasured = TraceTotals { count: 2, longest: Nanos(9_000), ..TraceTotals::default() };
        let lacking = told(&unmeasured);
        let seen = TraceTotals { queued: 2, ..unmeasured };
        let queued = told(&seen);
        let measured = told(&TraceTotals { parts: Parts::only(Part::Cpu, 1), ..seen });
        for name in ["mean_us", "max_us", "server_queue_us"] {
            assert_eq!(nothing[name], Value::Null, "{name}");
        }
        assert_eq!((&lacking["max_us"], &lacking["server_queue_us"]), (&json!(9.0), &Value::Null));
        assert_eq!(queued["server_queue_us"], json!(0.0));
        for name in ["server_queue_parts_us", "parts_us", "files"] {
            assert_eq!(queued[name], Value::Null, "{name}");
            assert_ne!(measured[name], Value::Null, "{name}");
        }
    }

    #[test]
    fn no_more_of_a_time_in_the_socket_is_told_than_there_was() {
        let [runq_preempted, runq_woken] = [Nanos(2_000), Nanos(5_000)];
        let odd = TraceTotals {
            count: 1,
            queued: 1,
            server_queue: Nanos(3_000),
            queue_parts: ServerQueueParts { runq_preempted, runq_woken, ..Default::default() },
            parts: Parts::only(Part::Cpu, 1),
            ..TraceTotals::default()
        };
        let told = serde_json::to_value(totals(&odd)).expect("plain data");
        let parts = &told["server_queue_parts_us"];
        let shown = (&told["server_queue_us"], &parts["runq_preempted"], &parts["runq_woken"]);
        assert_eq!(shown, (&json!(3.0), &json!(2.0), &json!(1.0)));
    }
}
