//! SQLite, embedded.

use super::room::DiskRoom;
use super::{
    Dataset, PreparedTarget, ProgressListener, TargetFacts, TargetKind, allow_files, load_summary,
    no_place,
};
use crate::counters::{self, CounterSampler};
use crate::data_snapshot::{self, DataSnapshot, go_on};
use crate::doctor::{PlannedServerUse, TargetLook, findings_of_sqlite};
use crate::drive::BEFORE_WINDOW;
use crate::error::LabError;
use crate::file_waits::completed;
use crate::progress::RunProgress;
use crate::query::{QueryPlace, SqlitePlace};
use crate::request::RunRequest;
use crate::scratch::ScratchFolder;
use crate::workload_names::WorkloadNames;
use dbtime_engines::databases::sqlite::{
    self, FileAttribution, MeasureLevel, SqliteAdmin, SqliteDatabase, SqliteError, SqliteFacts,
    SqlitePool, SqliteTarget, WorkerFigures,
};
use dbtime_engines::drive::observer::LoadObserver;
use dbtime_engines::drive::plan::{LoadPlan, LoadResult, RunStop};
use dbtime_engines::drive::pool::{self, PoolError};
use dbtime_engines::load_marker::{LoadMarker, ReplaceScope};
use dbtime_engines::server::LoadedRows;
use dbtime_load::workload::Workload;
use dbtime_machine::switch_clock::SwitchClock;
use dbtime_machine::thread_clock::ThreadClock;
use dbtime_model::record::{
    BudgetFileWait, BudgetMethod, RunRecord, TargetInfo, WaitedFile, Warning, WarningKind,
};
use dbtime_model::spec::BudgetChoice;
use dbtime_model::{MonoNanos, Nanos, SqlDialect};
use dbtime_sql::{LexicalRules, StatementShapes};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

/// It has no sessions that read texts another way.
const RULES: LexicalRules = LexicalRules::defaults(SqlDialect::Sqlite);

/// An SQLite database.
#[derive(Clone, Debug)]
pub(super) struct SqliteTargetKind {
    /// Where, and with which settings; the path counts for nothing when `temporary`.
    target: SqliteTarget,
    /// Whether it is made, loaded and removed by the run.
    temporary: bool,
    /// As given.
    url: String,
}

/// A database that is ready to be driven.
struct ReadySqlite {
    target: SqliteTarget,
    url: String,
    scale: u64,
    measure: MeasureLevel,
    probe: Nanos,
    /// Whether a thread sees that it was switched out.
    sees_switches: bool,
    /// What the workers of the last load counted.
    figures: Box<Mutex<WorkerFigures>>,
    /// Removes the folder of a temporary database.
    folder: Option<ScratchFolder>,
    /// Whether its data are those of a snapshot.
    is_restored: bool,
}

impl SqliteTargetKind {
    pub(super) fn parse(text: &str) -> Result<Self, LabError> {
        let rest = text["sqlite".len()..].trim_start_matches(':');
        let temporary = rest.is_empty() || rest.starts_with('?');
        let named = if temporary { format!("sqlite:temporary{rest}") } else { text.to_owned() };
        let target = SqliteTarget::from_str(&named).map_err(|e| LabError::Usage(e.to_string()))?;
        Ok(Self { target, temporary, url: text.to_owned() })
    }
}

impl TargetKind for SqliteTargetKind {
    fn check(&self, request: &RunRequest) -> Result<(), LabError> {
        check_workers(request.spec.load.servers())
    }

    fn prepare(
        &self,
        request: &RunRequest,
        progress: ProgressListener<'_>,
        stop: &RunStop,
    ) -> Result<Box<dyn PreparedTarget>, LabError> {
        let workload = &request.workload;
        let given = request.spec.workload.scale;
        let mut scale = given.unwrap_or(1);
        if request.budget() != BudgetChoice::Off {
            // Before anything else is done with SQLite.
            sqlite::time_mutexes();
        }
        let workers = request.spec.load.servers();
        allow_files(FILES_PER_WORKER * u64::from(workers), &format!("{workers} workers"))?;
        let (mut target, mut is_restored) = (self.target.clone(), false);
        let folder = if self.temporary {
            let folder = ScratchFolder::temporary().map_err(|error| {
                LabError::Target(format!("cannot make a temporary folder: {error}; set TMPDIR"))
            })?;
            target.path = folder.path().join(format!("{}.db", workload.name));
            let replacing = ReplaceScope::Same;
            let data = Dataset { workload, scale, seed: request.rows_seed(), replacing };
            check_room(&target, &data, "set TMPDIR to a folder with more room")?;
            let snapshot = request.snapshot().map(|request| request.of(&self.url, &[]));
            is_restored = load_or_restore(&target, &data, snapshot, progress, stop)?;
            Some(folder)
        } else {
            if !workload.tables.is_empty() {
                let (name, tables) = (&workload.name, &workload.tables);
                let loaded = sqlite::check(&target, name, tables, given);
                let named = |error: SqliteError| error.named_as(request.given_name(), given);
                scale = loaded.map_err(named)?.scale;
            }
            None
        };
        let measure = match request.budget() {
            BudgetChoice::Off => MeasureLevel::Nothing,
            _ => MeasureLevel::Budget,
        };
        let probe = ThreadClock::new().probe_cost();
        let sees_switches = SwitchClock::is_available();
        let (url, figures) = (self.url.clone(), Box::default());
        Ok(Box::new(ReadySqlite {
            target,
            url,
            scale,
            measure,
            probe,
            sees_switches,
            figures,
            folder,
            is_restored,
        }))
    }

    fn loads(&self) -> bool {
        self.temporary
    }

    fn create(&self) -> Result<(), LabError> {
        if self.temporary {
            return Ok(());
        }
        // An empty file is an empty database.
        let path = &self.target.path;
        let made = File::options().append(true).create(true).open(path);
        made.map(drop)
            .map_err(|error| LabError::Target(format!("cannot make {}: {error}", path.display())))
    }

    fn place(&self) -> Result<Box<dyn QueryPlace>, LabError> {
        if self.temporary {
            return Err(no_place());
        }
        Ok(Box::new(SqlitePlace { target: self.target.clone(), url: self.url.clone() }))
    }

    fn sampler(&self) -> Result<Box<dyn CounterSampler>, LabError> {
        if self.temporary {
            let text = "counters needs an existing database: --target sqlite:PATH";
            return Err(LabError::Usage(text.to_owned()));
        }
        counters::of_sqlite(&self.target.path, &self.url)
    }

    fn look(&self, _: &PlannedServerUse, _: MonoNanos) -> TargetLook {
        TargetLook::of(findings_of_sqlite(&self.target))
    }

    fn init(
        &self,
        data: &Dataset<'_>,
        progress: ProgressListener<'_>,
        stop: &RunStop,
    ) -> Result<String, LabError> {
        if self.temporary {
            return Err(LabError::Usage(
                "init needs a place: --target sqlite:PATH (a temporary target is loaded by run)"
                    .to_owned(),
            ));
        }
        let begun = dbtime_machine::now();
        check_room(&self.target, data, "name a file on another disk")?;
        let loaded = load(&self.target, data, progress, stop)?;
        Ok(load_summary(data, &loaded, &self.target, dbtime_machine::now() - begun))
    }
}

/// Workers of an embedded engine beyond this are a mistake: each is a thread.
const MAX_WORKERS: u32 = 4096;

/// Open files a worker needs: database, log, shared memory (one for all), clock, and spare.
const FILES_PER_WORKER: u64 = 5;

fn check_workers(workers: u32) -> Result<(), LabError> {
    if workers > MAX_WORKERS {
        return Err(LabError::Usage(format!(
            "{workers} workers are too many for an embedded engine, where each is a thread: use at \
             most {MAX_WORKERS}, with --workers behind more --connections if need be"
        )));
    }
    Ok(())
}

/// Refuses data for which there is no room beside the file.
fn check_room(target: &SqliteTarget, data: &Dataset<'_>, elsewhere: &str) -> Result<(), LabError> {
    let freed = fs::metadata(&target.path).map_or(0, |found| found.len());
    let folder = target.folder();
    let room = DiskRoom { folder, name: folder.display().to_string(), freed, elsewhere };
    room.check(data.workload, data.scale)
}

/// Fills a new database, or restores it from a snapshot that is there; whether it did that.
fn load_or_restore(
    target: &SqliteTarget,
    data: &Dataset<'_>,
    snapshot: Option<DataSnapshot>,
    progress: ProgressListener<'_>,
    stop: &RunStop,
) -> Result<bool, LabError> {
    let Some(snapshot) = snapshot else {
        return load(target, data, progress, stop).map(|_| false);
    };
    if !snapshot.is_there() {
        load(target, data, progress, stop)?;
        return snapshot.save(&target.path, stop).map(|()| false);
    }
    let restored = snapshot.restore(&target.path, &|_| go_on(stop));
    restored.map_err(|error| match error.kind() {
        ErrorKind::Interrupted => data_snapshot::INTERRUPTED,
        _ => snapshot.unusable(&error.to_string()),
    })?;
    let Workload { name, tables, .. } = data.workload;
    let checked = sqlite::check(target, name, tables, Some(data.scale));
    checked.map_err(|_| snapshot.incomplete(name))?;
    Ok(true)
}

/// Creates the tables, fills them and marks them as whole. Returns what was done.
fn load(
    target: &SqliteTarget,
    data: &Dataset<'_>,
    progress: ProgressListener<'_>,
    stop: &RunStop,
) -> Result<LoadedRows, LabError> {
    let Dataset { workload, scale, seed, replacing } = *data;
    let marker = LoadMarker {
        workload: workload.name.clone(),
        scale,
        seed,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let interrupted = || LabError::Interrupted("while loading: what was loaded does not count");
    let admin = SqliteAdmin::create(target)?;
    let replaced = admin.drop_tables(&workload.tables, &marker, replacing)?;
    admin.create_tables(&workload.tables)?;
    let mut rows = 0;
    for (index, table) in workload.tables.iter().enumerate() {
        let data = workload.table_data(index, scale, seed);
        let fill = |row, values: &mut Vec<_>| data.fill_row(row, values);
        admin.load(table, data.row_count(), fill, |at| {
            let (table, done, total) = (at.table.to_owned(), at.done, at.total);
            progress(RunProgress::Loading { table, done, total });
            !stop.is_set()
        })?;
        if stop.is_set() {
            return Err(interrupted());
        }
        rows += data.row_count();
    }
    admin.create_indexes(&workload.tables)?;
    admin.finish(&marker)?;
    Ok(LoadedRows { rows, replaced })
}

impl PreparedTarget for ReadySqlite {
    fn scale(&self) -> u64 {
        self.scale
    }

    fn drive(
        &self,
        plan: &LoadPlan,
        observer: &dyn LoadObserver,
        stop: &RunStop,
    ) -> Result<LoadResult, LabError> {
        let statements = &plan.workload.statements;
        let measure = if plan.budget_every == 0 { MeasureLevel::Nothing } else { self.measure };
        let database = SqlitePool::new(self.target.clone(), statements, plan.concurrency, measure);
        let driven = pool::drive(plan, &database, observer, stop);
        let driven = driven.map_err(|error| match error {
            PoolError::Script(error) => LabError::Script(error),
            PoolError::Stopped if stop.is_set() => LabError::Interrupted(BEFORE_WINDOW),
            error => LabError::Target(error.to_string()),
        })?;
        *self.figures.lock().unwrap_or_else(PoisonError::into_inner) = database.into_figures();
        Ok(driven)
    }

    fn lexical_rules(&self) -> LexicalRules {
        RULES
    }

    fn is_fresh(&self) -> bool {
        self.folder.is_some()
    }

    /// One reading before and one after.
    fn probe_ns(&self) -> f64 {
        2.0 * self.probe.0 as f64
    }

    fn budget_method(&self) -> BudgetMethod {
        if self.sees_switches { BudgetMethod::Switches } else { BudgetMethod::Probes }
    }

    fn probing_cost_ns(&self) -> f64 {
        let figures = self.figures.lock().unwrap_or_else(PoisonError::into_inner);
        self.probe.0 as f64 * figures.readings() as f64
    }

    fn is_sharded(&self) -> bool {
        false
    }

    fn facts(&self, plan: &LoadPlan, _: &RunStop) -> Result<TargetFacts, LabError> {
        let Self { target, measure, .. } = self;
        let statements = &plan.workload.statements;
        let database = SqliteDatabase::new(target.clone(), statements, 1, *measure);
        let mut connection = database.connect(0)?;
        connection.prepare_all().map_err(|(id, failure)| {
            let statement = &statements[id.0 as usize];
            let sql = statement.kind.text();
            let shapes = StatementShapes::of([sql], &self.lexical_rules());
            let shapes = shapes.with_names(&target.to_string());
            LabError::Target(format!(
                "{} refuses statement `{}`{}: {}",
                target,
                statement.name,
                shapes.in_parentheses(sql),
                shapes.without_repeated(&failure.code, &failure.message)
            ))
        })?;
        let facts = SqliteFacts::of(&connection, target);
        let mut settings = facts.settings.clone();
        settings.insert("file_system".to_owned(), facts.file_system.clone());
        let mut warnings = Vec::new();
        if facts.reads_by_page_fault && *measure == MeasureLevel::Budget {
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
            is_restored: self.is_restored,
            ..TargetInfo::default()
        };
        Ok(TargetFacts { target, warnings, ..TargetFacts::default() })
    }

    fn fill(&self, record: &mut RunRecord, workload: &Workload, statement_wall: Nanos) {
        if self.measure != MeasureLevel::Budget {
            return;
        }
        let figures = self.figures.lock().unwrap_or_else(PoisonError::into_inner);
        let operations: Vec<String> =
            workload.operations.iter().map(|op| op.name.clone()).collect();
        record.layers = sqlite::layers(&figures, statement_wall);
        record.files = figures.io.records();
        let statements = workload.executed_statements();
        record.lock_holders = sqlite::lock_holders(&figures.waits, &statements, &operations);
        record.lock_chains = Some(sqlite::lock_chains(&figures.waits, &statements, &operations));
        record.file_waits = file_waits(&figures.file_waits, record, workload);
    }
}

/// The files that measured statements waited for; `None` where no transaction was measured.
fn file_waits(
    waits: &[FileAttribution],
    record: &RunRecord,
    workload: &Workload,
) -> Option<Vec<BudgetFileWait>> {
    let (budget, info) = (record.budget_us.as_ref()?, record.budget.as_ref()?);
    let names = WorkloadNames::of(workload, &RULES);
    let row = |wait: &FileAttribution| BudgetFileWait {
        waiter: names.statement(wait.waiter).map(str::to_owned),
        kind: WaitedFile::Named,
        file: Some(wait.file.name().to_owned()),
        part: wait.part,
        count: Some(wait.count),
        wait_s: wait.wait.as_secs(),
        share_pct: 0.0,
    };
    let mean_us = |part| budget.measured().find(|(of, _)| *of == part).map_or(0.0, |(_, us)| us);
    let part_s = |part| mean_us(part) * info.sampled as f64 / 1e6;
    Some(completed(waits.iter().map(row).collect(), part_s))
}

impl From<SqliteError> for LabError {
    fn from(error: SqliteError) -> Self {
        Self::Target(error.to_string())
    }
}
