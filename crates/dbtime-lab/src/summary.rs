//! From what the threads recorded to what the record says.

use crate::kept_transactions;
use crate::workload_names::driven_names;
use dbtime_engines::drive::plan::LoadResult;
use dbtime_load::statement::StatementKind;
use dbtime_load::workload::Workload;
use dbtime_model::record::{
    BudgetBucket, BudgetUs, ConnectionsInfo, HistogramBucket, LatencySet, LatencyUs,
    OperationSummary, OutageInfo, PercentilePoint, SeriesPhase, SeriesRow, SpanInfo,
    StatementSummary, ThinkSummary, TransactionRow,
};
use dbtime_model::recorder::{Latencies, OperationRecorder, Outage, Recorder};
use dbtime_model::spans::{intersection, union};
use dbtime_model::{Budget, Histogram, MonoNanos, Nanos, Outcome, TimeSpan};
use dbtime_sql::LexicalRules;

/// Everything the record says about what was measured, apart from the machine and the target.
pub(crate) struct RunSummary {
    /// All operations together.
    pub latencies: Latencies<u64>,
    /// The budget of all operations together; no transaction in it when none was measured.
    pub budget: Budget,
    /// By operation.
    pub operations: Vec<OperationSummary>,
    /// By statement.
    pub statements: Vec<StatementSummary>,
    /// Transactions kept whole.
    pub transactions: Vec<TransactionRow>,
}

impl RunSummary {
    pub(crate) fn new(driven: &LoadResult, workload: &Workload, rules: &LexicalRules) -> Self {
        let recorder = &driven.recorder;
        let mut latencies = Latencies::default();
        recorder.operations.iter().for_each(|operation| latencies.merge(&operation.latencies));
        Self {
            latencies,
            budget: recorder.budget(),
            operations: operations(recorder, workload),
            statements: statements(recorder, workload, rules),
            transactions: kept_transactions::transactions(
                recorder,
                driven.start,
                &driven_names(workload, rules),
            ),
        }
    }

    /// The four distributions in figures.
    pub(crate) fn latency_us(&self) -> LatencySet {
        (&self.latencies).into()
    }

    /// The response distribution by power-of-two bucket.
    pub(crate) fn histogram(&self) -> Vec<HistogramBucket> {
        let buckets = self.latencies.response.powers_of_two().into_iter();
        buckets
            .map(|(below, count)| HistogramBucket { below_us: below.as_micros(), count })
            .collect()
    }

    /// The response and service distributions on their way to the maximum: ten points for each
    /// tenth of what is left, as far as there are values to tell them apart.
    pub(crate) fn percentiles(&self) -> Vec<PercentilePoint> {
        let count = self.latencies.response.count();
        if count == 0 {
            return Vec::new();
        }
        let mut left = 1.0;
        let mut quantiles = Vec::new();
        while left * count as f64 >= 1.0 {
            quantiles.extend((0..10).map(|tenth| 1.0 - left * (1.0 - 0.09 * f64::from(tenth))));
            left /= 10.0;
        }
        quantiles.push(1.0);
        let at = |h: &Histogram, q| h.quantile(q).as_micros();
        let point = |q: f64| PercentilePoint {
            // Without the last digits, which only say how a double is made.
            percentile: (q * 1e11).round() / 1e9,
            response_us: at(&self.latencies.response, q),
            service_us: at(&self.latencies.service, q),
        };
        quantiles.into_iter().map(point).collect()
    }
}

pub(crate) fn budget_us(budget: &Budget) -> (Option<BudgetUs>, Option<f64>) {
    if budget.count == 0 {
        return (None, None);
    }
    (Some(BudgetUs::from_budget(budget)), Some(budget.error()))
}

fn operations(recorder: &Recorder<u64>, workload: &Workload) -> Vec<OperationSummary> {
    let offered = recorder.counts().offered.max(1) as f64;
    let weights: f64 = workload.operations.iter().map(|operation| operation.weight).sum();
    let both = recorder.operations.iter().zip(&workload.operations);
    both.map(|(recorded, operation)| {
        let (budget_us, budget_error) = budget_us(&recorded.cells.total());
        OperationSummary {
            name: operation.name.clone(),
            count: recorded.counts.completed,
            failed: recorded.counts.failed,
            retries: recorded.counts.retries,
            share: recorded.counts.offered as f64 / offered,
            share_expected: operation.weight / weights,
            latency_us: (&recorded.latencies).into(),
            budget_us,
            budget_error,
            budget_buckets: buckets(recorded),
            think: think(recorded),
            limits: Vec::new(),
        }
    })
    .collect()
}

pub(crate) fn buckets(recorded: &OperationRecorder<u64>) -> Vec<BudgetBucket> {
    let cells = recorded.cells.iter();
    cells
        .map(|(below, budget)| BudgetBucket {
            below_us: below.as_micros(),
            count: budget.count,
            budget_us: BudgetUs::from_budget(budget),
        })
        .collect()
}

fn think(recorded: &OperationRecorder<u64>) -> Option<ThinkSummary> {
    let think = recorded.think;
    let mean = |ns: u64| ns as f64 / 1e3 / think.count as f64;
    (think.count > 0).then(|| ThinkSummary {
        count: think.count,
        requested_us: mean(think.requested_ns),
        taken_us: mean(think.taken_ns),
    })
}

fn statements(
    recorder: &Recorder<u64>,
    workload: &Workload,
    rules: &LexicalRules,
) -> Vec<StatementSummary> {
    let statements = workload.executed_statements();
    let both = recorder.statements.iter().zip(&statements);
    // A ROLLBACK that never happened is no news.
    let executed = both.filter(|(recorded, _)| recorded.count > 0);
    executed
        .map(|(recorded, statement)| {
            let (budget_us, budget_error) = budget_us(&recorded.budget);
            StatementSummary {
                operation: workload.operations[statement.operation.0 as usize].name.clone(),
                name: statement.name.clone(),
                fingerprint: fingerprint_of(&statement.kind, rules),
                count: recorded.count,
                rows: recorded.rows,
                round_trips: recorded.round_trips,
                latency_us: (&recorded.service).into(),
                budget_us,
                budget_error,
            }
        })
        .collect()
}

/// The text without its literals and parameters, as traces have it.
pub(crate) fn fingerprint_of(statement: &StatementKind, rules: &LexicalRules) -> String {
    let pieces = statement.pieces();
    let text = if pieces.is_empty() { statement.text().to_owned() } else { pieces.join("?") };
    let mut fingerprint = String::new();
    dbtime_sql::fingerprint(text, rules, &mut fingerprint);
    fingerprint
}

/// What became of connections.
pub(crate) fn connections(driven: &LoadResult) -> ConnectionsInfo {
    let found = &driven.recorder.connections;
    let since = |at: MonoNanos| (at - driven.start).as_secs();
    let mut outages: Vec<OutageInfo> = together(driven.recorder.outages.clone())
        .into_iter()
        .map(|o| OutageInfo { from_s: since(o.from), until_s: o.until.map(since) })
        .collect();
    let length = |o: &OutageInfo| o.until_s.map_or(f64::INFINITY, |until| until - o.from_s);
    outages.sort_by(|a, b| length(b).total_cmp(&length(a)));
    outages.truncate(MAX_OUTAGES);
    ConnectionsInfo {
        made: found.times.count(),
        failed: found.failed,
        lost: found.lost,
        never_made: Some(found.never_made),
        opening_s: found.opening.as_secs(),
        outages,
    }
}

/// Spans of the run, from the start of the load.
pub(crate) fn spans(driven: &LoadResult, spans: &[TimeSpan]) -> Vec<SpanInfo> {
    let since = |at: MonoNanos| (at - driven.start).as_secs();
    spans.iter().map(|s| SpanInfo { from_s: since(s.from), until_s: since(s.until) }).collect()
}

/// Times in which transactions were due and none was completed, of the window for more than ten
/// times what the slowest of an ordinary second take. The driver's own standstills and outages are
/// none of them.
pub(crate) fn stalls(
    driven: &LoadResult,
    measured: TimeSpan,
    series: &[SeriesRow],
) -> Vec<TimeSpan> {
    let recorder = &driven.recorder;
    let quiet = recorder.quiet.as_deref().unwrap_or_default();
    let without_service = intersection(quiet, &union(recorder.waiting.clone()));
    let outage = |o: &Outage| TimeSpan { from: o.from, until: o.until.unwrap_or(driven.ended) };
    let others = recorder.standstills.iter().copied().chain(recorder.outages.iter().map(outage));
    let others = union(others.collect());
    // A run without an ordinary second is measured by what its transactions take themselves.
    let medians = recorder.operations.iter().map(|op| op.latencies.service.quantile(0.5));
    let median = medians.max().unwrap_or_default();
    let ordinary = ordinary_p99(series).unwrap_or(median);
    let least = MIN_STALL.max(Nanos(10 * ordinary.0));
    let explained = |span: &TimeSpan| -> u64 {
        intersection(&[*span], &others).iter().map(|common| common.length().0).sum()
    };
    let is_stall = |span: &TimeSpan| {
        // What is left of one beyond the window's edge is as short as any pause.
        let own = intersection(&[*span], &[measured]);
        own.iter().any(|own| own.length() >= least) && explained(span) < span.length().0 / 2
    };
    without_service.into_iter().filter(is_stall).collect()
}

/// A shorter time without service is no stall.
const MIN_STALL: Nanos = Nanos::from_millis(100);

/// The 99th percentile of the response in an ordinary second: the median over all seconds in which
/// anything was completed, so that a stall does not set its own measure.
fn ordinary_p99(series: &[SeriesRow]) -> Option<Nanos> {
    let busy = series.iter().filter(|row| row.completed > 0 && row.phase == SeriesPhase::Measure);
    let mut p99: Vec<f64> = busy.map(|row| row.response_p99_us).collect();
    p99.sort_by(f64::total_cmp);
    let median = p99.get(p99.len().checked_sub(1)? / 2)?;
    Some(Nanos::from_secs_f64(median / 1e6))
}

/// Outages that are recorded.
const MAX_OUTAGES: usize = 20;

/// One that several threads saw is one: from the first failure any saw to the first success.
fn together(mut outages: Vec<Outage>) -> Vec<Outage> {
    outages.sort_by_key(|outage| outage.from);
    let mut merged: Vec<(Outage, Option<MonoNanos>)> = Vec::new();
    for outage in outages {
        match merged.last_mut() {
            Some((first, last)) if last.is_none_or(|last| outage.from <= last) => {
                let earlier = [first.until, outage.until].into_iter().flatten().min();
                first.until = earlier;
                *last = last.zip(outage.until).map(|(a, b)| a.max(b));
            }
            _ => merged.push((outage, outage.until)),
        }
    }
    merged.into_iter().map(|(outage, _)| outage).collect()
}

/// Times to make a connection; `None` where none was made.
pub(crate) fn connect_us(driven: &LoadResult) -> Option<LatencyUs> {
    let times = &driven.recorder.connections.times;
    (times.count() > 0).then(|| times.into())
}

pub(crate) fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "completed",
        Outcome::Failed(class) => class.name(),
        Outcome::Dropped => "dropped",
        Outcome::Unfinished => "unfinished",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::recorder::Window;

    fn span(from_ms: u64, until_ms: u64) -> TimeSpan {
        let at = |ms: u64| MonoNanos(Nanos::from_millis(ms).0);
        TimeSpan { from: at(from_ms), until: at(until_ms) }
    }

    fn driven(change: impl FnOnce(&mut Recorder<u64>)) -> LoadResult {
        let window = Window { start: MonoNanos(0), end: MonoNanos(10_000_000_000) };
        let mut recorder = Recorder::new(window, 1, 1, 1);
        change(&mut recorder);
        LoadResult {
            start: MonoNanos(0),
            ended: window.end,
            recorder,
            threads: Vec::new(),
            link: None,
            has_quit: false,
        }
    }

    fn second(p99_ms: f64) -> SeriesRow {
        let response_p99_us = p99_ms * 1e3;
        SeriesRow {
            completed: 9,
            response_p99_us,
            phase: SeriesPhase::Measure,
            ..SeriesRow::default()
        }
    }

    #[test]
    fn a_stall_is_a_time_without_service_that_somebody_waited_through() {
        let quiet = vec![span(0, 400), span(1000, 1900), span(3000, 4000)];
        let waiting = vec![span(1050, 1900), span(2990, 4100)];
        let found = |p99_ms, standstill: &[TimeSpan]| {
            let driven = driven(|recorder| {
                recorder.quiet = Some(quiet.clone());
                recorder.waiting.clone_from(&waiting);
                recorder.standstills.extend(standstill);
            });
            let seconds = [second(p99_ms), second(p99_ms), second(5000.0)];
            stalls(&driven, span(0, 10_000), &seconds)
        };
        assert_eq!(found(1.0, &[]), [span(1050, 1900), span(3000, 4000)]);
        assert_eq!(found(90.0, &[]), [span(3000, 4000)], "slow is not stalled");
        // The driver was stopped.
        assert_eq!(found(1.0, &[span(3000, 3900)]), [span(1050, 1900)]);
    }

    #[test]
    fn a_stall_of_which_the_window_has_a_moment_is_none() {
        let driven = driven(|recorder| {
            recorder.quiet = Some(vec![span(0, 1300), span(5000, 9000)]);
            recorder.waiting = vec![span(0, 9000)];
        });
        let found = |measured, p99_ms| stalls(&driven, measured, &[second(p99_ms)]);
        assert_eq!(found(span(1290, 5010), 1.0), [], "10 ms at either edge");
        let first = [span(0, 1300)];
        assert_eq!(found(span(1000, 5090), 1.0), first, "300 ms");
        assert_eq!(found(span(1000, 5090), 40.0), [], "an ordinary second has 40 ms");
        assert_eq!(found(span(1300, 5000), 1.0), [], "beside it");
    }

    #[test]
    fn an_outage_that_several_threads_saw_is_one() {
        let of = |from, until: Option<u64>| Outage {
            from: MonoNanos(from),
            until: until.map(MonoNanos),
        };
        let seen = vec![of(50, Some(60)), of(10, Some(30)), of(12, Some(20)), of(55, None)];
        assert_eq!(together(seen), [of(10, Some(20)), of(50, Some(60))]);
        assert_eq!(together(vec![of(1, None)]), [of(1, None)]);
    }
}
