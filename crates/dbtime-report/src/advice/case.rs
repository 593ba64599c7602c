//! A run as the rules look at it: its budget at the mean and in the tail, and the questions that
//! several rules have.

use super::{AdviceBound, AdvicePlace, BudgetAdvice, MIN_SHARE_PCT};
use crate::facts;
use crate::format::{bytes, clean, finite, percent, rate, us};
use crate::means::PartMeans;
use crate::tail::{ResponseTail, tail};
use dbtime_model::record::{BudgetUs, RunRecord, StatementSummary};
use dbtime_model::{Part, Product, SqlDialect, WireProtocol};

/// A statement with less of a part is not the place of it. Unit: percent.
const MIN_PLACE_PCT: f64 = 30.0;

/// What is no smaller share of the time behind the queue may be what makes it.
const MIN_SERVICE_SHARE: f64 = 0.3;

/// A statement that returns as many rows each time has a large result.
const MIN_LARGE_RESULT: f64 = 1_000.0;

/// What the servers call a deadlock.
const DEADLOCKS: [&str; 2] = ["1213", "40P01"];

/// Other processes that use less are not the reason for anything. Unit: percent of all CPU time.
const MIN_FOREIGN_PCT: f64 = 5.0;

/// The record with what is computed from it once.
pub(super) struct AdviceCase<'a> {
    pub(super) record: &'a RunRecord,
    /// What the target is; `None` where the record does not say.
    pub(super) product: Option<Product>,
    /// Mean parts of all measured transactions.
    pub(super) means: PartMeans,
    /// The slowest beside them.
    pub(super) tail: Option<ResponseTail>,
}

impl<'a> AdviceCase<'a> {
    /// `None` without a budget, and where nothing was measured.
    pub(super) fn of(record: &'a RunRecord) -> Option<Self> {
        let means = PartMeans::from(record.budget_us.as_ref()?);
        let case = Self { record, product: product(record), means, tail: tail(&record.operations) };
        (case.means.total > 0.0).then_some(case)
    }

    /// Advice of a rule without anything in it yet; `None` where its parts were not measured or are
    /// small, at the mean and in the tail.
    pub(super) fn begin(&self, rule: &'static str, parts: &[Part]) -> Option<BudgetAdvice> {
        let mean = bound(&self.means, parts)?;
        let slow = self.tail.as_ref().map(|tail| &tail.slow.means);
        let slowest = slow.and_then(|means| bound(means, parts));
        let share = slowest.map_or(0.0, |slow| slow.share_pct).max(mean.share_pct);
        let is_there = |part: &Part| {
            // A part below zero is in the sum too.
            let amount = |means: &PartMeans| means.get(*part).is_some_and(|us| us != 0.0);
            amount(&self.means) || slow.is_some_and(amount)
        };
        let is_large = share >= MIN_SHARE_PCT || self.is_most_of_service(mean.at_most_us);
        is_large.then(|| BudgetAdvice {
            rule,
            cause: String::new(),
            place: AdvicePlace::Ordinary,
            parts: parts.iter().copied().filter(is_there).collect(),
            mean,
            slowest,
            figures: Vec::new(),
            steps: Vec::new(),
        })
    }

    /// The statement or operation in which most of these parts is: `92 % of it is in withdraw:
    /// commit, 871 µs each`. `None` where there is but one, or where it is not known of all.
    pub(super) fn place(&self, parts: &[Part]) -> Option<String> {
        let statements = self.record.statements.iter().filter(|statement| statement.count > 0);
        let of_statement = |statement: &'a StatementSummary| {
            let us = amount(statement.budget_us.as_ref()?, parts)?;
            Some((self.statement_name(statement), us, statement.count))
        };
        let of_statements: Option<Vec<_>> = statements.map(of_statement).collect();
        // What no statement has is between them.
        let sum = |rows: &[(String, f64, u64)]| total(rows) / self.record.counts.completed as f64;
        let whole = self.sum(parts);
        let rows = of_statements.filter(|rows| sum(rows) >= 0.5 * whole).or_else(|| {
            let operations = self.record.operations.iter().filter(|o| o.count > 0);
            let row = |o: &'a dbtime_model::record::OperationSummary| {
                Some((clean(&o.name), amount(o.budget_us.as_ref()?, parts)?, o.count))
            };
            operations.map(row).collect()
        })?;
        let largest = rows.iter().max_by(|a, b| spent(a).total_cmp(&spent(b)))?;
        let share = 100.0 * spent(largest) / total(&rows);
        let (name, each, _) = largest;
        (rows.len() > 1 && share >= MIN_PLACE_PCT)
            .then(|| format!("{} of it is in {name}, {} each", percent(share), us(*each)))
    }

    /// A statement as lock holders are named too: `withdraw: commit`.
    pub(super) fn statement_name(&self, statement: &StatementSummary) -> String {
        clean(&format!("{}: {}", statement.operation, statement.name))
    }

    /// The statement and file with most of a part's waits: `98 % of it is in tpcb: commit, for
    /// ib_logfile0`. `None` where files are not known, or none has that much.
    pub(super) fn file_place(&self, part: Part) -> Option<String> {
        let rows = self.record.file_waits.iter().flatten().filter(|row| row.part == part);
        let most = rows.max_by(|a, b| a.share_pct.total_cmp(&b.share_pct))?;
        let file = most.file.as_deref().filter(|_| most.share_pct >= MIN_PLACE_PCT)?;
        let share = percent(most.share_pct);
        let waiter = most.waiter.as_deref().map_or(String::new(), |of| format!("in {of}, "));
        Some(clean(&format!("{share} of it is {waiter}for the file {file}")))
    }

    /// Of the statements that are among `these` the one with most of the parts, and its share of
    /// what all statements have, in `0.0..=1.0`.
    pub(super) fn most(
        &self,
        parts: &[Part],
        these: impl Fn(&StatementSummary) -> bool,
    ) -> Option<(&'a StatementSummary, f64)> {
        let spent = |statement: &StatementSummary| {
            let each = statement.budget_us.as_ref().and_then(|budget| amount(budget, parts));
            finite(each.unwrap_or(0.0)) * statement.count as f64
        };
        let statements = &self.record.statements;
        let all: f64 = statements.iter().map(spent).sum();
        let these = statements.iter().filter(|statement| these(statement));
        let most = these.max_by(|a, b| spent(a).total_cmp(&spent(b)))?;
        (all > 0.0).then(|| (most, (spent(most) / all).clamp(0.0, 1.0)))
    }

    /// What these parts come to in the mean. Unit: microseconds.
    pub(super) fn sum(&self, parts: &[Part]) -> f64 {
        parts.iter().filter_map(|part| self.means.get(*part)).sum()
    }

    /// A setting read back from the target, in small letters.
    pub(super) fn setting(&self, name: &str) -> Option<String> {
        self.record.target.settings.get(name).map(|value| value.to_ascii_lowercase())
    }

    /// A setting as it was read back, to be shown with its name: ` (128MB now)`.
    pub(super) fn present(&self, name: &str) -> String {
        let Some(value) = self.record.target.settings.get(name) else { return String::new() };
        // InnoDB has sizes in bytes.
        let size = value.parse().ok().filter(|_| self.is_mysql());
        format!(" ({} now)", size.map_or_else(|| clean(value), bytes))
    }

    /// Whether a setting is known to have one of these values.
    pub(super) fn is_set(&self, name: &str, values: &[&str]) -> bool {
        self.setting(name).is_some_and(|value| values.contains(&value.as_str()))
    }

    /// What the server counted per transaction under this name.
    pub(super) fn counted(&self, name: &str) -> Option<f64> {
        let counters = &self.record.counters.as_ref()?.key_counters;
        let counter = counters.iter().find(|counter| counter.name == name)?;
        counter.per_transaction.filter(|each| each.is_finite())
    }

    /// Whether the target is MariaDB or MySQL.
    pub(super) fn is_mysql(&self) -> bool {
        self.product.is_some_and(Product::speaks_mysql)
    }

    /// How the target writes SQL, and has its settings named; `None` where nothing is known of it.
    pub(super) fn dialect(&self) -> Option<SqlDialect> {
        self.product.map(Product::dialect)
    }

    /// Whether the target is a server, which another process is.
    pub(super) fn is_server(&self) -> bool {
        self.product.is_some_and(|product| product.wire_protocol().is_some())
    }

    /// Connections or workers that executed statements at once, at most.
    pub(super) fn concurrency(&self) -> u32 {
        let load = &self.record.load;
        load.workers.map_or(load.connections, |workers| workers.min(load.connections.max(1)))
    }

    /// CPU that the server used in a second, and how many CPUs it had; `None` where not known.
    pub(super) fn server_cpus(&self) -> Option<(f64, u32)> {
        let server = self.record.server.as_ref()?;
        let used = server.cpu_s / server.wall_s;
        (used.is_finite() && server.cpus > 0).then_some((used, server.cpus))
    }

    /// CPUs that the target may use; 0 where not known.
    pub(super) fn cpus(&self) -> u32 {
        self.server_cpus().map_or(self.record.environment.cpus, |(_, cpus)| cpus)
    }

    /// Whether this is a good share of what is left of a response behind a queue: what makes a
    /// queue can be little of the response.
    pub(super) fn is_most_of_service(&self, us: f64) -> bool {
        let service_us = self.means.total - self.sum(&[Part::Queue]);
        us > 0.0 && us >= MIN_SERVICE_SHARE * service_us
    }

    /// What connections are busy with makes others queue for them: how much a part that comes from
    /// outside can win with its queue. `None` where hardly anything queues, or the connections are
    /// busy with something else.
    pub(super) fn queue_behind(&self, parts: &[Part]) -> Option<String> {
        let queue = bound(&self.means, &[Part::Queue])?;
        // No connection counts as busy for what the driver is late.
        let busy: Vec<Part> = parts.iter().copied().filter(|part| *part != Part::Lag).collect();
        if queue.share_pct < MIN_SHARE_PCT || !self.is_most_of_service(self.sum(&busy)) {
            return None;
        }
        // Of others it is not known how much is from outside.
        let is_unsure =
            |part: &Part| matches!(part, Part::Client | Part::ServerQueue | Part::ServerAndWire);
        let sure: Vec<Part> = busy.iter().copied().filter(|part| !is_unsure(part)).collect();
        let verb = if self.is_most_of_service(self.sum(&sure)) { "is" } else { "may be" };
        let both = bound(&self.means, &[&busy[..], &[Part::Queue]].concat())?;
        Some(format!(
            "queue ({}) {verb} partly a consequence, as connections are busy with it: at most {} \
             of {} without both",
            us(queue.at_most_us),
            us(both.at_most_us),
            us(both.of_us)
        ))
    }

    /// Whether the database shares this machine's CPUs with the driver, as far as is known.
    pub(super) fn is_here(&self) -> bool {
        !self.is_server() || self.record.server.is_some()
    }

    /// What the run itself used of the machine's CPU time: the driver, and a server on this
    /// machine. Unit: percent.
    pub(super) fn own_cpu_pct(&self) -> f64 {
        let record = self.record;
        let driver = (record.client.usr_pct + record.client.sys_pct) / 100.0;
        let server = self.server_cpus().map_or(0.0, |(used, _)| used);
        100.0 * (driver + server) / f64::from(record.environment.cpus.max(1))
    }

    /// The failure of deadlocks, and how often it came; `None` where fewer than one in a hundred
    /// transactions had one.
    pub(super) fn deadlocks(&self) -> Option<(&'a str, u64)> {
        let record = self.record;
        let deadlocks = record.errors.iter().filter(|(code, _)| DEADLOCKS.contains(&code.as_str()));
        let (code, times) = deadlocks.max_by_key(|(_, times)| **times)?;
        let is_often = times.saturating_mul(100) >= record.counts.offered.max(1);
        is_often.then_some((code.as_str(), *times))
    }

    /// A statement that returns many rows each time, the one with most in all, and how many.
    pub(super) fn large_result(&self) -> Option<(&'a StatementSummary, f64)> {
        let each = |of: &StatementSummary| of.rows as f64 / of.count.max(1) as f64;
        let statements = self.record.statements.iter();
        let large = statements.filter(|of| each(of) >= MIN_LARGE_RESULT);
        large.max_by_key(|of| of.rows).map(|of| (of, each(of)))
    }

    /// The file that is waited for most for a part, over all statements, where it has a good share
    /// of the waits: `ib_logfile0`.
    pub(super) fn file(&self, part: Part) -> Option<String> {
        let rows = self.record.file_waits.iter().flatten().filter(|row| row.part == part);
        let mut files: Vec<(&str, f64)> = Vec::new();
        for row in rows {
            let Some(name) = row.file.as_deref() else { continue };
            match files.iter_mut().find(|(file, _)| *file == name) {
                Some((_, share_pct)) => *share_pct += row.share_pct,
                None => files.push((name, row.share_pct)),
            }
        }
        let (file, share_pct) = files.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        (share_pct >= MIN_PLACE_PCT).then(|| clean(file))
    }

    /// What other processes used, where that is much; steps are up to the rule.
    pub(super) fn foreign(&self) -> Option<String> {
        let pct = self.record.environment.foreign_cpu_pct;
        let used = || format!("other processes used {} of the machine's CPU time", percent(pct));
        (pct >= MIN_FOREIGN_PCT).then(used)
    }

    /// Whether more transactions were without an end than ended.
    pub(super) fn mostly_never_ends(&self) -> bool {
        let counts = &self.record.counts;
        counts.unfinished.saturating_add(counts.outstanding) > counts.ended()
    }

    /// Whether answers or requests were held back as by a network.
    pub(super) fn has_simulated_network(&self) -> bool {
        self.record.load.network_delay_us.is_some() || facts::network(self.record).is_some()
    }

    /// What a simulated network added, and what its being full suggests.
    pub(super) fn simulated_network(&self, advice: &mut BudgetAdvice) {
        let delays = self.record.load.network_delay_us.zip(self.round_trips());
        if let Some((delay, trips)) = delays {
            let (each, all) = (us(delay), us(delay * trips));
            advice.figure(format!("requests were held back for {each} each, {all} a transaction"));
        }
        advice.figures.extend(facts::network(self.record).map(|text| format!("network {text}")));
        if facts::is_network_full(self.record) {
            advice.step("fewer and smaller rows and texts, or a faster network (--network-rate)");
        }
    }

    /// Round trips of a completed transaction, where there is a connection.
    pub(super) fn round_trips(&self) -> Option<f64> {
        self.record.round_trips_per_tx.filter(|n| n.is_finite() && self.is_server())
    }
}

/// `9 round trips per transaction`.
pub(super) fn trips_per_transaction(trips: f64) -> String {
    let number = rate(trips);
    let noun = if number == "1" { "round trip" } else { "round trips" };
    format!("{number} {noun} per transaction")
}

/// What the target is. Records name a server by its protocol, and its version says the rest.
fn product(record: &RunRecord) -> Option<Product> {
    match Product::named(&record.target.engine)? {
        Product::Mysql => Some(WireProtocol::Mysql.product(&record.target.version)),
        product => Some(product),
    }
}

/// What parts come to of these means; `None` where none was measured.
fn bound(means: &PartMeans, parts: &[Part]) -> Option<AdviceBound> {
    let measured: Vec<f64> = parts.iter().filter_map(|part| means.get(*part)).collect();
    let of_us = means.total;
    // A part is signed, and so may be the others: more than the whole cannot be won.
    let at_most_us = measured.iter().sum::<f64>().clamp(0.0, of_us.max(0.0));
    let bound = AdviceBound { at_most_us, of_us, share_pct: 100.0 * at_most_us / of_us };
    (!measured.is_empty() && of_us > 0.0).then_some(bound)
}

/// What the parts come to; `None` where none was measured.
fn amount(budget: &BudgetUs, parts: &[Part]) -> Option<f64> {
    let mut measured = parts.iter().filter_map(|part| budget.get(*part)).peekable();
    measured.peek()?;
    Some(measured.sum())
}

/// A place's name, its parts per execution, and how many executions.
fn spent((_, each, count): &(String, f64, u64)) -> f64 {
    finite(*each) * *count as f64
}

fn total(rows: &[(String, f64, u64)]) -> f64 {
    rows.iter().map(spent).sum()
}
