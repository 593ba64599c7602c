//! From what was driven and watched to the run's record.

use crate::checks::{self, CheckedDemand, RunRest, RunTotals};
use crate::counters;
use crate::judge::{fill_steadiness, judge, noise_bound, standstill_bound};
use crate::observers::RunObservation;
use crate::request::RunRequest;
use crate::run_trace::TracedTables;
use crate::server_layers::server_layers;
use crate::summary::{self, RunSummary};
use crate::targets::{PreparedTarget, TargetFacts};
use dbtime_engines::drive::plan::{LoadDemand, LoadPlan, LoadResult, RunStop};
use dbtime_engines::socket::ReconnectPolicy;
use dbtime_load::arrivals::{Arrivals, Rate};
use dbtime_load::workload::Workload;
use dbtime_machine::cpus::machine_cpus;
use dbtime_machine::environment::{environment, rss_peak_bytes};
use dbtime_machine::wait::TimerTest;
use dbtime_model::record::{
    ArrivalProcess, AutoRate, Basis, BudgetInfo, BudgetMethod, ClientInfo, CountsInfo,
    FoldedStacks, LoadInfo, LoadMode, MachineEnvironment, MeasuringCost, NetworkUse, PhaseTime,
    Run, RunRecord, SCHEMA, SamplingOrigin, SeriesRow, ServerInfo, ServerThreads, TraceInfo,
    WindowInfo, WorkloadInfo,
};
use dbtime_model::recorder::{ErrorCount, Latencies, StatementRecorder};
use dbtime_model::spans::union;
use dbtime_model::spec::BudgetChoice;
use dbtime_model::{MonoNanos, Nanos, PhaseInstant, TimeSpan};
use dbtime_observe::process::{by_thread_name, cpus_of};
use dbtime_sql::{LexicalRules, StatementShapes};
use std::collections::BTreeMap;
use std::time::SystemTime;

/// The machine's counters tick a hundred times a second: over less than this, in seconds, they say
/// nothing.
const MIN_MACHINE_S: f64 = 0.5;

/// What a run measured, on its way to the record.
pub(crate) struct RunMeasurement<'a> {
    pub(crate) request: &'a RunRequest,
    pub(crate) plan: &'a LoadPlan,
    pub(crate) prepared: &'a dyn PreparedTarget,
    pub(crate) stop: &'a RunStop,
    pub(crate) timers: TimerTest,
    /// Checks that were bad or worth a note before the load, by their names; `None`: no check was
    /// made.
    pub(crate) findings: Option<&'a [String]>,
    pub(crate) started: SystemTime,
    pub(crate) cost: Option<MeasuringCost>,
    pub(crate) trace: Option<TraceInfo>,
    /// Whether the parts are the tracer's.
    pub(crate) has_traced_parts: bool,
    /// Whom a server's requests waited for.
    pub(crate) traced_tables: TracedTables,
}

impl RunMeasurement<'_> {
    /// The run, complete with its verdict.
    pub(crate) fn record(
        &self,
        driven: LoadResult,
        mut observed: RunObservation,
        facts: TargetFacts,
        auto: Option<AutoRate>,
    ) -> Run {
        let rules = self.prepared.lexical_rules();
        let summary = RunSummary::new(&driven, &self.plan.workload, &rules);
        let window = self.window(&driven);
        let counts = driven.recorder.counts();
        let errors = &driven.recorder.errors;
        let messages = messages(errors, &self.plan.workload, &rules, &facts.target.url);
        let mut latency_us = summary.latency_us();
        latency_us.connect = summary::connect_us(&driven);
        let mut record = RunRecord {
            schema: SCHEMA,
            dbtime: env!("CARGO_PKG_VERSION").to_owned(),
            command: self.request.command.clone(),
            spec: self.request.is_described.then(|| self.request.spec.clone().into()),
            directory: directory(),
            started_at: timestamp(self.started),
            ended_at: timestamp(SystemTime::now()),
            environment: self.environment(&observed),
            workload: self.workload(),
            target: facts.target,
            load: self.load(auto, &window),
            counts,
            errors: errors.iter().map(|(code, error)| (code.clone(), error.count)).collect(),
            error_messages: messages,
            warnings: driven.recorder.warnings,
            throughput_tps: driven.recorder.completed_within() as f64 / window.measure_s.max(1e-9),
            latency_us,
            percentiles: summary.percentiles(),
            histogram: summary.histogram(),
            client: self.client(&driven, &observed, &window),
            server: server(&observed, &counts),
            connections: self.prepared.is_remote().then(|| summary::connections(&driven)),
            ..RunRecord::default()
        };
        let statements: u64 = summary.statements.iter().map(|one| one.round_trips).sum();
        record.round_trips_per_tx = counts.each(statements as f64);
        record.basis = self.basis();
        record.window = window;
        if self.plan.budget_every > 0 {
            self.budget(&summary, &mut record);
        }
        record.trace.clone_from(&self.trace);
        record.phases =
            observed.phases.iter().map(|phase| phase_time(phase, driven.start)).collect();
        let stalls = summary::stalls(&driven, self.measured(&driven), &observed.series);
        record.stalls = summary::spans(&driven, &stalls);
        record.operations = summary.operations;
        record.statements = summary.statements;
        record.validity.warnings = facts.warnings;
        // Adds warnings of its own.
        self.prepared.fill(&mut record, &self.plan.workload, statement_wall(&driven));
        self.waits(&mut record);
        self.offered(&driven, &mut observed.series);
        self.check(&driven, &summary.latencies, &observed.series, &mut record);
        fill_steadiness(&mut record, &observed.series, &summary.latencies.response);
        record.validity = judge(&record);
        // A server that was restarted in between has nothing to subtract.
        let counted = observed.server.counted.both();
        let counted = counted
            .and_then(|(before, after)| counters::recorded(before, after, counts.completed).ok());
        let counters;
        (record.counters, counters) = counted.unzip();
        if self.has_traced_parts {
            let device = observed.server.served.both();
            let device = device.and_then(|(began, ended)| ended.since(began));
            record.layers = server_layers(&record, counters.as_ref(), device.as_ref());
        }
        let series = observed.series.into_iter().map(SeriesRow::rounded).collect();
        // What a server counted is added by whoever asked it.
        let (transactions, responses) = (summary.transactions, observed.responses);
        let (sampled, server_seconds) = observed.server.sampled;
        record.sampled_counters = sampled;
        let stacks = self.folded_stacks();
        Run { record, series, transactions, responses, server_seconds, counters, stacks }
    }

    /// Whom and what a server's requests waited for, where the target itself does not know.
    fn waits(&self, record: &mut RunRecord) {
        let TracedTables { lock_holders, lock_chains, cpu_holders, file_waits, .. } =
            self.traced_tables.clone();
        record.lock_holders.extend(lock_holders);
        record.lock_chains = record.lock_chains.take().or(lock_chains);
        record.cpu_holders = cpu_holders;
        record.file_waits = record.file_waits.take().or(file_waits);
    }

    fn basis(&self) -> Basis {
        match self.plan.is_pooled() {
            true => Basis::Response,
            false => Basis::Service,
        }
    }

    fn folded_stacks(&self) -> FoldedStacks {
        let stacks = self.traced_tables.stacks.as_ref();
        stacks.map(|stacks| stacks.folded.clone()).unwrap_or_default()
    }

    /// What is known of the parts: where nothing was measured nothing, not even that it is zero.
    fn budget(&self, summary: &RunSummary, record: &mut RunRecord) {
        let (counts, sum) = (&record.counts, &summary.budget);
        let mean_all = record.budgeted_mean_us();
        let mean_measured = sum.response_ns as f64 / 1e3 / sum.count.max(1) as f64;
        let known = mean_all.filter(|all_us| sum.count > 0 && *all_us > 0.0);
        let chosen = if self.request.budget() == BudgetChoice::Auto {
            SamplingOrigin::Auto
        } else {
            SamplingOrigin::Given
        };
        record.budget = Some(BudgetInfo {
            every: self.plan.budget_every,
            sampled: sum.count,
            of: counts.completed + counts.failed + counts.unfinished,
            chosen,
            method: match self.has_traced_parts {
                true => BudgetMethod::Traced,
                false => self.prepared.budget_method(),
            },
            mean_off_pct: known.map(|all_us| 100.0 * (mean_measured / all_us - 1.0)),
            cost: self.cost,
            partly_measured: sum.partly_measured().iter().collect(),
            twice_us: (self.trace.is_some() && sum.count > 0).then(|| sum.mean_twice_us()),
        });
        (record.budget_us, record.budget_error) = summary::budget_us(sum);
    }

    fn check(
        &self,
        driven: &LoadResult,
        all: &Latencies<u64>,
        series: &[SeriesRow],
        record: &mut RunRecord,
    ) {
        let (own, extra) = (&self.request.workload.limits, &self.request.spec.limits);
        let counts = driven.recorder.counts();
        let run = RunTotals {
            latencies: all,
            counts: &counts,
            completed_within: driven.recorder.completed_within(),
            window_s: record.window.measure_s,
            noise: noise_bound(record),
            standstills: standstill_bound(record, series),
            errors_of_waits: errors_of_waits(&driven.recorder.errors),
            rest: record.window.ended_early.then(|| RunRest { planned: self.planned() }),
            demand: self.checked_demand(driven, record),
        };
        record.limits = checks::of_run(own, extra, &run);
        let described = self.request.workload.operations.iter().zip(&driven.recorder.operations);
        for (summary, (operation, recorded)) in record.operations.iter_mut().zip(described) {
            summary.limits = checks::of_operation(operation, extra, recorded, summary, &run);
        }
    }

    fn checked_demand(&self, driven: &LoadResult, record: &RunRecord) -> CheckedDemand {
        let counts = driven.recorder.counts();
        let is_open = matches!(self.plan.demand, LoadDemand::Open { .. });
        // At a rate the others have all of it.
        let connections = record.connections.as_ref().filter(|_| !is_open);
        let never_made = connections.and_then(|made| made.never_made).unwrap_or(0);
        CheckedDemand {
            is_open,
            most_tps: self.most_tps(driven, &record.window),
            unserved: counts.outstanding + counts.held + never_made,
            kept_back: self.kept_back(driven, &record.window),
        }
    }

    /// How many transactions those that never ended kept their clients from: of a schedule none.
    fn kept_back(&self, driven: &LoadResult, window: &WindowInfo) -> u64 {
        let LoadDemand::Closed { clients, .. } = &self.plan.demand else { return 0 };
        let counts = driven.recorder.counts();
        let all_s = f64::from(*clients) * window.measure_s;
        let share = driven.recorder.unfinished_in_window.as_secs() / all_s.max(1e-9);
        checks::kept_back(counts.completed + counts.failed + counts.unfinished, share)
    }

    /// The largest throughput that the load asks for; `None` where nothing bounds it, or the window
    /// goes on until so many have ended.
    fn most_tps(&self, driven: &LoadResult, window: &WindowInfo) -> Option<f64> {
        let is_timed = self.plan.transactions.is_none() && !driven.has_quit;
        let length = self.plan.measure.filter(|_| is_timed)?;
        if let LoadDemand::Closed { clients, think } = &self.plan.demand {
            return checks::most_with_pauses(*clients, think.as_ref()?.least(), length);
        }
        // What was due in the window, and what was left from before it.
        let offered = match window.ended_early {
            true => self.planned()?,
            false => driven.recorder.counts().offered as f64,
        };
        Some((offered + driven.recorder.carried_in as f64) / length.as_secs())
    }

    /// How many transactions the whole window was to have at most; `None` in a closed loop of a
    /// given length, and of those that are due all at once.
    fn planned(&self) -> Option<f64> {
        let counted = self.plan.transactions.map(|transactions| transactions as f64);
        counted.or_else(|| match (&self.plan.demand, self.plan.measure) {
            (LoadDemand::Open { rate, arrivals }, Some(length))
                if *arrivals != Arrivals::AtOnce =>
            {
                let end = self.plan.warmup + length;
                let mean = rate.mean(self.plan.warmup, end) * length.as_secs();
                // Random arrivals can be some more.
                Some(mean + 4.0 * mean.sqrt())
            }
            _ => None,
        })
    }

    fn window(&self, driven: &LoadResult) -> WindowInfo {
        let measured = self.measured(driven);
        WindowInfo {
            warmup_s: self.plan.warmup.as_secs(),
            measure_s: measured.length().as_secs(),
            planned_s: self.plan.measure.map(Nanos::as_secs),
            rundown_s: (driven.ended - measured.until).as_secs(),
            outside: driven.recorder.outside,
            ended_early: self.stop.is_set() && !self.is_whole(driven),
        }
    }

    /// The window, as far as it was measured.
    fn measured(&self, driven: &LoadResult) -> TimeSpan {
        let window = self.plan.window(driven.start);
        let last = if self.is_counted(driven) { driven.ended } else { window.end };
        TimeSpan { from: window.start, until: window.end.min(last).min(self.stop.instant()) }
    }

    /// Whether a number of transactions, or an early end, closes the window with what ended last.
    fn is_counted(&self, driven: &LoadResult) -> bool {
        self.plan.transactions.is_some() || self.plan.measure.is_none() || driven.has_quit
    }

    /// Whether a signal came behind all that was to be measured, and has taken nothing from it.
    fn is_whole(&self, driven: &LoadResult) -> bool {
        let counted = self.is_counted(driven);
        let is_all = match self.plan.transactions {
            Some(all) => driven.recorder.counts().offered >= all,
            None => !counted,
        };
        let end = self.plan.window(driven.start).end;
        let last = if counted { driven.ended } else { end.max(driven.ended) };
        is_all && self.stop.instant() > last
    }

    fn environment(&self, observed: &RunObservation) -> MachineEnvironment {
        let (begin, end) = &observed.machine;
        let mut used = end.since(begin);
        if used.wall_s < MIN_MACHINE_S {
            (used.steal_pct, used.foreign_pct) = (0.0, 0.0);
        }
        if let Some((begin, end)) = observed.server.samples.both() {
            // The server is no stranger.
            let server = end.since(begin).busy_cpus() * 100.0;
            used.foreign_pct = (used.foreign_pct - server).max(0.0);
        }
        if let Some(trace) = &self.trace {
            // Nor are the tracer's processes.
            used.foreign_pct = (used.foreign_pct - trace.own_cpu_pct()).max(0.0);
        }
        MachineEnvironment {
            steal_pct: used.steal_pct,
            foreign_cpu_pct: used.foreign_pct / f64::from(machine_cpus()),
            clock_read_ns: self.timers.clock_read_ns,
            timer_late_p50_us: self.timers.late_p50.as_micros(),
            timer_late_p99_us: self.timers.late_p99.as_micros(),
            probe_ns: self.prepared.probe_ns(),
            findings: self.findings.map(<[String]>::to_vec),
            ..environment()
        }
    }

    fn workload(&self) -> WorkloadInfo {
        let workload = &self.request.workload;
        let rows = workload
            .tables
            .iter()
            .map(|table| (table.name.clone(), table.row_count(self.plan.scale)));
        WorkloadInfo { name: workload.name.clone(), scale: self.plan.scale, rows: rows.collect() }
    }

    fn load(&self, auto: Option<AutoRate>, window: &WindowInfo) -> LoadInfo {
        let (load, server) = (&self.request.spec.load, self.request.server());
        let due = load.due();
        let (mode, rate, arrivals) = match &self.plan.demand {
            LoadDemand::Closed { .. } => (LoadMode::Closed, None, ArrivalProcess::Closed),
            LoadDemand::Open { rate, arrivals } => {
                (LoadMode::Open, Some(rate), arrivals.to_string().into())
            }
        };
        let at_once = due == Arrivals::AtOnce;
        let (from, to) =
            (self.plan.warmup, self.plan.warmup + Nanos::from_secs_f64(window.measure_s));
        let jitter_us = match (due, rate) {
            (Arrivals::Steady { jitter: Some(jitter) }, Some(_)) => Some(jitter.as_micros()),
            (Arrivals::Steady { jitter: None }, Some(Rate::Constant(rate))) => Some(1e5 / rate),
            _ => None,
        };
        LoadInfo {
            mode,
            rate_tps: rate.filter(|_| !at_once).map(|rate| rate.mean(from, to)),
            rate: rate.filter(|_| !at_once).map(|rate| match &auto {
                Some(auto) => format!("auto:{}%", auto.share_pct),
                None => rate.to_string(),
            }),
            auto,
            jitter_us,
            arrivals,
            connections: load.clients(),
            workers: load.workers,
            shards: self.prepared.is_sharded().then_some(self.plan.shards),
            think_us: load.think.map(|think| think.mean().as_micros()),
            think: load.think.map(|think| think.to_string()),
            on_backlog: self.plan.backlog.to_string().into(),
            reconnect: (server.reconnect == ReconnectPolicy::EveryTransaction)
                .then(|| "every-transaction".to_owned()),
            statement_timeout_us: server.statement_timeout.map(Nanos::as_micros),
            network_delay_us: server.network.delay.map(Nanos::as_micros),
            network_bits_per_s: server.network.rate.map(|rate| rate.0),
            seed: self.plan.seed,
        }
    }

    fn client(
        &self,
        driven: &LoadResult,
        observed: &RunObservation,
        window: &WindowInfo,
    ) -> ClientInfo {
        let (begin, end) = &observed.machine;
        let used = end.since(begin);
        let busiest = driven.threads.iter().map(|t| t.driver).max().unwrap_or_default();
        let runq = driven.threads.iter().map(|t| t.runq).collect::<Option<Vec<_>>>();
        let waited_s = driven.recorder.standstill_waits.as_secs();
        let ready = driven.recorder.ready_waits;
        ClientInfo {
            cpu_us_per_tx: driven.recorder.counts().each(used.process_s * 1e6),
            usr_pct: used.usr_pct,
            sys_pct: used.sys_pct,
            busy: (busiest.as_secs() / window.measure_s.max(1e-9)).min(1.0),
            threads_cpu_s: driven.threads.iter().map(|t| t.cpu).sum::<Nanos>().as_secs(),
            threads_runq_s: runq.map(|runq| runq.into_iter().sum::<Nanos>().as_secs()),
            ready_runq_s: ready.map(|waits| waits.all.as_secs()),
            own_contention_s: ready.map(|waits| waits.own.as_secs()),
            throttled_s: used.throttled.map(Nanos::as_secs),
            rss_peak_bytes: rss_peak_bytes(),
            network: driven.link.map(|link| NetworkUse {
                requests_pct: 100.0 * link.requests,
                answers_pct: 100.0 * link.answers,
            }),
            standstills: summary::spans(driven, &union(driven.recorder.standstills.clone())),
            standstill_waits_s: self.prepared.is_remote().then_some(waited_s),
            quit: driven.recorder.quit,
        }
    }

    /// Writes beside each second what was due in it.
    fn offered(&self, driven: &LoadResult, series: &mut [SeriesRow]) {
        let Some(queue) = self.plan.open_queue(driven.start, 0, 1) else { return };
        let stopped = self.stop.instant();
        let mut offered = vec![0u64; series.len()];
        for ticket in queue.take_while(|ticket| ticket.due < stopped) {
            let second = (ticket.due - driven.start).0 / 1_000_000_000;
            if let Some(count) = offered.get_mut(second as usize) {
                *count += 1;
            }
        }
        for (row, count) in series.iter_mut().zip(offered) {
            row.offered = Some(count);
        }
    }
}

/// What the server used in the window.
fn server(observed: &RunObservation, counts: &CountsInfo) -> Option<ServerInfo> {
    let (begin, end) = observed.server.samples.both()?;
    let used = end.since(begin);
    let idle = observed.server.idle.as_ref().and_then(|idle| idle.since(begin).memory);
    let wall_s = used.wall.as_secs();
    let per_tx = |cpu: Nanos| counts.each(cpu.as_micros());
    let pct = |cpu: Nanos| 100.0 * cpu.as_secs() / wall_s.max(1e-9);
    let by_thread = by_thread_name(begin, end).into_iter().map(|threads| ServerThreads {
        cpu_us_per_tx: per_tx(threads.resources.cpu),
        cpu_pct: pct(threads.resources.cpu),
        name: threads.name,
        threads: threads.threads,
    });
    Some(ServerInfo {
        cpu_us_per_tx: per_tx(used.resources.cpu),
        usr_pct: pct(used.split.user.unwrap_or_default()),
        sys_pct: pct(used.split.system.unwrap_or_default()),
        rss_bytes: used.memory.map(|memory| memory.rss_bytes),
        rss_peak_bytes: idle.or(used.memory).and_then(|memory| memory.rss_peak_bytes),
        rss_idle_bytes: idle.map(|memory| memory.rss_bytes),
        vsize_bytes: used.memory.map(|memory| memory.vsize_bytes),
        cpu_s: used.resources.cpu.as_secs(),
        wall_s,
        cpus: end.processes.first().map_or(0, |root| cpus_of(root.id.pid)),
        processes: used.processes,
        threads: used.threads,
        run_delay_s: used.resources.run_delay.map(Nanos::as_secs),
        voluntary_switches: used.resources.switches.map(|switches| switches.voluntary),
        involuntary_switches: used.resources.switches.map(|switches| switches.involuntary),
        read_bytes: used.resources.io.map(|io| io.read_bytes),
        written_bytes: used.resources.io.map(|io| io.written_bytes),
        read_calls: used.resources.io.map(|io| io.read_calls),
        write_calls: used.resources.io.map(|io| io.write_calls),
        by_thread: by_thread.collect(),
    })
}

/// An instant as the record has it.
fn phase_time(instant: &PhaseInstant, start: MonoNanos) -> PhaseTime {
    let after_ns = instant.at.0.cast_signed() - start.0.cast_signed();
    PhaseTime { phase: instant.phase, at_s: after_ns as f64 / 1e9 }
}

/// Time inside all statements of the window.
fn statement_wall(driven: &LoadResult) -> Nanos {
    let of = |s: &StatementRecorder<u64>| s.service.mean_ns() * s.service.count() as f64;
    Nanos(driven.recorder.statements.iter().map(of).sum::<f64>() as u64)
}

/// How many errors may have had a wait as their reason.
fn errors_of_waits(errors: &BTreeMap<String, ErrorCount>) -> u64 {
    let of_waits = errors.values().filter(|error| error.class.may_follow_from_waits());
    of_waits.map(|error| error.count).sum()
}

/// An example of what the database said to each error, where it said something, without what it
/// repeats of the statements.
fn messages(
    errors: &BTreeMap<String, ErrorCount>,
    workload: &Workload,
    rules: &LexicalRules,
    target: &str,
) -> BTreeMap<String, String> {
    if errors.values().all(|error| error.message.is_empty()) {
        return BTreeMap::new();
    }
    let statements = workload.executed_statements();
    let texts = statements.iter().map(|statement| statement.kind.text());
    let shapes = StatementShapes::of(texts, rules).with_names(target);
    let explained = errors.iter().filter(|(_, error)| !error.message.is_empty());
    let shown = |code: &str, message: &str| shapes.without_repeated(code, message).into_owned();
    explained.map(|(code, error)| (code.clone(), shown(code, &error.message))).collect()
}

/// UTC, RFC 3339, to the millisecond.
fn timestamp(at: SystemTime) -> String {
    jiff::Timestamp::try_from(at).map_or_else(|_| String::new(), |at| format!("{at:.3}"))
}

/// The folder that relative paths of the command line are relative to.
fn directory() -> String {
    std::env::current_dir().map_or(String::new(), |path| path.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::{ErrorClass, SqlDialect};

    #[test]
    fn what_a_server_repeats_of_a_password_is_in_no_message() {
        let told = |sql: &str, code: &str, message: &str| {
            let message = message.to_owned();
            let error = ErrorCount { count: 1, class: ErrorClass::Statement, message };
            let errors = BTreeMap::from([(code.to_owned(), error)]);
            let workload = Workload::from_sql(sql).expect("a statement");
            let rules = LexicalRules::unknown(SqlDialect::Mysql);
            messages(&errors, &workload, &rules, "mysql://u@h/shop")[code].clone()
        };
        let about_login = "ALTER ROLE r PASSWORD 'hush'";
        let near = "near 'PASSWORD 'hush'' at line 1";
        assert_eq!(told(about_login, "1064", near), "near ***");
        assert_eq!(told("SELECT 1", "1064", near), "near '***' at line 1");
        assert_eq!(told(about_login, "42601", "Syntaxfehler bei »hush«"), "Syntaxfehler bei ***");
        assert_eq!(told("SELECT 1", "1062", "Duplicate entry '5'"), "Duplicate entry '5'");
        let missing = told("SELECT 1 FROM t", "1146", "Table 'shop.hush' doesn't exist");
        assert_eq!(missing, "Table 'shop.?' doesn't exist");
    }
}
