//! Targets: what the load is driven against, from its name to its figures. A file each; to add one,
//! add its file, and its form in `target_form.rs`.

mod null;
mod private;
mod room;
mod server;
mod server_process;
mod sqlite;
mod target_form;

use crate::counters::CounterSampler;
pub(crate) use room::megabytes;
pub(crate) use server::server_of;
pub(crate) use server_process::traced_pid_of;
pub use target_form::TargetForm;

use crate::data_snapshot::make_place;
use crate::doctor::{PlannedServerUse, TargetLook};
use crate::error::LabError;
use crate::progress::RunProgress;
use crate::query::QueryPlace;
use crate::request::{RunRequest, private_flag};
use crate::second_sampler::SecondSampler;
use dbtime_engines::drive::observer::LoadObserver;
use dbtime_engines::drive::plan::{LoadPlan, LoadResult, RunStop};
use dbtime_engines::load_marker::ReplaceScope;
use dbtime_engines::server::LoadedRows;
use dbtime_load::workload::Workload;
use dbtime_model::doctor::{DoctorFinding, FindingGrade, FindingScope};
use dbtime_model::record::{BudgetMethod, RunRecord, TargetInfo, Warning};
use dbtime_model::units::counted;
use dbtime_model::{MonoNanos, Nanos};
use dbtime_sql::LexicalRules;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// What the load is driven against.
#[derive(Clone, Debug)]
pub struct Target(Arc<dyn TargetKind>);

/// Whom progress is told.
pub(crate) type ProgressListener<'a> = &'a (dyn Fn(RunProgress) + Sync);

/// A kind of target, as it was named.
trait TargetKind: fmt::Debug + Send + Sync {
    /// Refuses what it cannot have or do, as far as that is seen without touching a machine.
    fn check(&self, _request: &RunRequest) -> Result<(), LabError> {
        Ok(())
    }

    /// Makes it ready: a temporary one is created and loaded, a given one is checked.
    fn prepare(
        &self,
        request: &RunRequest,
        progress: ProgressListener<'_>,
        stop: &RunStop,
    ) -> Result<Box<dyn PreparedTarget>, LabError>;

    /// Whether the run starts it.
    fn is_private(&self) -> bool {
        false
    }

    /// Whether it is a server, with connections to it.
    fn is_server(&self) -> bool {
        self.is_private()
    }

    /// Whether it is a server of another machine.
    fn is_elsewhere(&self) -> bool {
        false
    }

    /// Whether connections to it go over a Unix socket.
    fn is_over_socket(&self) -> bool {
        false
    }

    /// Whether a run makes it and loads its data.
    fn loads(&self) -> bool {
        self.is_private()
    }

    /// Whether it is driven by an event loop, whose connections may be divided among threads.
    fn has_shards(&self) -> bool {
        self.is_server()
    }

    /// Makes it where it is not there and that takes no more than a file.
    fn create(&self) -> Result<(), LabError> {
        Ok(())
    }

    /// Where statements can be sent to: only what is there before a run.
    fn place(&self) -> Result<Box<dyn QueryPlace>, LabError> {
        Err(no_place())
    }

    fn sampler(&self) -> Result<Box<dyn CounterSampler>, LabError>;

    /// What its settings and its data do to figures, as far as it answers until then; empty where
    /// it has neither. Changes nothing.
    fn look(&self, _planned: &PlannedServerUse, _until: MonoNanos) -> TargetLook {
        TargetLook::default()
    }

    /// Creates and loads a workload's tables. Returns a sentence on what was done.
    fn init(
        &self,
        data: &Dataset<'_>,
        progress: ProgressListener<'_>,
        stop: &RunStop,
    ) -> Result<String, LabError>;
}

/// What a target is filled with: rows that are a pure function of the first three.
#[derive(Clone, Copy, Debug)]
pub struct Dataset<'a> {
    /// Whose tables they are for.
    pub workload: &'a Workload,
    /// How many times the workload's base size.
    pub scale: u64,
    /// What they are drawn from.
    pub seed: u64,
    /// What they may stand in the place of.
    pub replacing: ReplaceScope,
}

/// A target that is ready to be driven. A temporary one is removed when this is dropped.
pub(crate) trait PreparedTarget: Sync {
    /// How many times the workload's base size its data has.
    fn scale(&self) -> u64;

    /// Drives a load against it and blocks until it has ended.
    fn drive(
        &self,
        plan: &LoadPlan,
        observer: &dyn LoadObserver,
        stop: &RunStop,
    ) -> Result<LoadResult, LabError>;

    /// What is known before the load starts. Executes nothing but the statements' preparation, so
    /// that a statement the database refuses is known before the run. `stop` ends it early.
    fn facts(&self, plan: &LoadPlan, stop: &RunStop) -> Result<TargetFacts, LabError>;

    /// How it reads the texts of statements.
    fn lexical_rules(&self) -> LexicalRules;

    /// Whether it was made for this run and holds nothing but the workload's own tables.
    fn is_fresh(&self) -> bool {
        false
    }

    /// Whether it is driven by an event loop.
    fn is_sharded(&self) -> bool;

    /// What measuring one statement costs here and now, in nanoseconds.
    fn probe_ns(&self) -> f64 {
        0.0
    }

    /// How the parts inside its statements are told apart.
    fn budget_method(&self) -> BudgetMethod {
        BudgetMethod::Instants
    }

    /// What probing every transaction of the last load would have cost in all, in nanoseconds.
    fn probing_cost_ns(&self) -> f64 {
        0.0
    }

    /// Whether there are connections that can be lost.
    fn is_remote(&self) -> bool {
        false
    }

    /// What samples its counters while it is driven; `None` where nothing counts.
    fn sampler(&self) -> Option<Box<dyn CounterSampler>> {
        None
    }

    /// What samples a few of its counters every second while it is driven; `None` where nothing
    /// counts, or nobody may look.
    fn second_sampler(&self) -> Option<SecondSampler> {
        None
    }

    /// The process of a server on this machine.
    fn server_pid(&self) -> Option<u32> {
        None
    }

    /// The same of a server to be traced, which may be behind something that only passes on.
    fn traced_pid(&self) -> Option<u32> {
        self.server_pid()
    }

    /// Puts what a server wrote into the record's folder.
    fn keep_log(&self, _folder: &Path) -> io::Result<()> {
        Ok(())
    }

    /// Adds to the record what only this target knows.
    fn fill(&self, _record: &mut RunRecord, _workload: &Workload, _statement_wall: Nanos) {}
}

/// What is known of a target before the load starts.
#[derive(Clone, Default)]
pub(crate) struct TargetFacts {
    /// For the record.
    pub(crate) target: TargetInfo,
    /// What a reader must know of it.
    pub(crate) warnings: Vec<Warning>,
    /// What checks of the server find.
    pub(crate) findings: Vec<DoctorFinding>,
}

impl Target {
    /// Whether a run makes it and loads its data.
    pub fn loads_data(&self) -> bool {
        self.0.loads()
    }

    /// Refuses what cannot be run on it, as far as that is seen without touching a machine.
    pub(crate) fn check(&self, request: &RunRequest) -> Result<(), LabError> {
        let scale = request.spec.workload.scale.unwrap_or(1);
        request.workload.check_scale(scale).map_err(|e| LabError::Usage(e.to_string()))?;
        if let (Some(flag), false) = (private_flag(&request.spec.target), self.0.is_private()) {
            return Err(LabError::Usage(format!(
                "{flag} is for a private server: --target mariadb, mysql or postgres"
            )));
        }
        if request.snapshots.is_some() && !self.0.loads() {
            return Err(LabError::Usage(
                "--snapshots is for data that the run loads: --target sqlite, mariadb, mysql or \
                 postgres; of a database that is there, dbtime changes no file"
                    .to_owned(),
            ));
        }
        self.0.check(request)
    }

    /// Makes the target ready: a temporary one is created and loaded, a given one is checked.
    ///
    /// Errors: each names the cause and what to do, where it can the command.
    pub(crate) fn prepare(
        &self,
        request: &RunRequest,
        progress: ProgressListener<'_>,
        stop: &RunStop,
    ) -> Result<Box<dyn PreparedTarget>, LabError> {
        request.check()?;
        let place = request.snapshots.as_deref();
        let _made = place.map(|folder| make_place("--snapshots", folder)).transpose()?;
        self.0.prepare(request, progress, stop)
    }

    /// Whether it is a server, with connections to it.
    pub fn is_server(&self) -> bool {
        self.0.is_server()
    }

    /// Whether it is a server of another machine.
    pub fn is_elsewhere(&self) -> bool {
        self.0.is_elsewhere()
    }

    /// Whether connections to it go over a Unix socket.
    pub fn is_over_socket(&self) -> bool {
        self.0.is_over_socket()
    }

    /// Whether it is driven by an event loop, whose connections may be divided among threads.
    pub fn has_shards(&self) -> bool {
        self.0.has_shards()
    }

    /// Makes the target where it is not there and that takes no more than a file.
    ///
    /// Errors: when the file cannot be made.
    pub fn create(&self) -> Result<(), LabError> {
        self.0.create()
    }

    /// Where statements can be sent to. Nothing is connected to yet.
    ///
    /// # Errors
    /// [`LabError::Usage`] for a target that is not there before a run.
    pub(crate) fn place(&self) -> Result<Box<dyn QueryPlace>, LabError> {
        self.0.place()
    }

    /// What samples the counters of a target that is there.
    ///
    /// Errors: [`LabError::Usage`] for a target that counts nothing, [`LabError::Target`] for one
    /// that cannot be read.
    pub fn sampler(&self) -> Result<Box<dyn CounterSampler>, LabError> {
        self.0.sampler()
    }

    /// What its settings and its data do to figures, as far as it answers until then; for a target
    /// that a run makes, that it is not there. Changes nothing.
    pub(crate) fn look(&self, planned: &PlannedServerUse, until: MonoNanos) -> TargetLook {
        match self.0.loads() {
            true => TargetLook::of(vec![not_there()]),
            false => self.0.look(planned, until),
        }
    }

    /// Creates and loads a workload's tables. Returns a sentence on what was done.
    ///
    /// Errors: as for a run on it.
    pub fn init(
        &self,
        data: &Dataset<'_>,
        progress: ProgressListener<'_>,
        stop: &RunStop,
    ) -> Result<String, LabError> {
        data.workload.check_scale(data.scale).map_err(|e| LabError::Usage(e.to_string()))?;
        self.0.init(data, progress, stop)
    }
}

/// That there is nothing to send statements to before a run.
fn no_place() -> LabError {
    LabError::Usage(
        "a statement needs a database that is there: name one with --target, such as \
         mysql://USER@HOST/DATABASE or sqlite:PATH, or copy one with --on-copy FILE.db"
            .to_owned(),
    )
}

/// That a target of a run cannot be examined before the run.
fn not_there() -> DoctorFinding {
    DoctorFinding {
        id: "target".to_owned(),
        scope: FindingScope::Server,
        grade: FindingGrade::Unknown,
        value: String::new(),
        expected: "a server or a file that is there".to_owned(),
        source: "--target".to_owned(),
        because:
            "each run makes it and removes it: name a server or a file that is there, such as \
                  mysql://USER@HOST/DATABASE or sqlite:PATH"
                .to_owned(),
        costs: String::new(),
        fix: String::new(),
        undo: String::new(),
    }
}

/// Lets the process open as many files as so many workers or connections need. `what` says what
/// there are too many of, and how to have fewer.
fn allow_files(needed: u64, what: &str) -> Result<(), LabError> {
    let needed = 256 + needed;
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    let raised =
        Rlimit { current: limit.maximum.map(|most| most.min(needed)).or(Some(needed)), ..limit };
    let granted = setrlimit(Resource::Nofile, raised).is_ok();
    if granted && raised.current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    Err(LabError::Target(format!(
        "{what} need {needed} open files, and this process may open {}: raise the hard limit \
         (ulimit -Hn) or use fewer of them",
        limit.maximum.or(limit.current).unwrap_or(0)
    )))
}

/// What was done by a load: `atm at scale 1: 100,110 rows loaded into TARGET in 1.2 s`, with what
/// it replaced.
fn load_summary(
    data: &Dataset<'_>,
    loaded: &LoadedRows,
    target: &dyn fmt::Display,
    took: Nanos,
) -> String {
    let (name, scale, rows) = (&data.workload.name, data.scale, counted(loaded.rows, "row"));
    let replaced = loaded.replaced.as_ref();
    let replaced = replaced.map_or(String::new(), |what| format!(", in the place of {what}"));
    format!("{name} at scale {scale}: {rows} loaded into {target} in {took}{replaced}")
}
