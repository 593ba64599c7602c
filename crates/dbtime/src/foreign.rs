//! `dbtime run --script`: scripts in other tools' languages, run as workloads.
//!
//! What the other tools' own commands print and how they end is not for here: see
//! `commands/pgbench` and `commands/sysbench`.

use crate::cli::RunArgs;
use crate::exit::Failure;
use crate::screen;
use dbtime_engines::server::StatementProtocol;
use dbtime_lab::{Load, operation};
use dbtime_load::arrivals::Arrivals;
use dbtime_load::script::Script;
use dbtime_load::workload::Workload;
use dbtime_script::pgbench::init::{DEFAULT_STEPS, Initialization, steps};
use dbtime_script::pgbench::{
    Dialect, Listener, Loading, Mode, Notice, PgbenchScript, Scripts, Settings,
};
use std::path::Path;
use std::sync::Arc;

/// The workload that a script makes.
pub(crate) fn workload(args: &RunArgs, path: &Path, load: &Load) -> Result<Workload, Failure> {
    let script: Arc<dyn Script> = match path.extension().and_then(|suffix| suffix.to_str()) {
        Some("sql") => pgbench(args, path, load)?,
        _ => {
            let path = path.display();
            return Err(Failure::usage(format!(
                "--script {path}: the suffix says whose language it is in: .sql for pgbench's"
            )));
        }
    };
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Workload::from_script(name.clone(), vec![operation(&name)], script))
}

fn pgbench(args: &RunArgs, path: &Path, load: &Load) -> Result<Arc<dyn Script>, Failure> {
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("--script {shown} cannot be read: {error}")))?;
    let mut scripts = Scripts::default();
    scripts.add(&shown, &text, 1).map_err(Failure::usage)?;
    let (dialect, scale) = (dialect(&args.target), args.scale.unwrap_or(1));
    let preparation = text.contains("pgbench_").then(|| tables(dialect, scale)).transpose()?;
    let settings = Settings {
        scripts,
        mode: match args.protocol {
            StatementProtocol::Text => Mode::Simple,
            StatementProtocol::Prepared => Mode::Prepared,
        },
        dialect,
        clients: clients(load),
        seed: args.seed,
        scale: scale as i64,
        variables: args.script_set.clone(),
        listener: Listener::new(|notice| match notice {
            Notice::Error(text) | Notice::Info(text) => screen::error(&text),
            Notice::Line(text) => screen::note(&text),
        }),
        preparation,
        ..Settings::default()
    };
    Ok(Arc::new(PgbenchScript::new(settings).map_err(Failure::usage)?))
}

/// What makes pgbench's tables on a target that is made for the run.
fn tables(dialect: Dialect, scale: u64) -> Result<Arc<Loading>, Failure> {
    let wanted = Initialization { dialect, scale, ..Initialization::default() };
    let steps = steps(DEFAULT_STEPS, &wanted).map_err(Failure::usage)?;
    Ok(Arc::new(Loading::new(steps, &wanted, |_| ())))
}

/// How many programs of a script a load needs: one for each connection.
fn clients(load: &Load) -> u32 {
    let workers = load.workers.unwrap_or(load.connections);
    let is_closed = load.rate.is_none() && load.arrivals != Arrivals::AtOnce;
    if is_closed { workers.min(load.connections) } else { workers }
}

/// The language of a target's statements.
pub(crate) fn dialect(target: &str) -> Dialect {
    match target.split([':', '?']).next().unwrap_or(target) {
        "mysql" | "mariadb" => Dialect::Mysql,
        "sqlite" => Dialect::Sqlite,
        _ => Dialect::Postgres,
    }
}
