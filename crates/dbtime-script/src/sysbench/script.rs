//! A sysbench script as a [`Script`]: it makes a Lua state for each thread, and keeps what their
//! clients share.

use super::lua_visits::LuaVisits;
use super::options::{IgnoredErrors, OptionValue};
use super::output::LogPriority;
use super::paths;
use super::program::SysbenchFactory;
use super::random::RandomShape;
use super::settings::SysbenchSettings;
use super::stats::SysbenchStats;
use super::unique::UniqueNumbers;
use crate::statement_registry::StatementRegistry;
use dbtime_load::script::{EndCondition, PreparationScript, ProgramFactory, Script, ScriptVisit};
use dbtime_load::statement::Statement;
use dbtime_model::bounded_file::written_bytes;
use dbtime_model::secret_text::without_secrets;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// The tests that are built into sysbench.
const WITHOUT_DATABASE: [&str; 5] = ["cpu", "fileio", "memory", "mutex", "threads"];

/// Why a script cannot be run. The texts are sysbench's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SysbenchError {
    /// Neither a file nor one that comes with sysbench.
    #[error("FATAL: Cannot find benchmark '{0}': no such built-in test, file or module")]
    NotFound(String),
    /// One of sysbench's tests of the machine.
    #[error("FATAL: {0} is a test of sysbench without a database: dbtime has none")]
    WithoutDatabase(String),
    /// What the script's first execution came to.
    #[error("{0}")]
    Lua(String),
}

/// What all states share.
#[derive(Debug)]
pub(super) struct SysbenchSetup {
    pub(super) settings: SysbenchSettings,
    /// The script's file, and its name as a module where it was found by that.
    pub(super) file: String,
    pub(super) module: Option<String>,
    /// `sysbench.cmdline.command`.
    pub(super) command: Option<String>,
    pub(super) seed: u64,
    pub(super) shape: RandomShape,
    pub(super) ignored: IgnoredErrors,
    /// Whether the server prepares statements.
    pub(super) prepares: bool,
    pub(super) unique: UniqueNumbers,
    pub(super) registry: StatementRegistry,
    pub(super) stats: SysbenchStats,
    /// Whether a script has asked for a database.
    pub(super) uses_sql: AtomicBool,
    pub(super) stop_reason: Mutex<Option<String>>,
    /// Whether a `thread_done` has failed, when all had been counted.
    fails_late: AtomicBool,
    /// Whether who runs it wants it to end.
    end_condition: Mutex<EndCondition>,
}

impl SysbenchSetup {
    pub(super) fn new(settings: SysbenchSettings) -> Result<Self, SysbenchError> {
        let found = match &settings.source {
            Some(_) => Some((settings.path.clone(), None)),
            None => paths::find(&settings.path, &settings.data_dir),
        };
        let (file, module) = found.ok_or_else(|| {
            // It may be a database that was meant as something else.
            let name = without_secrets(&settings.path).into_owned();
            match WITHOUT_DATABASE.contains(&name.as_str()) {
                true => SysbenchError::WithoutDatabase(name),
                false => SysbenchError::NotFound(name),
            }
        })?;
        let seed = if settings.seed == 0 { seed_of_now() } else { settings.seed };
        let options = &settings.options;
        Ok(Self {
            file,
            module,
            command: Some(settings.command.name().to_owned()),
            seed,
            shape: options.shape(settings.compat),
            ignored: IgnoredErrors::parse(&ignored_errors(&settings)),
            prepares: options.text("db_ps_mode") != Some("disable"),
            unique: UniqueNumbers::new(seed),
            registry: StatementRegistry::default(),
            stats: SysbenchStats::new(settings.threads as usize),
            uses_sql: AtomicBool::new(false),
            stop_reason: Mutex::new(None),
            fails_late: AtomicBool::new(false),
            end_condition: Mutex::default(),
            settings,
        })
    }

    /// Whether the script's own file has one of these words.
    pub(super) fn source_contains(&self, words: &[&str]) -> bool {
        let read = || written_bytes(self.file.as_ref()).unwrap_or_default();
        let source =
            self.settings.source.as_ref().map_or_else(read, |source| source.as_bytes().to_vec());
        let source = String::from_utf8_lossy(&source);
        words.iter().any(|word| source.contains(word))
    }

    /// Remembers why the run ends; the first reason counts.
    pub(super) fn report_fatal(&self, stop_reason: &str) {
        let mut reason = self.stop_reason.lock().unwrap_or_else(PoisonError::into_inner);
        reason.get_or_insert_with(|| stop_reason.to_owned());
    }

    /// Says what is wrong with an end that loses nothing.
    pub(super) fn report_fatal_after_run(&self, stop_reason: &str, trace: &str) {
        let is_first = !self.fails_late.swap(true, Ordering::Relaxed);
        let output = &self.settings.output;
        output.log(LogPriority::Fatal, stop_reason.strip_prefix("FATAL: ").unwrap_or(stop_reason));
        if is_first {
            output.remark(trace.trim_start_matches('\n'));
        }
    }

    pub(super) fn stop_reason(&self) -> Option<String> {
        self.stop_reason.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn end_condition(&self) -> MutexGuard<'_, EndCondition> {
        self.end_condition.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn heed(&self, condition: EndCondition) {
        *self.end_condition() = condition;
    }

    /// Whether the script is to end now.
    pub(super) fn is_to_end(&self) -> bool {
        self.end_condition().is_met()
    }
}

/// The option is a list, but a text is taken as well.
fn ignored_errors(settings: &SysbenchSettings) -> String {
    match settings.options.values.get("mysql_ignore_errors") {
        Some(OptionValue::List(codes)) => codes.join(","),
        Some(OptionValue::Text(codes)) => codes.clone(),
        Some(OptionValue::Number(code)) => code.to_string(),
        _ => "1213,1020,1205".to_owned(),
    }
}

/// One that `--rand-seed` takes, too.
fn seed_of_now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (now.as_nanos() as u64 & 0x7fff_ffff).max(1)
}

/// A sysbench script with all that it is run with.
#[derive(Debug)]
pub struct SysbenchScript {
    setup: Arc<SysbenchSetup>,
    visits_by_thread: Mutex<Vec<Arc<LuaVisits>>>,
    preparation: Option<PreparationScript>,
}

impl SysbenchScript {
    /// Finds the script. It is executed first by [`Script::factory_for_thread`]'s programs.
    ///
    /// # Errors
    /// There is no such script.
    pub fn new(settings: SysbenchSettings) -> Result<Self, SysbenchError> {
        Ok(Self {
            setup: Arc::new(SysbenchSetup::new(settings)?),
            visits_by_thread: Mutex::default(),
            preparation: None,
        })
    }

    /// The same script, which another makes the tables for where there are none.
    #[must_use]
    pub fn prepared_by(self, preparation: PreparationScript) -> Self {
        Self { preparation: Some(preparation), ..self }
    }

    /// What its clients count, readable while they run.
    pub fn stats(&self) -> &SysbenchStats {
        &self.setup.stats
    }

    /// Where its random numbers begin, by the option or by the clock.
    pub fn seed(&self) -> u64 {
        self.setup.seed
    }

    /// Whether a `thread_done` has failed, which its script's output says: the figures are as good
    /// as without it.
    pub fn fails_late(&self) -> bool {
        self.setup.fails_late.load(Ordering::Relaxed)
    }

    /// Whether any client has asked for a database so far.
    pub fn uses_sql(&self) -> bool {
        self.setup.uses_sql.load(Ordering::Relaxed)
    }
}

impl Script for SysbenchScript {
    fn factory_for_thread(&self, _thread: u32) -> Result<Box<dyn ProgramFactory>, String> {
        let visits = Arc::new(LuaVisits::default());
        let factory = SysbenchFactory::new(Arc::clone(&self.setup), Arc::clone(&visits))
            .map_err(|error| error.to_string())?;
        self.visits_by_thread.lock().unwrap_or_else(PoisonError::into_inner).push(visits);
        Ok(Box::new(factory))
    }

    fn statements(&self) -> Vec<Statement> {
        self.setup.registry.statements()
    }

    fn stop_reason(&self) -> Option<String> {
        self.setup.stop_reason()
    }

    fn preparation(&self) -> Option<PreparationScript> {
        self.preparation.clone()
    }

    fn inside(&self) -> Vec<ScriptVisit> {
        let visits_by_thread = self.visits_by_thread.lock().unwrap_or_else(PoisonError::into_inner);
        visits_by_thread.iter().filter_map(|visits| visits.inside()).collect()
    }

    fn heed(&self, condition: EndCondition) {
        self.setup.heed(condition);
    }

    fn connects(&self) -> bool {
        true
    }
}
