//! What has to stay the same through a study: its plan, this program, those that it starts, the
//! machine.

use super::session_files::{identified_files, other_files};
use crate::digest::{digest, digest_of};
use crate::error::LabError;
use dbtime_engines::drive::plan::RunStop;
use dbtime_machine::environment::environment;
use dbtime_model::bounded_file::recorded_bytes;
use dbtime_model::study::{StudyHistory, StudyPlan, StudySession, study_file};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::OnceLock;

/// Files of the kernel that say how the machine runs: what they are called, and where they are.
const SETTINGS: [(&str, &str); 7] = [
    ("governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
    ("no turbo", "/sys/devices/system/cpu/intel_pstate/no_turbo"),
    ("boost", "/sys/devices/system/cpu/cpufreq/boost"),
    ("huge pages", "/sys/kernel/mm/transparent_hugepage/enabled"),
    ("address randomisation", "/proc/sys/kernel/randomize_va_space"),
    ("clock", "/sys/devices/system/clocksource/clocksource0/current_clocksource"),
    ("SMT", "/sys/devices/system/cpu/smt/control"),
];

/// This process's, for the plan of a folder with its text; without a number.
pub(super) fn of_study(folder: &Path, plan: &StudyPlan, text: &str) -> StudySession {
    StudySession {
        source_sha256: digest_at(folder, study_file::SOURCE).unwrap_or_default(),
        files: identified_files(plan),
        ..present(text)
    }
}

/// The files of a study's plan that were changed after its first run had begun, by their names.
pub fn changed_plan(folder: &Path, history: &StudyHistory) -> Vec<&'static str> {
    let Some(first) = history.sessions.first() else { return Vec::new() };
    let of_first =
        [(study_file::PLAN, &first.plan_sha256), (study_file::SOURCE, &first.source_sha256)];
    let is_changed = |(name, sha256): &(&'static str, &String)| {
        let present = digest_at(folder, name);
        !sha256.is_empty() && present.is_some_and(|present| present != **sha256)
    };
    of_first.into_iter().filter(is_changed).map(|(name, _)| name).collect()
}

/// SHA-256 of a file of a study; `None`: it cannot be read.
fn digest_at(folder: &Path, name: &str) -> Option<String> {
    Some(digest(&recorded_bytes(&folder.join(name)).ok()?))
}

/// This process's, for a plan of this text, without what its runs depend on besides.
fn present(plan: &str) -> StudySession {
    let machine = environment();
    let read = |path: &str| Some(std::fs::read_to_string(path).ok()?.trim().to_owned());
    let settings = SETTINGS.iter().filter_map(|(name, path)| {
        let value = read(path)?;
        // `always [madvise] never`: the present one is in brackets.
        let chosen = value.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
        let value = chosen.map_or(value.as_str(), |(chosen, _)| chosen);
        Some(format!("{name} {value}"))
    });
    StudySession {
        number: 0,
        at: jiff::Timestamp::now().to_string(),
        plan_sha256: digest(plan.as_bytes()),
        program_sha256: program_sha256().to_owned(),
        host: machine.host,
        kernel: machine.kernel,
        boot: read("/proc/sys/kernel/random/boot_id").unwrap_or_default(),
        cpus: machine.cpus,
        settings: settings.collect(),
        ..StudySession::default()
    }
}

/// The session that goes on with this history.
///
/// Errors: what is not as it was, in words; with `is_new` that makes another session. The plan has
/// to be as it was.
pub(super) fn continued(
    history: &StudyHistory,
    present: StudySession,
    is_new: bool,
) -> Result<StudySession, String> {
    let Some(last) = history.sessions.last() else {
        return Ok(StudySession { number: 1, ..present });
    };
    if last.plan_sha256 != present.plan_sha256 {
        return Err("its plan was changed: begin another study, for the runs before were made by \
                    another plan"
            .to_owned());
    }
    let mut changes = differences(last, &present);
    changes.extend(other_files(history, &last.files, &present.files));
    // After a power cut the machine is started again: within a block nothing changes by that.
    let is_started_again = last.boot != present.boot;
    match (changes.is_empty(), is_new || is_started_again) {
        (true, false) => Ok(StudySession { number: last.number, ..present }),
        (true, true) => Ok(StudySession { number: last.number + 1, ..present }),
        (false, _) if is_new => Ok(StudySession { number: last.number + 1, ..present }),
        (false, _) => Err(format!(
            "{} since its last run: put that back, or go on with --new-session, which compares \
             only within each session",
            changes.join(", ")
        )),
    }
}

fn differences(last: &StudySession, present: &StudySession) -> Vec<String> {
    let pairs = [
        ("another dbtime", last.program_sha256 == present.program_sha256),
        ("another machine", last.host == present.host),
        ("another kernel", last.kernel == present.kernel),
        ("another number of CPUs", last.cpus == present.cpus),
        ("other settings of the machine", last.settings == present.settings),
    ];
    pairs.into_iter().filter(|(_, is_same)| !is_same).map(|(what, _)| what.to_owned()).collect()
}

/// The hash of this program, which does not change.
static PROGRAM: OnceLock<String> = OnceLock::new();

fn program_sha256() -> &'static str {
    PROGRAM.get_or_init(|| digest_of_program(&RunStop::default()).unwrap_or_default())
}

/// Reads this program, whose hash the journal of a study begins with: on a busy machine that takes
/// seconds.
///
/// Errors: [`LabError::Interrupted`] once `stop` is set.
pub fn identify_program(stop: &RunStop) -> Result<(), LabError> {
    match digest_of_program(stop) {
        None if stop.is_set() => {
            Err(LabError::Interrupted("before the first run: nothing was measured"))
        }
        program => {
            // Where it cannot be read it has none.
            PROGRAM.get_or_init(|| program.unwrap_or_default());
            Ok(())
        }
    }
}

/// `None`: it cannot be read, or `stop` is set.
fn digest_of_program(stop: &RunStop) -> Option<String> {
    let file = File::open("/proc/self/exe").ok()?;
    digest_of(StoppableFile { file, stop }).ok().map(|(sha256, _)| sha256)
}

/// A file that fails to be read once a run is to end.
struct StoppableFile<'a> {
    file: File,
    stop: &'a RunStop,
}

impl Read for StoppableFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_set() {
            return Err(io::Error::other("it is no longer wanted"));
        }
        self.file.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::MonoNanos;
    use dbtime_model::study::IdentifiedFile;

    #[test]
    fn a_signal_ends_reading_this_program() {
        let stop = RunStop::default();
        stop.at(MonoNanos(0));
        let interrupted = identify_program(&stop).expect_err("a stop").to_string();
        assert!(interrupted.contains("nothing was measured"), "{interrupted}");
        identify_program(&RunStop::default()).expect("readable");
        assert_eq!(program_sha256().len(), 64);
    }

    #[test]
    fn what_changed_is_named_and_makes_another_session() {
        let first = StudySession { number: 1, ..present("plan") };
        let history = StudyHistory { sessions: vec![first], ..StudyHistory::default() };
        let same = continued(&history, present("plan"), false).expect("nothing changed");
        assert_eq!(same.number, 1);
        let other = StudySession { kernel: "7.0".to_owned(), ..present("plan") };
        let refused = continued(&history, other.clone(), false).expect_err("another kernel");
        assert!(refused.contains("another kernel since its last run"), "{refused}");
        assert_eq!(continued(&history, other, true).expect("another session").number, 2);
        let refused = continued(&history, present("plan 2"), true).expect_err("another plan");
        assert!(refused.contains("its plan was changed"), "{refused}");
    }

    #[test]
    fn another_server_makes_another_session() {
        let with = |sha256: &str| {
            let path = "/usr/sbin/mariadbd".to_owned();
            let server = IdentifiedFile { path, sha256: sha256.to_owned(), is_program: true };
            StudySession { number: 1, files: vec![server], ..present("plan") }
        };
        let history = StudyHistory { sessions: vec![with("1")], ..StudyHistory::default() };
        assert_eq!(continued(&history, with("1"), false).expect("the same").number, 1);
        let refused = continued(&history, with("2"), false).expect_err("another server");
        assert!(refused.starts_with("another mariadbd (/usr/sbin/mariadbd) since its last run"));
        assert_eq!(continued(&history, with("2"), true).expect("another session").number, 2);
    }

    #[test]
    fn files_of_a_plan_that_were_changed_are_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).expect("written");
        };
        write(study_file::PLAN, "plan");
        write(study_file::SOURCE, "source");
        let source_sha256 = digest(b"source");
        let first = StudySession { source_sha256, ..present("plan") };
        let history = StudyHistory { sessions: vec![first], ..StudyHistory::default() };
        let changed = || changed_plan(folder.path(), &history);
        assert_eq!(changed(), [""; 0]);
        write(study_file::PLAN, "plan 2");
        assert_eq!(changed(), ["plan.json"]);
        write(study_file::SOURCE, "source 2");
        assert_eq!(changed(), ["plan.json", "study.toml"]);
        assert_eq!(changed_plan(folder.path(), &StudyHistory::default()), [""; 0]);
    }
}
