//! The tracer beside a run, from before its first connection to the parts that it adds. A run that
//! cannot be traced goes on, and says so.

use crate::error::LabError;
use crate::observers::{DrivenLog, RunObserver, driven_unwritten};
use crate::request::RunRequest;
use crate::statements::StatementLog;
use crate::store::RunStore;
use crate::targets::PreparedTarget;
use dbtime_engines::drive::plan::{LoadPlan, LoadResult};
use dbtime_model::record::{
    BudgetCpuHolder, BudgetFileWait, BudgetLockChain, BudgetLockHolder, FoldedStacks, JoinCounts,
    StacksInfo, TraceInfo, Warning, WarningKind, file,
};
use dbtime_model::traced_ledger::TraceLedger;
use dbtime_model::units::{count, counted};
use dbtime_model::{Nanos, Recorder};
use dbtime_observe::process::{ThreadOwner, shares_network};
use dbtime_observe::trace::{TraceError, missing_rights, require_machines_numbers};

/// Fewer matched statements than this are worth a warning. Unit: percent.
const MIN_MATCHED_PCT: f64 = 99.9;

/// A tracer of the server that is driven.
pub(crate) trait ServerTracer: RunObserver {
    /// Ends the watching for now, or goes on with it; whether it did.
    fn watch(&mut self, is_on: bool) -> bool;

    /// Forgets what it has seen so far: loads before the run.
    fn discard(&mut self);

    /// Ends the watching. What was seen of it is there also where the tracer ended before.
    fn finish(self: Box<Self>) -> TraceObservation;
}

/// What a tracer has seen of a run.
pub(crate) struct TraceObservation {
    /// The parts of transactions all of whose statements were matched; `None`: the load has not
    /// started.
    pub(crate) recorder: Option<Recorder>,
    /// Whom and what these waited for.
    pub(crate) tables: TracedTables,
    /// For the record.
    pub(crate) info: TraceInfo,
    /// Why that is not all; `None`: the tracer was there to the end.
    pub(crate) failure: Option<TraceFailure>,
    /// What is wrong with the file of statements.
    pub(crate) warnings: Vec<Warning>,
}

/// Whom and what the transactions of the window waited for.
#[derive(Clone, Debug, Default)]
pub(crate) struct TracedTables {
    /// Who let the locks go.
    pub(crate) lock_holders: Vec<BudgetLockHolder>,
    /// What the holders of the locks did meanwhile; `None`: nothing was traced.
    pub(crate) lock_chains: Option<Vec<BudgetLockChain>>,
    /// Who had the CPU; `None` likewise.
    pub(crate) cpu_holders: Option<Vec<BudgetCpuHolder>>,
    /// The files; `None` likewise.
    pub(crate) file_waits: Option<Vec<BudgetFileWait>>,
    /// Where the server's threads were; `None`: stacks were not traced.
    pub(crate) stacks: Option<TracedStacks>,
}

/// Where the threads of the server were.
#[derive(Clone, Debug)]
pub(crate) struct TracedStacks {
    /// For the record.
    pub(crate) info: StacksInfo,
    /// The record's files.
    pub(crate) folded: FoldedStacks,
}

/// The early end of a tracer.
pub(crate) struct TraceFailure {
    /// When it was noticed, after the start of the load; `None`: before that.
    pub(crate) into_load: Option<Nanos>,
    /// Its cause.
    pub(crate) error: LabError,
}

/// What the tracing of a run came to.
#[derive(Default)]
pub(crate) struct TraceResult {
    /// For the record; `None`: nothing was traced.
    pub(crate) info: Option<TraceInfo>,
    /// Whether the parts in the load's result are the tracer's.
    pub(crate) has_parts: bool,
    /// Whom and what the transactions with these parts waited for.
    pub(crate) tables: TracedTables,
    /// What readers of the record must know.
    pub(crate) warnings: Vec<Warning>,
}

/// The tracing of a run.
#[derive(Default)]
pub(crate) struct RunTrace {
    tracer: Option<Box<dyn ServerTracer>>,
    /// The driver's side alone, of a run that is to be joined with a trace later.
    driven: Option<DrivenLog>,
    warnings: Vec<Warning>,
}

impl RunTrace {
    /// Begins to trace where the request has it so, and the file of statements in the record. To be
    /// called before the load connects, so that logins and the statements that are prepared are
    /// seen.
    pub(crate) fn begin(
        request: &RunRequest,
        plan: &LoadPlan,
        prepared: &dyn PreparedTarget,
        store: Option<&RunStore>,
    ) -> Self {
        let window = &request.spec.window;
        match store.filter(|_| window.statements) {
            Some(store) => return Self::beside_no_tracer(plan, prepared, store),
            None if !window.trace => return Self::default(),
            None => {}
        }
        match attach(request, plan, prepared, store) {
            Ok((tracer, warnings)) => Self { tracer: Some(tracer), warnings, ..Self::default() },
            Err(error) => Self { warnings: vec![untraced(&error)], ..Self::default() },
        }
    }

    /// Records the driver's side.
    fn beside_no_tracer(plan: &LoadPlan, prepared: &dyn PreparedTarget, store: &RunStore) -> Self {
        match DrivenLog::create(&store.file(file::DRIVEN), plan, prepared.lexical_rules()) {
            Ok(log) => Self { driven: Some(log), ..Self::default() },
            Err(error) => Self { warnings: vec![driven_unwritten(&error)], ..Self::default() },
        }
    }

    /// Whether a tracer is there.
    pub(crate) fn is_attached(&self) -> bool {
        self.tracer.is_some()
    }

    /// Ends the watching for now, or goes on with it; whether it did.
    pub(crate) fn watch(&mut self, is_on: bool) -> bool {
        self.tracer.as_mut().is_some_and(|tracer| tracer.watch(is_on))
    }

    /// Forgets what was seen so far.
    pub(crate) fn discard(&mut self) {
        self.tracer.iter_mut().for_each(|tracer| tracer.discard());
    }

    /// What observes the load's statements, if anything does.
    pub(crate) fn observer(&mut self) -> Option<&mut dyn RunObserver> {
        let tracer = self.tracer.as_deref_mut().map(|tracer| tracer as &mut dyn RunObserver);
        tracer.or(self.driven.as_mut().map(|log| log as &mut dyn RunObserver))
    }

    /// Puts the parts that the tracer saw in the place of those of the load, as far as there are
    /// any.
    pub(crate) fn finish(self, driven: &mut LoadResult) -> TraceResult {
        let Self { tracer, driven: log, mut warnings } = self;
        warnings.extend(log.and_then(DrivenLog::finish));
        let Some(tracer) = tracer else { return TraceResult { warnings, ..Default::default() } };
        let observation = tracer.finish();
        let TraceObservation { recorder, tables, info, failure, warnings: of_file } = observation;
        warnings.extend(of_file);
        // None of the window's where the tracer ended in the warm-up.
        let recorder = recorder.filter(has_parts);
        let has_parts = recorder.is_some();
        let tables = if has_parts { tables } else { TracedTables::default() };
        if let Some(recorder) = recorder {
            driven.recorder.replace_parts(recorder);
        }
        warnings.extend(match &failure {
            Some(failure) => Some(ended_early(failure, &info.join, has_parts)),
            None if has_parts => unmatched(&info.join),
            None => unsplit(&info.join),
        });
        warnings.extend(info.ledger.as_ref().and_then(missed));
        TraceResult { info: Some(info), has_parts, tables, warnings }
    }
}

/// Whether any transaction of the window has them.
pub(crate) fn has_parts(recorder: &Recorder) -> bool {
    recorder.budget().count > 0
}

/// A tracer, and what is wrong with what it is to write.
type AttachedTracer = (Box<dyn ServerTracer>, Vec<Warning>);

fn attach(
    request: &RunRequest,
    plan: &LoadPlan,
    prepared: &dyn PreparedTarget,
    store: Option<&RunStore>,
) -> Result<AttachedTracer, LabError> {
    require_machines_numbers()?;
    let server = prepared.traced_pid().ok_or_else(no_server)?;
    let rules = prepared.lexical_rules();
    let (stacks, note) = (request.spec.window.stacks, request.note);
    let attached = crate::observers::RunTracer::attach(server, plan, rules, stacks, note);
    let mut tracer = attached.map_err(no_server_behind)?;
    // Of another network the names of clients are not the driver's, and may be so by number.
    if request.server().network.rate.is_some() || !shares_network(server) {
        tracer.ignore_arrivals();
    }
    let mut warnings = Vec::new();
    if let Some(store) = store {
        let path = store.file(file::STATEMENTS);
        match StatementLog::create(&path, plan.workload.clone()) {
            Ok(log) => tracer.write_to(log),
            Err(error) => warnings.push(crate::statements::unwritten(&error)),
        }
    }
    Ok((Box::new(tracer), warnings))
}

/// Whoever may not look at the processes of others does not see theirs.
pub(crate) fn no_server() -> LabError {
    let why = match missing_rights() {
        Some(missing) => format!(
            "no process of the server was found; to see processes of other users, dbtime needs \
             {missing}"
        ),
        None => format!("no process of the server was found on this machine; {JOIN}"),
    };
    LabError::Target(why)
}

/// What to do about a server that is not here.
const JOIN: &str = "if it runs elsewhere, record a trace there (dbtime trace --record) of a run \
                    with --statements, and join both (dbtime join)";

/// What listens where the load connects to may forward that.
pub(crate) fn no_server_behind(error: LabError) -> LabError {
    let LabError::Trace(TraceError::NoServer { process }) = error else { return error };
    let name = ThreadOwner::of(process).map_or_else(String::new, |one| format!(" ({})", one.name));
    LabError::Target(format!(
        "process {process}{name} listens at the target's address, and is no server that dbtime \
         knows; if it forwards to one, its server was not found on this machine: {JOIN}"
    ))
}

/// That nothing was traced, for people.
pub(crate) fn untraced(error: &LabError) -> Warning {
    without_parts(format!("not traced: {error}"))
}

/// That of no transaction it is known what the server did, for people.
pub(crate) fn without_parts(text: String) -> Warning {
    let remedy = "the server's time stays one number, `server_and_wire`".to_owned();
    Warning { kind: WarningKind::Untraced, text, remedy }
}

/// A tracer that was not there to the end.
fn ended_early(failure: &TraceFailure, join: &JoinCounts, has_parts: bool) -> Warning {
    let TraceFailure { into_load, error } = failure;
    let (Some(into_load), true) = (into_load, has_parts) else { return untraced(error) };
    let (traced, left_out) = (count(join.transactions), count(join.left_out));
    Warning {
        kind: WarningKind::Untraced,
        text: format!(
            "not traced from {into_load} after the start of the load: {error}; \
             transactions with parts: {traced}, without: {left_out}"
        ),
        remedy: "the parts are those of the transactions that were traced".to_owned(),
    }
}

/// Requests that the kernel may not have told of are in no part.
fn missed(ledger: &TraceLedger) -> Option<Warning> {
    (ledger.missed_events > 0).then(|| Warning {
        kind: WarningKind::Untraced,
        text: format!(
            "{}, of any process, may have been missed by the tracer: requests may be missing",
            counted(ledger.missed_events, "event")
        ),
        remedy: "repeat the run with free CPUs: the kernel then reports all events".to_owned(),
    })
}

/// The parts are the load's own, whatever was watched: no transaction was matched.
fn unsplit(join: &JoinCounts) -> Option<Warning> {
    let pct = join.matched_pct().filter(|pct| *pct < MIN_MATCHED_PCT)?;
    let whole = without_parts(format!(
        "not split by the trace: {pct:.2} % of the statements were matched with requests that the \
         tracer saw, and no transaction of the window with all of its statements"
    ));
    let remedy = format!(
        "{}; a pooler between load and server has connections of its own: trace a run without it, \
         or the server alone (dbtime trace)",
        whole.remedy
    );
    Some(Warning { remedy, ..whole })
}

pub(crate) fn unmatched(join: &JoinCounts) -> Option<Warning> {
    let pct = join.matched_pct().filter(|pct| *pct < MIN_MATCHED_PCT)?;
    Some(Warning {
        kind: WarningKind::Unmatched,
        text: format!(
            "{pct:.2} % of the statements were matched with requests that the tracer saw: {} \
             transactions are in the parts, {} are not",
            join.transactions, join.left_out
        ),
        remedy: "see `trace` in run.json for what the tracer lost".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::recorder::Window;
    use dbtime_model::{MonoNanos, OperationId, Outcome, Part, Parts, RunPhase, Sample};

    struct EndedTracer(TraceObservation);

    impl RunObserver for EndedTracer {
        fn reached(&mut self, _: RunPhase, _: MonoNanos) {}
    }

    impl ServerTracer for EndedTracer {
        fn watch(&mut self, _: bool) -> bool {
            false
        }

        fn discard(&mut self) {}

        fn finish(self: Box<Self>) -> TraceObservation {
            self.0
        }
    }

    const WINDOW: Window = Window { start: MonoNanos(1_000), end: MonoNanos(9_000) };

    /// A tracer that ended after one transaction was traced, and three were not.
    fn ended_tracer(due: MonoNanos, into_load: Option<Nanos>) -> RunTrace {
        let mut recorder: Recorder = Recorder::new(WINDOW, 1, 0, 1);
        let done = due + Nanos(300);
        let (operation, outcome) = (OperationId(0), Outcome::Completed);
        let (late, retries) = (Nanos::ZERO, 0);
        let sample = Sample { operation, outcome, due, ready: due, sent: due, done, late, retries };
        recorder.record_parts(&sample, &Parts::only(Part::Cpu, 300));
        let join = JoinCounts { transactions: 1, left_out: 3, ..JoinCounts::default() };
        let info = TraceInfo { join, ..TraceInfo::default() };
        let error = LabError::Target("the reader was ended by signal 9".to_owned());
        let failure = Some(TraceFailure { into_load, error });
        let recorder = Some(recorder);
        let observation = TraceObservation {
            recorder,
            tables: TracedTables::default(),
            info,
            failure,
            warnings: Vec::new(),
        };
        RunTrace { tracer: Some(Box::new(EndedTracer(observation))), ..RunTrace::default() }
    }

    /// As behind a pooler: no statement was matched.
    #[test]
    fn a_trace_that_matches_no_transaction_says_that_the_parts_are_not_its() {
        let join = JoinCounts { unmatched: 40, left_out: 10, ..JoinCounts::default() };
        let observation = TraceObservation {
            recorder: Some(Recorder::new(WINDOW, 1, 0, 1)),
            tables: TracedTables::default(),
            info: TraceInfo { join, ..TraceInfo::default() },
            failure: None,
            warnings: Vec::new(),
        };
        let tracer: Box<dyn ServerTracer> = Box::new(EndedTracer(observation));
        let (result, _) = finish(RunTrace { tracer: Some(tracer), ..RunTrace::default() });
        assert!(!result.has_parts);
        let [warning] = &result.warnings[..] else { panic!("{:?}", result.warnings) };
        assert_eq!(warning.kind, WarningKind::Untraced);
        assert!(warning.text.contains("0.00 % of the statements were matched"), "{}", warning.text);
        assert!(!warning.text.contains("in the parts"), "{}", warning.text);
    }

    fn finish(trace: RunTrace) -> (TraceResult, u64) {
        let mut driven = LoadResult {
            start: MonoNanos(0),
            ended: WINDOW.end,
            recorder: Recorder::new(WINDOW, 1, 0, 1),
            threads: Vec::new(),
            link: None,
            has_quit: false,
        };
        let result = trace.finish(&mut driven);
        (result, driven.recorder.operations[0].cells.total().count)
    }

    #[test]
    fn what_was_traced_before_the_tracer_ended_is_kept() {
        let trace = ended_tracer(MonoNanos(2_000), Some(Nanos::from_millis(2_100)));
        let (result, measured) = finish(trace);
        assert_eq!((result.has_parts, measured), (true, 1));
        assert_eq!(result.info.map(|info| info.join.left_out), Some(3));
        let [warning] = &result.warnings[..] else { panic!("{:?}", result.warnings) };
        assert_eq!(warning.kind, WarningKind::Untraced);
        let text = "not traced from 2.10 s after the start of the load: the reader was ended by \
                    signal 9; transactions with parts: 1, without: 3";
        assert_eq!(warning.text, text);
    }

    #[test]
    fn the_loads_own_parts_stay_where_none_of_the_window_were_traced() {
        for (due, into_load) in [(500, Some(Nanos(900))), (500, None)] {
            let (result, measured) = finish(ended_tracer(MonoNanos(due), into_load));
            assert_eq!((result.has_parts, measured), (false, 0));
            assert_eq!(result.info.map(|info| info.join.transactions), Some(1));
            let [warning] = &result.warnings[..] else { panic!("{:?}", result.warnings) };
            assert_eq!(warning.kind, WarningKind::Untraced);
            assert_eq!(warning.text, "not traced: the reader was ended by signal 9");
            assert!(warning.remedy.contains("server_and_wire"), "{}", warning.remedy);
        }
    }
}
