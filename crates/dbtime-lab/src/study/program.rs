//! A run of an external program, as a configuration of a study: the shell runs it, and it ends with
//! all that it has started; what it printed and used stays in the folder of the run.

use super::TrialResult;
use super::program_noise::ProgramNoise;
use super::program_output::program_values;
use crate::run_process::{PresentProcess, STOP_INTERVAL};
use crate::store::{NOFOLLOW, make_folder, write_file};
use dbtime_engines::drive::plan::RunStop;
use dbtime_model::Nanos;
use dbtime_model::bounded_file::{recorded_bytes, recorded_text};
use dbtime_model::process::UsageReport;
use dbtime_model::secret_text::printed_without_secrets;
use dbtime_model::study::{
    PROGRAM_SCHEMA, ProgramMetric, ProgramRecord, ProgramRules, StudyCell, TrialRecord, study_file,
};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

/// The most that is read of what a program has printed. Unit: bytes.
const MOST_OUTPUT: u64 = 64 << 20;

/// The most that is shown of its last message. Unit: characters.
const LONGEST_MESSAGE: usize = 200;

/// What the steps around a run are called in messages.
const PREPARE: &str = "prepare";
const CONCLUDE: &str = "conclude";

/// Does nothing: what was prepared ends behind it.
const NO_COMMAND: &str = ":";

/// What the runs of an external program have in common.
#[derive(Clone, Debug)]
pub(super) struct ProgramTrials<'a> {
    /// How they are made.
    pub(super) rules: &'a ProgramRules,
    /// The folder that they work in.
    pub(super) directory: &'a Path,
    /// This program, whose `usage` runs the command and measures what it uses.
    pub(super) dbtime: PathBuf,
    /// Ends a run early.
    pub(super) stop: &'a RunStop,
}

impl ProgramTrials<'_> {
    /// Makes a run of a configuration, with its record in this folder, which is not there. Blocks
    /// until it has ended.
    pub(super) fn make(&self, cell: &StudyCell, seed: u64, out: &Path) -> TrialResult {
        match self.made(cell, seed, out) {
            _ if self.stop.is_set() => TrialResult::Interrupted,
            Ok(record) => TrialResult::Recorded(TrialRecord::Program(Box::new(record))),
            Err(reason) => TrialResult::Failed(reason),
        }
    }

    fn made(&self, cell: &StudyCell, seed: u64, out: &Path) -> Result<ProgramRecord, String> {
        let _made = make_folder(out).map_err(|error| error.to_string())?;
        let run = ProgramRun { trials: self, cell, seed, out };
        let measured = match &self.rules.prepare {
            Some(prepare) => run.step(PREPARE, prepare).and_then(|()| run.measured()),
            None => run.measured(),
        };
        // What was prepared is put away in any case.
        let without = self.rules.prepare.as_ref().map(|_| NO_COMMAND);
        let conclude = self.rules.conclude.as_deref().or(without);
        let concluded = conclude.map_or(Ok(()), |conclude| run.step(CONCLUDE, conclude));
        let record = measured?;
        concluded?;
        let json = serde_json::to_string_pretty(&record).map_err(|error| error.to_string())?;
        write_file(out, study_file::PROGRAM, &(json + "\n")).map_err(|error| error.to_string())?;
        Ok(record)
    }
}

/// What the shell is given.
struct ShellCommand<'a> {
    script: &'a str,
    /// Where the report of what it used goes.
    usage: &'a Path,
    /// What of the run's processes in the background ends with it: the rule of `dbtime usage`.
    left: &'static str,
}

struct ProgramRun<'a> {
    trials: &'a ProgramTrials<'a>,
    cell: &'a StudyCell,
    seed: u64,
    out: &'a Path,
}

impl ProgramRun<'_> {
    /// Has the shell do what is in no metric.
    fn step(&self, name: &str, command: &str) -> Result<(), String> {
        let files =
            [self.file(study_file::PROGRAM_MESSAGES)?, self.file(study_file::PROGRAM_MESSAGES)?];
        // What was prepared is put away also where the study is to end.
        let is_ending = || name == PREPARE && self.trials.stop.is_set();
        let left = if name == PREPARE { "keep" } else { "all" };
        let command = ShellCommand { script: command, usage: "/dev/null".as_ref(), left };
        let ended = self.shell(command, files, &is_ending);
        ended.and_then(|status| self.successful(status)).map_err(|why| format!("{name}: {why}"))
    }

    /// The run itself.
    fn measured(&self) -> Result<ProgramRecord, String> {
        let files =
            [self.file(study_file::PROGRAM_OUTPUT)?, self.file(study_file::PROGRAM_MESSAGES)?];
        let usage = self.out.join(study_file::PROGRAM_USAGE);
        let (noise, started_at) = (ProgramNoise::begin(), super::now());
        let is_ending = || self.trials.stop.is_set();
        let command = ShellCommand { script: &self.cell.command, usage: &usage, left: "new" };
        let ended = self.shell(command, files, &is_ending);
        let (noise, ended_at) = (noise.end(), super::now());
        self.successful(ended?)?;
        let usage = read_usage(&usage)?;
        let mut record = ProgramRecord {
            schema: PROGRAM_SCHEMA,
            dbtime: env!("CARGO_PKG_VERSION").to_owned(),
            command: self.cell.command.clone(),
            variables: self.cell.factors.clone(),
            seed: self.seed,
            started_at,
            ended_at,
            steal_pct: noise.machine.steal_pct,
            foreign_cpu_pct: Some(noise.foreign_cpu_pct(&usage)),
            ..ProgramRecord::default()
        };
        set_used(&mut record, &usage);
        let printed = read_output(self.out)?;
        record.values = program_values(&self.trials.rules.metrics, &record, &printed)?;
        Ok(record)
    }

    /// Has the shell run a command to its end, or until it is to end.
    fn shell(
        &self,
        command: ShellCommand<'_>,
        [output, messages]: [File; 2],
        is_ending: &dyn Fn() -> bool,
    ) -> Result<ExitStatus, String> {
        let mut process = Command::new(&self.trials.dbtime);
        process.args(["usage", "--json", "--parent", "--left", command.left, "--out"]);
        process.arg(command.usage).args(["--", "sh", "-c", command.script]);
        let variables = self.cell.factors.iter().map(|one| (&one.name, &one.value));
        process.envs(variables).env("DBTIME_SEED", self.seed.to_string());
        process.env("DBTIME_RUN", self.out).current_dir(self.trials.directory);
        // As long as its stdin is open it knows that this process is there.
        process.stdin(Stdio::piped()).stdout(output).stderr(messages);
        // Signals from the terminal come by this process, and once.
        let mut child = process.process_group(0).spawn().map_err(|error| error.to_string())?;
        let pid = Pid::from_child(&child);
        let _present = PresentProcess::set(pid);
        let (begun, most) = (Instant::now(), self.trials.rules.timeout_s);
        let mut is_late = false;
        let mut was_ended = false;
        loop {
            if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
                return match is_late {
                    true => Err(format!("it took longer than {most} s")),
                    false => Ok(status),
                };
            }
            is_late |= begun.elapsed().as_secs_f64() > most;
            if !was_ended && (is_late || is_ending()) {
                // It ends the command with all that is of its process group.
                let _ = kill_process(pid, Signal::TERM);
                was_ended = true;
            }
            std::thread::sleep(STOP_INTERVAL);
        }
    }

    /// A file of the run's folder, at its end.
    fn file(&self, name: &str) -> Result<File, String> {
        let path = self.out.join(name);
        let mut options = OpenOptions::new();
        let file = options.create(true).append(true).custom_flags(NOFOLLOW).open(&path);
        file.map_err(|error| format!("{}: {error}", path.display()))
    }

    /// That it has ended well.
    fn successful(&self, status: ExitStatus) -> Result<(), String> {
        if status.success() {
            return Ok(());
        }
        let messages = recorded_bytes(&self.out.join(study_file::PROGRAM_MESSAGES));
        let messages = messages.unwrap_or_default();
        let messages = String::from_utf8_lossy(&messages);
        let last = messages.lines().rev().map(str::trim).find(|line| !line.is_empty());
        let last = last.unwrap_or("it printed no message");
        let last = printed_without_secrets(last);
        let last: String = last.chars().take(LONGEST_MESSAGE).collect();
        Err(match status.code() {
            Some(code) => format!("exit code {code}: {last}"),
            None => format!("{status}: {last}"),
        })
    }
}

/// Takes over what the kernel says of a run.
fn set_used(record: &mut ProgramRecord, usage: &UsageReport) {
    record.wall_s = usage.used.wall.as_secs();
    record.user_s = usage.rusage.map(|rusage| rusage.user.as_secs());
    record.system_s = usage.rusage.map(|rusage| rusage.system.as_secs());
    record.rss_peak_bytes = usage.rusage.map(|rusage| rusage.max_rss_bytes);
    record.run_delay_s = usage.used.resources.run_delay.map(Nanos::as_secs);
}

/// The record of a run with all figures that follow from the other files in its folder, which are
/// these metrics and what the kernel says.
///
/// Errors: one of the files cannot be read, or lacks the first metric; in words.
pub(super) fn recomputed(
    record: &ProgramRecord,
    metrics: &[ProgramMetric],
    folder: &Path,
) -> Result<ProgramRecord, String> {
    let mut found = record.clone();
    set_used(&mut found, &read_usage(&folder.join(study_file::PROGRAM_USAGE))?);
    // Records of earlier versions have none.
    found.run_delay_s = found.run_delay_s.filter(|_| record.run_delay_s.is_some());
    found.values = program_values(metrics, &found, &read_output(folder)?)?;
    Ok(found)
}

/// What a program printed in the run of this folder.
///
/// Errors: it cannot be read, in words.
fn read_output(folder: &Path) -> Result<String, String> {
    use std::io::Read;
    let path = folder.join(study_file::PROGRAM_OUTPUT);
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut bytes = Vec::new();
    File::open(&path)
        .map_err(failed)?
        .take(MOST_OUTPUT + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > MOST_OUTPUT {
        return Err(format!("{} has more than {} MiB", path.display(), MOST_OUTPUT >> 20));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn read_usage(path: &Path) -> Result<UsageReport, String> {
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = recorded_text(path).map_err(|error| failed(&error))?;
    serde_json::from_str(&text).map_err(|error| failed(&error))
}
