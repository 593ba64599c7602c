//! A sysbench script as a [`Script`]: it makes a Lua state for each thread, and keeps what their
//! clients share.

use super::failure::IgnoredErrorList;
use super::options::OptionValue;
use super::output::Priority;
use super::paths;
use super::program::Sysbench;
use super::random::RandomShape;
use super::settings::SysbenchSettings;
use super::stats::Stats;
use super::unique::UniqueNumbers;
use super::visits::LuaVisits;
use crate::book::StatementRegistry;
use dbtime_load::script::{PreparationScript, ProgramFactory, Script};
use dbtime_load::statement::Statement;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Why a script cannot be run. The texts are sysbench's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SysbenchError {
    /// Neither a file nor one that comes with sysbench.
    #[error("FATAL: Cannot find benchmark '{0}': no such built-in test, file or module")]
    NotFound(String),
    /// What the script's first execution came to.
    #[error("{0}")]
    Lua(String),
}

/// What all states share.
#[derive(Debug)]
pub(super) struct Setup {
    pub(super) settings: SysbenchSettings,
    /// The script's file, and its name as a module where it was found by that.
    pub(super) file: String,
    pub(super) module: Option<String>,
    /// `sysbench.cmdline.command`.
    pub(super) command: Option<String>,
    pub(super) seed: u64,
    pub(super) shape: RandomShape,
    pub(super) ignored: IgnoredErrorList,
    /// Whether the server prepares statements.
    pub(super) prepares: bool,
    pub(super) unique: UniqueNumbers,
    pub(super) book: StatementRegistry,
    pub(super) stats: Stats,
    /// Whether a script has asked for a database.
    pub(super) uses_sql: AtomicBool,
    pub(super) trouble: Mutex<Option<String>>,
    /// Whether a `thread_done` has failed, when all had been counted.
    fails_late: AtomicBool,
}

impl Setup {
    pub(super) fn new(settings: SysbenchSettings) -> Result<Self, SysbenchError> {
        let found = match &settings.source {
            Some(_) => Some((settings.path.clone(), None)),
            None => paths::find(&settings.path, &settings.data_dir),
        };
        let (file, module) = found.ok_or_else(|| SysbenchError::NotFound(settings.path.clone()))?;
        let seed = if settings.seed == 0 { seed_of_now() } else { settings.seed };
        let options = &settings.options;
        Ok(Self {
            file,
            module,
            command: Some(settings.command.name().to_owned()),
            seed,
            shape: options.shape(settings.compat),
            ignored: IgnoredErrorList::parse(&ignored_errors(&settings)),
            prepares: options.text("db_ps_mode") != Some("disable"),
            unique: UniqueNumbers::new(seed),
            book: StatementRegistry::default(),
            stats: Stats::new(settings.threads as usize),
            uses_sql: AtomicBool::new(false),
            trouble: Mutex::new(None),
            fails_late: AtomicBool::new(false),
            settings,
        })
    }

    /// Whether the script's own file has one of these words.
    pub(super) fn source_says(&self, words: &[&str]) -> bool {
        let read = || std::fs::read(&self.file).unwrap_or_default();
        let source =
            self.settings.source.as_ref().map_or_else(read, |source| source.as_bytes().to_vec());
        let source = String::from_utf8_lossy(&source);
        words.iter().any(|word| source.contains(word))
    }

    /// Remembers why the run ends; the first reason counts.
    pub(super) fn tell(&self, trouble: &str) {
        let mut told = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        told.get_or_insert_with(|| trouble.to_owned());
    }

    /// Says what is wrong with an end that loses nothing.
    pub(super) fn tell_late(&self, trouble: &str, trace: &str) {
        let is_first = !self.fails_late.swap(true, Ordering::Relaxed);
        let output = &self.settings.output;
        output.log(Priority::Fatal, trouble.strip_prefix("FATAL: ").unwrap_or(trouble));
        if is_first {
            output.remark(trace.trim_start_matches('\n'));
        }
    }

    pub(super) fn trouble(&self) -> Option<String> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
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
    setup: Arc<Setup>,
    crews: Mutex<Vec<Arc<LuaVisits>>>,
    preparation: Option<PreparationScript>,
}

impl SysbenchScript {
    /// Finds the script. It is executed first by [`Script::crew`]'s programs.
    ///
    /// # Errors
    /// There is no such script.
    pub fn new(settings: SysbenchSettings) -> Result<Self, SysbenchError> {
        Ok(Self {
            setup: Arc::new(Setup::new(settings)?),
            crews: Mutex::default(),
            preparation: None,
        })
    }

    /// The same script, which another makes the tables for where there are none.
    #[must_use]
    pub fn prepared_by(self, preparation: PreparationScript) -> Self {
        Self { preparation: Some(preparation), ..self }
    }

    /// What its clients count, readable while they run.
    pub fn stats(&self) -> &Stats {
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
    fn crew(&self, _thread: u32) -> Result<Box<dyn ProgramFactory>, String> {
        let visits = Arc::new(LuaVisits::default());
        let crew = Sysbench::new(Arc::clone(&self.setup), Arc::clone(&visits))
            .map_err(|error| error.to_string())?;
        self.crews.lock().unwrap_or_else(PoisonError::into_inner).push(visits);
        Ok(Box::new(crew))
    }

    fn statements(&self) -> Vec<Statement> {
        self.setup.book.statements()
    }

    fn trouble(&self) -> Option<String> {
        self.setup.trouble()
    }

    fn preparation(&self) -> Option<PreparationScript> {
        self.preparation.clone()
    }

    fn inside(&self) -> Vec<(u32, u64)> {
        let crews = self.crews.lock().unwrap_or_else(PoisonError::into_inner);
        crews.iter().filter_map(|visits| visits.inside()).collect()
    }

    fn connects(&self) -> bool {
        true
    }
}
