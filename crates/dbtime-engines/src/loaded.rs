//! What a database holds of a workload, and whether a run can use it: the same questions and the
//! same answers for SQLite and for servers.
//!
//! How tables and the rows of `dbtime_load` are found is each engine's own affair.

/// What was loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadMarker {
    /// The workload's name.
    pub workload: String,
    /// Its scale.
    pub scale: u64,
    /// The seed its rows were drawn from.
    pub seed: u64,
    /// The version of dbtime that loaded it.
    pub version: String,
}

/// Why the data that is there cannot be used, or must not be replaced. Each names the command that
/// helps.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// No data of this workload.
    #[error(
        "{target} holds no data of workload {workload}{found}; run `dbtime init {workload} --target {target}`"
    )]
    NotLoaded {
        /// The workload.
        workload: String,
        /// As `--target` takes it.
        target: String,
        /// What it holds instead, if anything.
        found: String,
    },
    /// A table of that name is there, and no load of the workload has made it.
    #[error(
        "{place} has a table {table} that was not made for workload {workload}: nothing was changed; name another {kind}"
    )]
    NotOurs {
        /// The file, or the server as `--target` takes it.
        place: String,
        /// The table.
        table: String,
        /// The workload.
        workload: String,
        /// What to name another of: a file, or a database.
        kind: &'static str,
    },
    /// Loading was interrupted.
    #[error(
        "the data of workload {workload} in {target} is incomplete ({what}); run `dbtime init {workload} --target {target}` again"
    )]
    HalfLoaded {
        /// The workload.
        workload: String,
        /// As `--target` takes it.
        target: String,
        /// What is there and what is not.
        what: String,
    },
    /// Loaded, but at another scale.
    #[error(
        "{target} is loaded at scale {loaded}, not {asked}; use `--scale {loaded}`, or run `dbtime init {workload} --scale {asked} --target {target}`"
    )]
    Scale {
        /// The workload.
        workload: String,
        /// As `--target` takes it.
        target: String,
        /// The scale it has.
        loaded: u64,
        /// The scale wanted.
        asked: u64,
    },
}

impl LoadError {
    /// The same error with a command that names the workload as it was named here: by its file, if
    /// it has one.
    #[must_use]
    pub fn named_as(mut self, given: &str) -> Self {
        match &mut self {
            Self::NotLoaded { workload, .. }
            | Self::HalfLoaded { workload, .. }
            | Self::Scale { workload, .. } => given.clone_into(workload),
            // Its text tells whose table it is not: no command is in it.
            Self::NotOurs { .. } => {}
        }
        self
    }
}

/// The data that a run wants.
pub(crate) struct Wanted<'a> {
    /// The workload's name.
    pub(crate) workload: &'a str,
    /// As `--target` takes it.
    pub(crate) target: String,
    /// At which scale; `None`: whichever it has.
    pub(crate) scale: Option<u64>,
}

/// What was found of it.
pub(crate) struct Found<'a> {
    /// The load of the workload, if it was finished.
    pub(crate) finished: Option<LoadMarker>,
    /// Whether one was begun; counts only where none was finished.
    pub(crate) is_begun: bool,
    /// Tables of the workload that are not there.
    pub(crate) missing: Vec<&'a str>,
    /// Workloads whose loads were finished, with commas between them.
    pub(crate) all_finished: String,
}

impl Wanted<'_> {
    /// Whether what was found will do.
    ///
    /// # Errors
    /// All of [`LoadError`] but [`LoadError::NotOurs`].
    pub(crate) fn check(self, found: Found<'_>) -> Result<LoadMarker, LoadError> {
        let (workload, target) = (self.workload.to_owned(), self.target);
        let Some(marker) = found.finished else {
            if found.is_begun {
                let what = "it has tables, but loading them never finished".to_owned();
                return Err(LoadError::HalfLoaded { workload, target, what });
            }
            let found = match found.all_finished.as_str() {
                "" => String::new(),
                names => format!(" (it holds {names})"),
            };
            return Err(LoadError::NotLoaded { workload, target, found });
        };
        if !found.missing.is_empty() {
            let what = format!("without {}", found.missing.join(", "));
            return Err(LoadError::HalfLoaded { workload, target, what });
        }
        match self.scale {
            Some(asked) if asked != marker.scale => {
                Err(LoadError::Scale { workload, target, loaded: marker.scale, asked })
            }
            _ => Ok(marker),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marker() -> LoadMarker {
        let (workload, version) = ("bank".to_owned(), "test".to_owned());
        LoadMarker { workload, scale: 2, seed: 1, version }
    }

    fn found(finished: Option<LoadMarker>) -> Found<'static> {
        Found { finished, is_begun: false, missing: Vec::new(), all_finished: String::new() }
    }

    fn check(found: Found<'_>, scale: Option<u64>) -> Result<LoadMarker, LoadError> {
        Wanted { workload: "bank", target: "sqlite:x.db".to_owned(), scale }.check(found)
    }

    fn told(found: Found<'_>, scale: Option<u64>) -> String {
        check(found, scale).expect_err("it cannot be used").named_as("bank.toml").to_string()
    }

    #[test]
    fn a_finished_load_at_the_wanted_scale_will_do() {
        for scale in [None, Some(2)] {
            // Beginning again ends with a marker, as beginning did.
            let found = Found { is_begun: true, ..found(Some(marker())) };
            assert_eq!(check(found, scale).expect("loaded"), marker());
        }
    }

    #[test]
    fn what_helps_is_a_command_that_names_the_workload_as_given() {
        let nothing = told(found(None), None);
        assert!(nothing.ends_with("bank.toml; run `dbtime init bank.toml --target sqlite:x.db`"));
        let other = told(Found { all_finished: "shop, atm".to_owned(), ..found(None) }, None);
        assert!(other.contains("bank.toml (it holds shop, atm); run"), "{other}");
        let begun = told(Found { is_begun: true, ..found(None) }, None);
        assert!(begun.contains("never finished); run `dbtime init bank.toml"), "{begun}");
        let torn = told(Found { missing: vec!["a", "b"], ..found(Some(marker())) }, Some(3));
        assert!(torn.contains("incomplete (without a, b)"), "{torn}");
        let scale = told(found(Some(marker())), Some(3));
        assert!(scale.contains("init bank.toml --scale 3 --target sqlite:x.db"), "{scale}");
    }
}
