//! The files of others that the runs of a plan depend on: the servers that are started for them,
//! and what external commands execute and read.

use super::command_files::command_files;
use super::pacing::{instant, run_length};
use crate::digest::digest_of;
use crate::servers::{ServerRequest, installed_binary};
use crate::targets::TargetForm;
use dbtime_engines::server::secret::ServerSecret;
use dbtime_model::study::{IdentifiedFile, ProgramRules, StudyCell, StudyHistory, StudyPlan};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};

/// A plan has no more of them: a command may name a folder full of files.
const MOST_FILES: usize = 64;

/// Those of a plan as they are now, by their paths; what cannot be read is left out.
pub(super) fn identified_files(plan: &StudyPlan) -> Vec<IdentifiedFile> {
    let directory = Path::new(&plan.directory);
    let mut files: BTreeMap<PathBuf, bool> = BTreeMap::new();
    let of_programs = plan.program.iter().flat_map(|rules| programs(plan, rules, directory));
    let of_servers = servers(plan, directory).into_iter().map(|binary| (binary, true));
    for (path, is_program) in of_servers.chain(of_programs) {
        *files.entry(path).or_default() |= is_program;
    }
    files.into_iter().take(MOST_FILES).filter_map(identify).collect()
}

/// The binaries of the private servers.
fn servers(plan: &StudyPlan, directory: &Path) -> Vec<PathBuf> {
    let targets = plan.cells.iter().filter_map(|cell| Some(&cell.spec.as_ref()?.target));
    let named: BTreeSet<(&str, &[String])> =
        targets.map(|target| (target.url.as_str(), target.server_env.as_slice())).collect();
    named.into_iter().filter_map(|(url, variables)| server(url, variables, directory)).collect()
}

fn server(url: &str, variables: &[String], directory: &Path) -> Option<PathBuf> {
    let Some(TargetForm::Private(product)) = TargetForm::of(url) else { return None };
    let prefix = url.split_once(':').map(|(_, prefix)| directory.join(prefix));
    let variable = |text: &String| {
        let (name, value) = text.split_once('=')?;
        Some((name.to_owned(), ServerSecret::new(value)))
    };
    let environment = variables.iter().filter_map(variable).collect();
    installed_binary(&ServerRequest { prefix, environment, ..ServerRequest::new(product) })
}

/// What the commands of a plan's configurations execute and read.
fn programs(plan: &StudyPlan, rules: &ProgramRules, directory: &Path) -> Vec<(PathBuf, bool)> {
    let of_cell = |cell: &StudyCell| {
        let around = [&rules.prepare, &rules.conclude].into_iter().flatten();
        let scripts = around.chain([&cell.command]);
        let files = scripts.flat_map(|script| command_files(script, &cell.factors, directory));
        files.collect::<Vec<_>>()
    };
    plan.cells.iter().flat_map(of_cell).collect()
}

fn identify((path, is_program): (PathBuf, bool)) -> Option<IdentifiedFile> {
    let (sha256, _) = digest_of(File::open(&path).ok()?).ok()?;
    Some(IdentifiedFile { path: path.display().to_string(), sha256, is_program })
}

/// Which files are others than in an earlier session of this history, in words; nothing where an
/// earlier version began that one.
pub(super) fn other_files(
    history: &StudyHistory,
    earlier: &[IdentifiedFile],
    present: &[IdentifiedFile],
) -> Vec<String> {
    if earlier.is_empty() {
        return Vec::new();
    }
    let before = |file: &IdentifiedFile| earlier.iter().find(|one| one.path == file.path);
    let is_other = |file: &&IdentifiedFile| match before(file) {
        Some(before) if before.sha256 == file.sha256 => false,
        Some(_) => file.is_program || !is_of_runs(file, history),
        None => file.is_program,
    };
    let changed = present.iter().filter(is_other).map(|file| format!("another {}", named(file)));
    let is_gone = |file: &&IdentifiedFile| {
        let is_it = |one: &IdentifiedFile| name_of(one) == name_of(file);
        file.is_program && !present.iter().any(is_it)
    };
    let gone = earlier.iter().filter(is_gone).map(|file| format!("no {}", named(file)));
    changed.chain(gone).collect()
}

/// Whether it was written while runs were made: what they write is another after each.
fn is_of_runs(file: &IdentifiedFile, history: &StudyHistory) -> bool {
    let modified = Path::new(&file.path).metadata().and_then(|file| file.modified()).ok();
    let modified = modified.and_then(|at| Timestamp::try_from(at).ok());
    let began = history.runs.first().and_then(|run| instant(&run.trial.at));
    let course = began.zip(last_end(history));
    let Some(((began, ended), modified)) = course.zip(modified) else { return false };
    (began..=ended).contains(&modified)
}

/// When the last run ended. One that was cut off may have written until its end, which nothing
/// says: it took no longer than the longest of the others.
fn last_end(history: &StudyHistory) -> Option<Timestamp> {
    let last = history.runs.last()?;
    if let Some(ended) = &last.ended_at {
        return instant(ended);
    }
    let longest = history.runs.iter().filter_map(run_length).max().unwrap_or_default();
    instant(&last.trial.at)?.checked_add(longest).ok()
}

fn named(file: &IdentifiedFile) -> String {
    format!("{} ({})", name_of(file), file.path)
}

fn name_of(file: &IdentifiedFile) -> &str {
    file.path.rsplit('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::study::{StudyRun, StudyTrial};

    fn file(path: &str, sha256: &str, is_program: bool) -> IdentifiedFile {
        IdentifiedFile { path: path.to_owned(), sha256: sha256.to_owned(), is_program }
    }

    #[test]
    fn what_is_another_program_is_named_with_its_place() {
        let history = StudyHistory::default();
        let earlier = [file("/usr/sbin/mariadbd", "1", true), file("/x/a.sql", "1", false)];
        let of = |present: &[IdentifiedFile]| other_files(&history, &earlier, present);
        assert_eq!(of(&earlier), [""; 0]);
        let other = [file("/usr/sbin/mariadbd", "2", true), file("/x/a.sql", "2", false)];
        let both = ["another mariadbd (/usr/sbin/mariadbd)", "another a.sql (/x/a.sql)"];
        assert_eq!(of(&other), both);
        let elsewhere = [file("/opt/mariadbd", "1", true), file("/x/new.txt", "1", false)];
        assert_eq!(of(&elsewhere), ["another mariadbd (/opt/mariadbd)"]);
        assert_eq!(of(&[]), ["no mariadbd (/usr/sbin/mariadbd)"]);
        assert_eq!(other_files(&history, &[], &other), [""; 0]);
    }

    #[test]
    fn what_runs_have_written_is_no_other_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out.txt");
        std::fs::write(&path, "2").expect("written");
        let path = path.display().to_string();
        let run = |began: &str, ended: Option<&str>| {
            let trial = StudyTrial { at: began.to_owned(), ..Default::default() };
            let ended_at = ended.map(str::to_owned);
            StudyRun { trial, outcome: None, reason: None, ended_at }
        };
        let first = |ended: &str| run("2020-01-01T00:00:00Z", Some(ended));
        let of_runs = |runs| StudyHistory { runs, ..StudyHistory::default() };
        let ended = |at: &str| of_runs(vec![first(at)]);
        let of = |history: &StudyHistory| {
            other_files(history, &[file(&path, "1", false)], &[file(&path, "2", false)])
        };
        assert_eq!(of(&ended("2099-01-01T00:00:00Z")), [""; 0]);
        assert_eq!(of(&ended("2020-01-02T00:00:00Z")).len(), 1);
        // One that was cut off has written as long as another one ran.
        let cut_off = || run("2025-01-01T00:00:00Z", None);
        assert_eq!(of(&of_runs(vec![first("2090-01-01T00:00:00Z"), cut_off()])), [""; 0]);
        assert_eq!(of(&of_runs(vec![first("2020-01-02T00:00:00Z"), cut_off()])).len(), 1);
        let program = [file(&path, "1", true), file(&path, "2", true)];
        let all_day = ended("2099-01-01T00:00:00Z");
        assert_eq!(other_files(&all_day, &program[..1], &program[1..]).len(), 1);
    }
}
