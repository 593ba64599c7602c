//! Targets: what the load is driven against, from its name to its figures.

use crate::error::LabError;
use crate::progress::Progress;
use crate::request::{BudgetChoice, RunRequest};
use crate::scratch::Scratch;
use dbtime_engines::null::{self, NullTarget};
use dbtime_engines::plan::{Driven, Plan, SecondSink, Stop};
use dbtime_engines::pool;
use dbtime_engines::sqlite::{
    self, LoadMarker, Measure, SqliteAdmin, SqliteDatabase, SqliteError, SqliteFacts, SqliteTarget,
    WorkerFigures,
};
use dbtime_engines::sqlite_pool::SqlitePool;
use dbtime_load::workload::Workload;
use dbtime_model::record::{RunRecord, TargetInfo, Warning, WarningKind};
use dbtime_model::{MonoNanos, Nanos};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

/// What the load is driven against. To add an engine, add a variant here and its arms in
/// [`crate::run`].
#[derive(Clone, Debug)]
pub enum Target {
    /// Nothing: the driver itself is measured.
    Null {
        /// How long it takes over a statement.
        target: NullTarget,
        /// As given.
        url: String,
    },
    /// An SQLite database.
    Sqlite {
        /// Where, and with which settings; the path counts for nothing when `temporary`.
        target: SqliteTarget,
        /// Whether it is made, loaded and removed by the run.
        temporary: bool,
        /// As given.
        url: String,
    },
}

/// The forms `--target` takes.
const FORMS: [&str; 3] = ["sqlite", "sqlite:PATH", "null"];

impl FromStr for Target {
    type Err = LabError;

    fn from_str(text: &str) -> Result<Self, LabError> {
        let usage = |error: &dyn std::fmt::Display| LabError::Usage(error.to_string());
        let scheme = text.split([':', '?']).next().unwrap_or(text);
        match scheme {
            "null" => {
                let target = text.parse().map_err(|e| usage(&e))?;
                Ok(Self::Null { target, url: text.to_owned() })
            }
            "sqlite" => {
                let rest = text["sqlite".len()..].trim_start_matches(':');
                let temporary = rest.is_empty() || rest.starts_with('?');
                let named =
                    if temporary { format!("sqlite:temporary{rest}") } else { text.to_owned() };
                let target = SqliteTarget::from_str(&named).map_err(|e| usage(&e))?;
                Ok(Self::Sqlite { target, temporary, url: text.to_owned() })
            }
            _ => {
                let near = FORMS.iter().find(|form| strsim::damerau_levenshtein(form, scheme) <= 2);
                let hint = near.map_or(String::new(), |form| format!("; did you mean {form}?"));
                Err(LabError::Usage(format!(
                    "`{text}` is no target: write {}{hint}",
                    FORMS.join(", ")
                )))
            }
        }
    }
}

/// A target that is ready to be driven. A temporary one is removed when this is dropped.
pub struct Prepared {
    kind: Kind,
    url: String,
    /// How many times the workload's base size its data has.
    pub scale: u64,
}

enum Kind {
    Null(NullTarget),
    Sqlite {
        target: SqliteTarget,
        measure: Measure,
        probe: Nanos,
        /// What the workers of the last load counted.
        figures: Box<Mutex<WorkerFigures>>,
        /// Removes the folder of a temporary database.
        _folder: Option<Scratch>,
    },
}

/// What is known of a target before the load starts.
#[derive(Default)]
pub struct Facts {
    /// For the record.
    pub target: TargetInfo,
    /// What a reader must know of it.
    pub warnings: Vec<Warning>,
}

impl Target {
    /// Makes the target ready: a temporary one is created and loaded, a given one is checked.
    ///
    /// Errors: each names the cause and what to do, where it can the command.
    pub fn prepare(
        &self,
        request: &RunRequest,
        progress: &(dyn Fn(Progress) + Sync),
        stop: &Stop,
    ) -> Result<Prepared, LabError> {
        let workload = &request.workload;
        let mut scale = request.scale.unwrap_or(1);
        workload.check_scale(scale).map_err(|e| LabError::Usage(e.to_string()))?;
        let (target, temporary, url) = match self {
            Self::Null { target, url } => {
                return Ok(Prepared { kind: Kind::Null(*target), url: url.clone(), scale });
            }
            Self::Sqlite { target, temporary, url } => (target, *temporary, url),
        };
        if request.budget != BudgetChoice::Off {
            // Before anything else is done with SQLite.
            sqlite::time_mutexes();
        }
        allow_files(request.load.workers.unwrap_or(request.load.connections))?;
        let mut target = target.clone();
        let folder = if temporary {
            let folder = Scratch::temporary().map_err(|error| {
                LabError::Target(format!("cannot make a temporary folder: {error}; set TMPDIR"))
            })?;
            target.path = folder.path().join(format!("{}.db", workload.name));
            load(&target, workload, scale, request.seed, progress, stop)?;
            Some(folder)
        } else {
            if !workload.tables.is_empty() {
                let (name, tables) = (&workload.name, &workload.tables);
                let loaded = sqlite::check(&target, name, tables, request.scale);
                scale = loaded.map_err(|error| named_as_given(error, request))?.scale;
            }
            None
        };
        let measure = match request.budget {
            BudgetChoice::Off => Measure::Nothing,
            _ => Measure::Budget,
        };
        let probe = sqlite::ThreadClock::new().probe_cost();
        let figures = Box::default();
        let kind = Kind::Sqlite { target, measure, probe, figures, _folder: folder };
        Ok(Prepared { kind, url: url.clone(), scale })
    }

    /// Creates and loads a workload's tables. Returns a sentence on what was done.
    ///
    /// Errors: as [`Target::prepare`].
    pub fn init(
        &self,
        workload: &Workload,
        scale: u64,
        seed: u64,
        progress: &(dyn Fn(Progress) + Sync),
        stop: &Stop,
    ) -> Result<String, LabError> {
        workload.check_scale(scale).map_err(|e| LabError::Usage(e.to_string()))?;
        match self {
            Self::Sqlite { target, temporary: false, .. } => {
                let begun = dbtime_model::now();
                let rows = load(target, workload, scale, seed, progress, stop)?;
                let took = dbtime_model::now() - begun;
                let name = &workload.name;
                Ok(format!("{name} at scale {scale}: {rows} rows loaded into {target} in {took}"))
            }
            Self::Sqlite { .. } => Err(LabError::Usage(
                "init needs a place: --target sqlite:PATH (a temporary target is loaded by run)"
                    .to_owned(),
            )),
            Self::Null { .. } => {
                Err(LabError::Usage("null holds no data: there is nothing to init".into()))
            }
        }
    }
}

/// Workers of an embedded engine beyond this are a mistake: each is a thread.
const MOST_WORKERS: u32 = 4096;

/// Open files a worker needs: database, log, shared memory (one for all), clock, and spare.
const FILES_PER_WORKER: u64 = 5;

/// Lets the process open as many files as so many workers need.
fn allow_files(workers: u32) -> Result<(), LabError> {
    if workers > MOST_WORKERS {
        return Err(LabError::Usage(format!(
            "{workers} workers are too many for an embedded engine, where each is a thread: use at \
             most {MOST_WORKERS}, with --workers behind more --connections if need be"
        )));
    }
    let needed = 256 + FILES_PER_WORKER * u64::from(workers);
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    let wanted =
        Rlimit { current: limit.maximum.map(|most| most.min(needed)).or(Some(needed)), ..limit };
    let granted = setrlimit(Resource::Nofile, wanted).is_ok();
    if granted && wanted.current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    Err(LabError::Target(format!(
        "{workers} workers need {needed} open files, and this process may open {}: raise the hard \
         limit (ulimit -Hn) or use fewer --workers",
        limit.maximum.or(limit.current).unwrap_or(0)
    )))
}

/// Creates the tables, fills them and marks them as whole. Returns the number of rows.
fn load(
    target: &SqliteTarget,
    workload: &Workload,
    scale: u64,
    seed: u64,
    progress: &(dyn Fn(Progress) + Sync),
    stop: &Stop,
) -> Result<u64, LabError> {
    let interrupted = || LabError::Interrupted("while loading: what was loaded does not count");
    let admin = SqliteAdmin::create(target)?;
    admin.drop_tables(&workload.tables, &workload.name)?;
    admin.create_tables(&workload.tables)?;
    let mut rows = 0;
    for (index, table) in workload.tables.iter().enumerate() {
        let data = workload.table_data(index, scale, seed);
        let fill = |row, values: &mut Vec<_>| data.fill_row(row, values);
        admin.load(table, data.row_count(), fill, |at| {
            let (table, done, total) = (at.table.to_owned(), at.done, at.total);
            progress(Progress::Loading { table, done, total });
            !stop.is_set()
        })?;
        if stop.is_set() {
            return Err(interrupted());
        }
        rows += data.row_count();
    }
    admin.create_indexes(&workload.tables)?;
    admin.finish(&LoadMarker {
        workload: workload.name.clone(),
        scale,
        seed,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })?;
    Ok(rows)
}

impl Prepared {
    /// Drives a load against it and blocks until it has ended.
    pub fn drive(
        &self,
        plan: &Plan,
        sink: impl Fn(u32) -> Box<dyn SecondSink>,
        started: impl Fn(MonoNanos),
        stop: &Stop,
    ) -> Result<Driven, LabError> {
        match &self.kind {
            Kind::Null(target) => Ok(null::drive(plan, *target, sink, started, stop)),
            Kind::Sqlite { target, measure, figures, .. } => {
                let statements = &plan.workload.statements;
                let database = SqlitePool::new(target.clone(), statements, plan.servers, *measure);
                let driven = pool::drive(plan, &database, sink, started, stop);
                let driven = driven.map_err(|error| LabError::Target(error.to_string()))?;
                *figures.lock().unwrap_or_else(PoisonError::into_inner) = database.into_figures();
                Ok(driven)
            }
        }
    }

    /// What measuring one statement costs here and now, in nanoseconds.
    pub fn probe_ns(&self) -> f64 {
        match &self.kind {
            Kind::Null(_) => 0.0,
            // One reading before and one after.
            Kind::Sqlite { probe, .. } => 2.0 * probe.0 as f64,
        }
    }

    /// What sampling every transaction of the last load would have cost in all, in nanoseconds.
    pub fn sampling_cost_ns(&self) -> f64 {
        match &self.kind {
            Kind::Null(_) => 0.0,
            Kind::Sqlite { probe, figures, .. } => {
                let figures = figures.lock().unwrap_or_else(PoisonError::into_inner);
                probe.0 as f64 * figures.readings() as f64
            }
        }
    }

    /// Whether it is driven by an event loop.
    pub fn is_sharded(&self) -> bool {
        matches!(self.kind, Kind::Null(_))
    }

    /// What is known before the load starts. Executes nothing but the statements' preparation, so
    /// that a statement the database refuses is known before the run.
    pub fn facts(&self, plan: &Plan) -> Result<Facts, LabError> {
        let Kind::Sqlite { target, measure, .. } = &self.kind else {
            let (engine, version) = ("null".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
            let target =
                TargetInfo { engine, version, url: self.url.clone(), ..TargetInfo::default() };
            return Ok(Facts { target, warnings: Vec::new() });
        };
        let statements = &plan.workload.statements;
        let database = SqliteDatabase::new(target.clone(), statements, 1, *measure);
        let mut connection = database.connect(0)?;
        connection.prepare_all().map_err(|(id, failure)| {
            let statement = &statements[id.0 as usize];
            LabError::Target(format!(
                "{} refuses statement `{}` ({}): {}",
                target,
                statement.name,
                statement.kind.fingerprint(),
                failure.message
            ))
        })?;
        let facts = SqliteFacts::of(&connection, target);
        let mut settings = facts.settings.clone();
        settings.insert("file_system".to_owned(), facts.file_system.clone());
        let mut warnings = Vec::new();
        if facts.reads_by_page_fault && *measure == Measure::Budget {
            warnings.push(Warning {
                kind: WarningKind::Target,
                text:
                    "mmap_size is above 0: reads by page fault cannot be timed and stay unexplained"
                        .to_owned(),
                remedy: "set mmap_size=0 in the target to see reads".to_owned(),
            });
        }
        let target = TargetInfo {
            engine: "sqlite".to_owned(),
            version: facts.version,
            url: self.url.clone(),
            settings,
            data_bytes: Some(facts.data_bytes),
        };
        Ok(Facts { target, warnings })
    }

    /// Adds to the record what only this target knows.
    pub fn fill(&self, record: &mut RunRecord, workload: &Workload, statement_wall: Nanos) {
        let Kind::Sqlite { figures, measure: Measure::Budget, .. } = &self.kind else { return };
        let figures = figures.lock().unwrap_or_else(PoisonError::into_inner);
        let operations: Vec<String> =
            workload.operations.iter().map(|op| op.name.clone()).collect();
        record.layers = sqlite::layers(&figures, statement_wall);
        record.files = figures.io.records();
        record.lock_holders =
            sqlite::lock_holders(&figures.waits, &workload.statements, &operations);
    }
}

/// The command that helps must name the workload as this one did: by its file, if it has one.
fn named_as_given(mut error: SqliteError, request: &RunRequest) -> SqliteError {
    let given = request.workload_given.clone();
    match &mut error {
        SqliteError::Missing { workload, .. } => {
            let scale = request.scale.map_or(String::new(), |scale| format!(" --scale {scale}"));
            *workload = Some(given + &scale);
        }
        SqliteError::NotLoaded { workload, .. }
        | SqliteError::HalfLoaded { workload, .. }
        | SqliteError::Scale { workload, .. } => *workload = given,
        _ => {}
    }
    error
}

impl From<SqliteError> for LabError {
    fn from(error: SqliteError) -> Self {
        Self::Target(error.to_string())
    }
}
