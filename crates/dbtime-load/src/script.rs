//! Scripts in foreign languages, as far as an engine has to know them.

use crate::program::Program;
use crate::statement::Statement;
use std::fmt;
use std::sync::Arc;

/// A script that makes programs.
pub trait Script: fmt::Debug + Send + Sync {
    /// Gets ready on a thread: whatever its programs share there. Called on that thread.
    ///
    /// # Errors
    /// What is wrong with the script, as its author wants to read it.
    fn factory_for_thread(&self, thread: u32) -> Result<Box<dyn ProgramFactory>, String>;

    /// The statements that were executed, by [`dbtime_model::StatementId`]: known only after the
    /// run, for a script may make them up.
    fn statements(&self) -> Vec<Statement>;

    /// What makes and fills its tables on a target that has none: each client of it runs once.
    fn preparation(&self) -> Option<PreparationScript> {
        None
    }

    /// Why the run was ended, where a program did so.
    fn stop_reason(&self) -> Option<String> {
        None
    }

    /// The clients inside their script at this moment, each with a number that changes whenever one
    /// goes in: one that stays the same says that the script does not come back.
    fn inside(&self) -> Vec<(u32, u64)> {
        Vec::new()
    }

    /// Whether the script makes its connections itself. Else they are made before the load.
    fn connects(&self) -> bool {
        false
    }
}

/// A script that makes and fills tables.
#[derive(Clone, Debug)]
pub struct PreparationScript {
    /// What is run once by each of its clients.
    pub script: Arc<dyn Script>,
    /// How many they are.
    pub clients: u32,
}

/// What the programs of a thread share.
pub trait ProgramFactory {
    /// The program of a client; clients are numbered over all threads.
    ///
    /// # Errors
    /// What is wrong with the script.
    fn program(&mut self, client: u32) -> Result<Box<dyn Program>, String>;
}
