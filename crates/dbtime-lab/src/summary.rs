//! From what the threads recorded to what the record says.

use dbtime_engines::plan::Driven;
use dbtime_load::workload::Workload;
use dbtime_model::budget::PartSet;
use dbtime_model::record::{
    BudgetBucket, BudgetUs, HistogramBucket, LatencySet, OperationSummary, PercentilePoint,
    StatementSummary, ThinkSummary, TransactionRow,
};
use dbtime_model::recorder::{Latencies, OperationRecorder, Recorder};
use dbtime_model::trace::Trace;
use dbtime_model::{Budget, Histogram, MonoNanos, Outcome};

/// Everything the record says about what was measured, apart from the machine and the target.
pub struct Summary {
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

impl Summary {
    /// Of what was driven.
    pub fn new(driven: &Driven, workload: &Workload) -> Self {
        let recorder = &driven.recorder;
        let mut latencies = Latencies::default();
        let mut budget = Budget::default();
        for operation in &recorder.operations {
            latencies.merge(&operation.latencies);
            budget.merge(&operation.cells.total());
        }
        Self {
            latencies,
            budget,
            operations: operations(recorder, driven.measured, workload),
            statements: statements(recorder, driven.measured, workload),
            transactions: transactions(recorder, driven.measured, driven.start, workload),
        }
    }

    /// The four distributions in figures.
    pub fn latency_us(&self) -> LatencySet {
        (&self.latencies).into()
    }

    /// The response distribution by power-of-two bucket.
    pub fn histogram(&self) -> Vec<HistogramBucket> {
        let buckets = self.latencies.response.powers_of_two().into_iter();
        buckets
            .map(|(below, count)| HistogramBucket { below_us: below.as_micros(), count })
            .collect()
    }

    /// The response and service distributions on their way to the maximum: ten points for each
    /// tenth of what is left, as far as there are values to tell them apart.
    pub fn percentiles(&self) -> Vec<PercentilePoint> {
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

fn budget_us(budget: &Budget, measured: PartSet) -> (Option<BudgetUs>, Option<f64>) {
    if budget.count == 0 {
        return (None, None);
    }
    (Some(BudgetUs::from_budget(budget, measured)), Some(budget.error()))
}

fn operations(
    recorder: &Recorder<u64>,
    measured: PartSet,
    workload: &Workload,
) -> Vec<OperationSummary> {
    let offered = recorder.counts().offered.max(1) as f64;
    let weights: f64 = workload.operations.iter().map(|operation| operation.weight).sum();
    let both = recorder.operations.iter().zip(&workload.operations);
    both.map(|(recorded, operation)| {
        let (budget_us, budget_error) = budget_us(&recorded.cells.total(), measured);
        OperationSummary {
            name: operation.name.clone(),
            count: recorded.counts.completed,
            failed: recorded.counts.failed,
            retries: recorded.counts.retries,
            share: recorded.counts.offered as f64 / offered,
            share_wanted: operation.weight / weights,
            latency_us: (&recorded.latencies).into(),
            budget_us,
            budget_error,
            budget_buckets: buckets(recorded, measured),
            think: think(recorded),
            limits: Vec::new(),
        }
    })
    .collect()
}

fn buckets(recorded: &OperationRecorder<u64>, measured: PartSet) -> Vec<BudgetBucket> {
    let cells = recorded.cells.iter();
    cells
        .map(|(below, budget)| BudgetBucket {
            below_us: below.as_micros(),
            count: budget.count,
            budget_us: BudgetUs::from_budget(budget, measured),
        })
        .collect()
}

fn think(recorded: &OperationRecorder<u64>) -> Option<ThinkSummary> {
    let think = recorded.think;
    let mean = |ns: u64| ns as f64 / 1e3 / think.count as f64;
    (think.count > 0).then(|| ThinkSummary {
        count: think.count,
        wanted_us: mean(think.wanted_ns),
        taken_us: mean(think.taken_ns),
    })
}

fn statements(
    recorder: &Recorder<u64>,
    measured: PartSet,
    workload: &Workload,
) -> Vec<StatementSummary> {
    let both = recorder.statements.iter().zip(&workload.statements);
    // A ROLLBACK that never happened is no news.
    let executed = both.filter(|(recorded, _)| recorded.count > 0);
    executed
        .map(|(recorded, statement)| {
            let (budget_us, budget_error) = budget_us(&recorded.budget, measured);
            StatementSummary {
                operation: workload.operations[statement.operation.0 as usize].name.clone(),
                name: statement.name.clone(),
                fingerprint: statement.kind.fingerprint().to_owned(),
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

fn transactions(
    recorder: &Recorder<u64>,
    measured: PartSet,
    start: MonoNanos,
    workload: &Workload,
) -> Vec<TransactionRow> {
    let mut rows = Vec::new();
    for (recorded, operation) in recorder.operations.iter().zip(&workload.operations) {
        let row = |kept: &str, trace: &Trace| TransactionRow {
            kept: kept.to_owned(),
            operation: operation.name.clone(),
            outcome: outcome(trace.sample.outcome).to_owned(),
            due_us: (trace.sample.due - start).as_micros(),
            retries: trace.sample.retries,
            budget: BudgetUs::from_parts(&trace.parts, measured),
        };
        rows.extend(recorded.gallery.slowest().iter().map(|trace| row("slowest", trace)));
        rows.extend(recorded.gallery.random().iter().map(|trace| row("random", trace)));
    }
    rows
}

fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "completed",
        Outcome::Failed(class) => class.name(),
        Outcome::Dropped => "dropped",
        Outcome::Unfinished => "unfinished",
    }
}
