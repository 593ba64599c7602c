//! What a database holds of a workload, and whether a run can use it: the same questions and the
//! same answers for SQLite and for servers.
//!
//! How tables and the rows of `dbtime_load` are found is each engine's own affair.

use dbtime_load::workload::{Workload, WorkloadTable};

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

/// What a load may put something else in the place of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReplaceScope {
    /// The workload's own data of the same scale, and what was left half loaded.
    #[default]
    Same,
    /// Its data of any scale, and tables of its names, whoever made them.
    Everything,
}

/// Why the data that is there cannot be used, or must not be replaced. Each names the command that
/// helps.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// No data of this workload.
    #[error(
        "{target} holds no data of workload {workload}{found}; run `dbtime init {workload}{replace} --target {target}`"
    )]
    NotLoaded {
        /// The workload.
        workload: String,
        /// As `--target` takes it.
        target: String,
        /// What it holds instead, if anything.
        found: String,
        /// What the command needs where tables of the workload's names are in its way.
        replace: &'static str,
    },
    /// A table of that name is there, and no load of the workload has made it.
    #[error(
        "{place} has a table {table} that was not made for workload {workload}{maker}: nothing was changed; name another {kind}, or add --replace to drop the table"
    )]
    NotOurs {
        /// The file, or the server as `--target` takes it.
        place: String,
        /// The table.
        table: String,
        /// The workload.
        workload: String,
        /// Who seems to have made it: what its name gives away.
        maker: &'static str,
        /// What to name another of: a file, or a database.
        kind: &'static str,
    },
    /// It is there, at another scale.
    #[error(
        "{place} holds workload {workload} at scale {loaded}: nothing was changed; add --replace to load it at scale {requested} instead"
    )]
    OtherScale {
        /// The file, or the server as `--target` takes it.
        place: String,
        /// The workload.
        workload: String,
        /// The scale it has.
        loaded: u64,
        /// The scale wanted.
        requested: u64,
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
        "{target} is loaded at scale {loaded}, not {requested}; use `--scale {loaded}`, or run `dbtime init {workload} --scale {requested} --replace --target {target}`"
    )]
    Scale {
        /// The workload.
        workload: String,
        /// As `--target` takes it.
        target: String,
        /// The scale it has.
        loaded: u64,
        /// The scale wanted.
        requested: u64,
    },
}

impl LoadError {
    /// The same error with a command that names the workload as it was named here: by its file, if
    /// it has one.
    #[must_use]
    pub(crate) fn named_as(mut self, given: &str) -> Self {
        match &mut self {
            Self::NotLoaded { workload, .. }
            | Self::HalfLoaded { workload, .. }
            | Self::Scale { workload, .. } => given.clone_into(workload),
            // No command is in their texts.
            Self::NotOurs { .. } | Self::OtherScale { .. } => {}
        }
        self
    }
}

/// What a database holds of a workload, and the names of others that it holds.
pub(crate) struct LoadedContent<'a> {
    /// The workload's name.
    pub(crate) workload: &'a str,
    /// Its tables.
    pub(crate) tables: &'a [WorkloadTable],
    /// Those that are not there.
    pub(crate) missing: Vec<&'a str>,
    /// Whether there is a table that says what was loaded.
    pub(crate) has_loads: bool,
    /// The load of the workload, if it was finished.
    pub(crate) finished: Option<LoadMarker>,
    /// Workloads whose loads were finished.
    pub(crate) all_finished: Vec<String>,
    /// Workloads whose loads were only begun.
    pub(crate) all_begun: Vec<String>,
}

impl<'a> LoadedContent<'a> {
    /// Looks which tables are there; what was loaded into them is not known yet.
    ///
    /// # Errors
    /// Those of `has_table`.
    pub(crate) fn look<E>(
        workload: &'a str,
        tables: &'a [WorkloadTable],
        mut has_table: impl FnMut(&str) -> Result<bool, E>,
    ) -> Result<Self, E> {
        let mut missing = Vec::new();
        for table in tables {
            if !has_table(&table.name)? {
                missing.push(table.name.as_str());
            }
        }
        Ok(Self {
            workload,
            tables,
            missing,
            has_loads: has_table("dbtime_load")?,
            finished: None,
            all_finished: Vec::new(),
            all_begun: Vec::new(),
        })
    }

    /// What a load replaces, in words; `None`: nothing is there. `place` is the file, or the server
    /// as `--target` takes it; `kind` says which, or what to name another of.
    ///
    /// # Errors
    /// [`LoadError::NotOurs`] and [`LoadError::OtherScale`], where that may not be replaced.
    pub(crate) fn replaced(
        &self,
        place: String,
        kind: &'static str,
        marker: &LoadMarker,
        replacing: ReplaceScope,
    ) -> Result<Option<String>, LoadError> {
        let workload = marker.workload.clone();
        match (&self.finished, self.present()) {
            (Some(found), _) if found.scale != marker.scale && replacing == ReplaceScope::Same => {
                let loaded = found.scale;
                let requested = marker.scale;
                Err(LoadError::OtherScale { place, workload, loaded, requested })
            }
            (Some(found), _) => Ok(Some(format!("its data at scale {}", found.scale))),
            (None, _) if self.is_begun() => Ok(Some("a load that never finished".to_owned())),
            (None, Some(table)) if replacing == ReplaceScope::Same => {
                let (table, maker) = (table.to_owned(), maker(table));
                Err(LoadError::NotOurs { place, table, workload, maker, kind })
            }
            (None, Some(_)) => Ok(Some("tables that were not made for it".to_owned())),
            (None, None) => Ok(None),
        }
    }

    /// Whether a run can use it, at that scale if there is one. `target` is as `--target` takes it.
    ///
    /// # Errors
    /// All of [`LoadError`] but those of a load that would replace something.
    pub(crate) fn check(self, target: String, scale: Option<u64>) -> Result<LoadMarker, LoadError> {
        let workload = self.workload.to_owned();
        let what = match &self.finished {
            None if self.is_begun() => "it has tables, but loading them never finished".to_owned(),
            None => return Err(self.not_loaded(target)),
            Some(_) if !self.missing.is_empty() => format!("without {}", self.missing.join(", ")),
            Some(marker) => {
                return match scale {
                    Some(requested) if requested != marker.scale => {
                        Err(LoadError::Scale { workload, target, loaded: marker.scale, requested })
                    }
                    _ => Ok(marker.clone()),
                };
            }
        };
        Err(LoadError::HalfLoaded { workload, target, what })
    }

    /// That there is no data of it, with what is there instead.
    fn not_loaded(&self, target: String) -> LoadError {
        let names = self.all_finished.join(", ");
        let holds = (!names.is_empty()).then(|| format!("it holds {names}"));
        let table = self.present().map(|table| format!("table {table} was not made for it"));
        let replace = if table.is_some() { " --replace" } else { "" };
        let clauses: Vec<String> = holds.into_iter().chain(table).collect();
        let found = match clauses.is_empty() {
            true => String::new(),
            false => format!(" ({})", clauses.join(", ")),
        };
        LoadError::NotLoaded { workload: self.workload.to_owned(), target, found, replace }
    }

    /// Whose loads do not count any more once these tables are made anew: of the workloads that may
    /// have them, all that were only begun, and what was finished where everything is replaced.
    pub(crate) fn forgotten(&self, replacing: ReplaceScope) -> impl Iterator<Item = &String> {
        let is_replaced = replacing == ReplaceScope::Everything;
        let finished = self.all_finished.iter().filter(move |_| is_replaced);
        finished.chain(&self.all_begun).filter(|other| may_share(other, self.tables))
    }

    /// Whether a load of the workload was begun and not finished.
    fn is_begun(&self) -> bool {
        self.all_begun.iter().any(|begun| begun == self.workload)
    }

    /// A table of the workload's names that is there.
    fn present(&self) -> Option<&str> {
        let mut names = self.tables.iter().map(|table| table.name.as_str());
        names.find(|name| !self.missing.contains(name))
    }
}

/// Who makes tables of such names, as a clause.
fn maker(table: &str) -> &'static str {
    if table.starts_with("pgbench_") {
        " (its name is of those that pgbench -i makes)"
    } else if table.starts_with("sbtest") {
        " (its name is of those that sysbench prepare and workloads with its tables make)"
    } else {
        ""
    }
}

/// Whether another workload has one of these tables, or may have: what it has is known of those
/// that are shipped.
fn may_share(other: &str, tables: &[WorkloadTable]) -> bool {
    let is_path = other.contains('/') || other.ends_with(".toml");
    let known = Some(other).filter(|_| !is_path).and_then(|name| Workload::find(name).ok());
    let has = |name: &str| tables.iter().any(|table| table.name == name);
    known.is_none_or(|known| known.tables.iter().any(|table| has(&table.name)))
}

#[cfg(test)]
mod tests;
