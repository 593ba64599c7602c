//! `dbtime run --script`: scripts in other tools' languages, run as workloads.
//!
//! What the other tools' own commands print and how they end is not for here: see
//! `commands/pgbench` and `commands/sysbench`.

use crate::exit::CommandFailure;
use crate::{pipes, screen};
use dbtime_engines::server::StatementProtocol;
use dbtime_lab::{RunRequest, TargetForm, operation};
use dbtime_load::script::{PreparationScript, Script};
use dbtime_load::workload::Workload;
use dbtime_model::spec::RunSpec;
use dbtime_model::{Nanos, Product, SqlDialect, bounded_file};
use dbtime_script::pgbench::{DEFAULT_STEPS, PgbenchTables, init_steps};
use dbtime_script::pgbench::{
    LoadingScript, NoticeListener, PgbenchNotice, PgbenchScript, PgbenchScripts, PgbenchSettings,
    QueryMode,
};
use dbtime_script::sysbench::options::{CommandArguments, CompatMode, SysbenchOptions};
use dbtime_script::sysbench::{
    ScriptOptions, ScriptOutput, SysbenchCommand, SysbenchScript, SysbenchSettings,
    declared_options,
};
use std::path::Path;
use std::sync::Arc;

/// How long the other tools wait at the end of a run for what is under way: as long as it takes.
pub(crate) const NO_TIMEOUT: Nanos = Nanos::from_secs(365 * 24 * 3600);

/// Whether nobody reads the record of a run of the other tools' own commands: with `--classic`
/// their reports are all that is shown.
pub(crate) fn is_unread(is_classic: bool, is_json: bool, request: &RunRequest) -> bool {
    is_classic && !is_json && request.out.is_none()
}

/// That a target which a command makes for itself keeps nothing: `what` was to fill it, and
/// `all_in_one` is the command that fills it and runs.
pub(crate) fn keeps_nothing(target: &str, what: &str, all_in_one: &str) -> CommandFailure {
    let product = TargetForm::of(target).and_then(TargetForm::product).unwrap_or(Product::Sqlite);
    let name = product.name();
    let place = match product {
        Product::Sqlite => "sqlite:PATH".to_owned(),
        _ => format!("{name}://USER@HOST/DATABASE"),
    };
    CommandFailure::usage(format!(
        "{what} needs a place that stays, such as --target {place}: `{name}` alone is gone at the \
         end of a command; `{all_in_one} --target {name}` prepares and runs in one"
    ))
}

/// A script, and what it is run with.
pub(crate) struct ScriptFile<'a> {
    /// Where it is. Its suffix says whose language it is in.
    pub(crate) path: &'a Path,
    /// Variables of pgbench, options of sysbench, with their secrets.
    pub(crate) variables: Vec<(String, String)>,
    /// The run that it is of.
    pub(crate) spec: &'a RunSpec,
}

/// The workload that a script makes, and the script's text.
pub(crate) fn workload(file: &ScriptFile<'_>) -> Result<(Workload, String), CommandFailure> {
    let path = file.path.display();
    let read = || {
        pipes::awaited(file.path, || bounded_file::written_text(file.path)).map_err(|error| {
            CommandFailure::usage(format!("--script {path} cannot be read: {error}"))
        })
    };
    let (script, text): (Arc<dyn Script>, String) = match file.path.extension() {
        Some(suffix) if suffix == "sql" => {
            let text = read()?;
            (pgbench(file, &text)?, text)
        }
        Some(suffix) if suffix == "lua" => (sysbench(file)?, read()?),
        _ => {
            return Err(CommandFailure::usage(format!(
                "--script {path}: the suffix names its language: .sql for pgbench's, \
                 .lua for sysbench's"
            )));
        }
    };
    let name = file.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok((Workload::from_script(name.clone(), vec![operation(&name)], script), text))
}

fn pgbench(file: &ScriptFile<'_>, text: &str) -> Result<Arc<dyn Script>, CommandFailure> {
    let RunSpec { workload, target, load, seed, .. } = file.spec;
    let shown = file.path.display().to_string();
    let mut scripts = PgbenchScripts::default();
    scripts.add(&shown, text, 1).map_err(CommandFailure::usage)?;
    let dialect = dialect(&target.url);
    let scale = workload.scale.unwrap_or(1);
    let preparation =
        text.contains("pgbench_").then(|| tables(dialect, scale, &target.url)).transpose()?;
    let settings = PgbenchSettings {
        scripts,
        mode: match target.protocol.unwrap_or_default() {
            StatementProtocol::Text => QueryMode::Simple,
            StatementProtocol::Prepared => QueryMode::Prepared,
        },
        dialect,
        target: target.url.clone(),
        clients: load.concurrency(),
        seed: *seed,
        scale: scale as i64,
        variables: file.variables.clone(),
        listener: NoticeListener::new(|notice| match notice {
            PgbenchNotice::Error(text) | PgbenchNotice::Info(text) => screen::error(&text),
            PgbenchNotice::Line(text) => screen::note(&text),
        }),
        preparation,
        ..PgbenchSettings::default()
    };
    Ok(Arc::new(PgbenchScript::new(settings).map_err(CommandFailure::usage)?))
}

fn sysbench(file: &ScriptFile<'_>) -> Result<Arc<dyn Script>, CommandFailure> {
    let RunSpec { target, load, seed, .. } = file.spec;
    let script = file.path.display().to_string();
    let is_text = target.protocol == Some(StatementProtocol::Text);
    let mode = if is_text { "disable" } else { "auto" };
    let mut words = vec![
        script.clone(),
        "run".to_owned(),
        format!("--threads={}", load.concurrency()),
        format!("--rand-seed={seed}"),
        format!("--db-ps-mode={mode}"),
    ];
    words.extend(file.variables.iter().map(|(name, value)| format!("--{name}={value}")));
    let refuse = |_: &str| Err("write its settings as --script-set NAME=VALUE".to_owned());
    let arguments = CommandArguments::read(&words, refuse).map_err(CommandFailure::usage)?;
    let output = ScriptOutput::new(screen::to_stderr);
    let declared = declared_options(&script, Some("run"), CompatMode::default(), output.clone());
    let declared = declared.map_err(CommandFailure::usage)?;
    let options = arguments.options(declared.options.as_deref()).map_err(CommandFailure::usage)?;
    let driver = driver(&target.url);
    let made = |command| {
        let (argv, output, target) = (words.clone(), output.clone(), target.url.clone());
        let of_options = settings(&script, &options, command);
        let settings = SysbenchSettings { driver, argv, output, target, ..of_options };
        SysbenchScript::new(settings).map_err(CommandFailure::usage)
    };
    let own = declared.commands.iter().find(|command| command.name == "prepare");
    let script = made(SysbenchCommand::Run)?;
    if own.is_none() && !declared.functions.contains(&"prepare") {
        return Ok(Arc::new(script));
    }
    let is_parallel = own.is_some_and(|command| command.is_parallel);
    let prepare = made(SysbenchCommand::Named { name: "prepare".to_owned(), is_parallel })?;
    let clients = if is_parallel { load.concurrency() } else { 1 };
    Ok(Arc::new(script.prepared_by(PreparationScript { script: Arc::new(prepare), clients })))
}

/// Most memory that the scripts of one thread may take: they share it with the engine.
const MAX_LUA_BYTES: usize = 2 << 30;

/// What a sysbench script is run with, by its options.
pub(crate) fn settings(
    script: &str,
    options: &SysbenchOptions,
    command: SysbenchCommand,
) -> SysbenchSettings {
    let SysbenchOptions { general, own, exported, are_globals, .. } = options;
    SysbenchSettings {
        command,
        options: ScriptOptions { values: exported.clone(), are_globals: *are_globals },
        threads: general.threads,
        seed: general.seed.unsigned_abs(),
        compat: own.compat,
        memory_limit: MAX_LUA_BYTES,
        ..SysbenchSettings::new(script, SqlDialect::Mysql)
    }
}

/// How the database of sysbench's scripts writes SQL, by a target or the name of a driver.
pub(crate) fn driver(target: &str) -> SqlDialect {
    let product = TargetForm::of(target).and_then(TargetForm::product);
    product.or_else(|| Product::named(target)).map_or(SqlDialect::Mysql, Product::dialect)
}

/// What makes pgbench's tables on a target that is made for the run.
fn tables(
    dialect: SqlDialect,
    scale: u64,
    target: &str,
) -> Result<Arc<LoadingScript>, CommandFailure> {
    let tables = PgbenchTables { dialect, scale, ..PgbenchTables::default() };
    let steps = init_steps(DEFAULT_STEPS, &tables).map_err(CommandFailure::usage)?;
    Ok(Arc::new(LoadingScript::new(steps, &tables, target, |_| ())))
}

/// How the database of pgbench's scripts writes SQL.
pub(crate) fn dialect(target: &str) -> SqlDialect {
    let product = TargetForm::of(target).and_then(TargetForm::product);
    product.map_or(SqlDialect::Postgres, Product::dialect)
}
