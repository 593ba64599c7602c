//! How dbtime ends: one list of exit codes, and the errors that lead to them.

use crate::interrupt::{self, EndingSignal};
use crate::{cli, screen};
use dbtime_lab::LabError;
use dbtime_report::compare::GroupOutcome;
use std::process::ExitCode;

/// What dbtime ends with, and what that means: for `--help` and the manual pages. A meaning is in
/// lines as the help has them.
pub(crate) const EXIT_CODES: [(&str, &str); 7] = [
    ("0", "fine; the report warns where a figure may be wrong"),
    (
        "1",
        "a limit or comparison failed, even allowing for the driver's lateness and\n\
         other activity on the machine; doctor --strict: something is bad;\n\
         query: an expectation is not met",
    ),
    ("2", "wrong usage or configuration"),
    (
        "3",
        "target, permission or environment; also most transactions failed, or the\n\
         output could not be written",
    ),
    (
        "4",
        "undecided: a limit failed, perhaps only through the driver's lateness or\n\
         other activity on the machine; a gate cannot tell; `study ab` ends\n\
         without a verdict; an expectation of query is not shown to be met; with\n\
         --strict any invalid measurement and any incomplete trace; a recording\n\
         that ends early",
    ),
    ("70", "a bug"),
    (
        "128 + n",
        "ended early by signal n, such as SIGHUP (129), SIGINT (130, Ctrl-C) and\n\
         SIGTERM (143): the measurement up to then is reported, unless a second\n\
         signal came, and meets no limit; 0 where nothing sets an end: top,\n\
         trace without --time or -n, usage -p without --time",
    ),
];

/// [`EXIT_CODES`] as `dbtime --help` ends with them.
pub(crate) fn codes_in_help() -> String {
    const MARGIN: &str = "\n      ";
    let lines = EXIT_CODES.iter().map(|(code, meaning)| {
        let meaning = meaning.replace('\n', MARGIN);
        // What does not fit the margin has a line of its own.
        let gap = if code.len() < 4 { "" } else { MARGIN };
        format!("\n  {code:<4}{gap}{meaning}")
    });
    format!("Exit codes:{}", lines.collect::<String>())
}

/// How the process ends, by one of [`EXIT_CODES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ProcessExit {
    /// Fine, with warnings in the report where a figure may be wrong.
    Fine,
    /// This signal ended the work early: what was measured until then is reported, and is no
    /// verdict.
    EndedEarly(EndingSignal),
    /// A limit or a comparison failed.
    Failed,
    /// Wrong usage or configuration.
    Usage,
    /// Target, permission or environment.
    Environment,
    /// A limit that the measurement's own flaws may have decided, a gate whose margin lies between
    /// the bounds of the change, or a comparison of two settings without a verdict; with `--strict`
    /// any measurement that is not valid.
    Undecided,
    Bug,
    /// What a command ended with that was run for the user, as time(1) does.
    OfCommand(u8),
}

impl ProcessExit {
    /// The number that the shell sees.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::EndedEarly(signal) => signal.code(),
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Environment => 3,
            Self::Undecided => 4,
            Self::Bug => 70,
            Self::OfCommand(code) => code,
        }
    }

    /// The meaning of what another process of dbtime ended with.
    pub(crate) fn of_process(code: u8) -> Self {
        let all = [Self::Fine, Self::Failed, Self::Usage, Self::Environment, Self::Undecided];
        let early = EndingSignal::ALL.map(Self::EndedEarly);
        all.into_iter().chain(early).find(|exit| exit.code() == code).unwrap_or(Self::Bug)
    }

    /// What it becomes of work that was ended before it was done, where a signal did that.
    pub(crate) fn of_part(self) -> Self {
        interrupt::signal().map_or(self, |signal| self.cut_short_by(signal))
    }

    /// What it becomes of a command that has failed: ended by a signal, where one came.
    pub(crate) fn or_by_signal(self) -> Self {
        interrupt::signal().map_or(self, Self::EndedEarly)
    }

    /// A verdict that the rest could have changed is none.
    fn cut_short_by(self, signal: EndingSignal) -> Self {
        match self {
            Self::Fine | Self::Undecided | Self::EndedEarly(_) => Self::EndedEarly(signal),
            other => other,
        }
    }

    /// What it becomes when the output or the record could not be written: no verdict is worth
    /// more than what explains it, but a failure that was told on stderr keeps its code.
    pub(crate) fn without_output(self) -> Self {
        match self {
            Self::Fine
            | Self::EndedEarly(_)
            | Self::Failed
            | Self::Undecided
            | Self::OfCommand(0) => Self::Environment,
            Self::Usage | Self::Environment | Self::Bug | Self::OfCommand(_) => self,
        }
    }
}

/// How a gate ends the process.
impl From<GroupOutcome> for ProcessExit {
    fn from(outcome: GroupOutcome) -> Self {
        match outcome {
            GroupOutcome::Good => Self::Fine,
            GroupOutcome::Worse => Self::Failed,
            GroupOutcome::Undecided => Self::Undecided,
        }
    }
}

impl From<ProcessExit> for ExitCode {
    fn from(exit: ProcessExit) -> Self {
        Self::from(exit.code())
    }
}

/// What ends a command before its work is done.
#[derive(Debug)]
pub(crate) enum CommandFailure {
    /// Wrong usage or configuration.
    Usage(anyhow::Error),
    /// Target, permission or environment.
    Environment(anyhow::Error),
}

impl CommandFailure {
    /// Wrong usage, in a sentence.
    pub(crate) fn usage(text: impl std::fmt::Display) -> Self {
        Self::Usage(anyhow::anyhow!("{text}"))
    }

    /// Trouble with target, permission or environment, in a sentence.
    pub(crate) fn environment(text: impl std::fmt::Display) -> Self {
        Self::Environment(anyhow::anyhow!("{text}"))
    }

    /// How the process ends.
    pub(crate) fn exit(&self) -> ProcessExit {
        let (exit, error) = match self {
            Self::Usage(error) => (ProcessExit::Usage, error),
            Self::Environment(error) => (ProcessExit::Environment, error),
        };
        match error.downcast_ref::<LabError>() {
            Some(error) if error.may_follow_end() => exit.or_by_signal(),
            _ => exit,
        }
    }

    /// What it says, without a word of dbtime's.
    pub(crate) fn words(&self) -> String {
        let (Self::Usage(error) | Self::Environment(error)) = self;
        error.to_string()
    }

    /// Prints it and gives the exit code.
    pub(crate) fn report(self) -> ProcessExit {
        let exit = self.exit();
        let (Self::Usage(error) | Self::Environment(error)) = self;
        match error.downcast_ref::<clap::Error>() {
            Some(clap) => match cli::complaint(clap) {
                Some(words) => {
                    screen::error(&words);
                    exit
                }
                None => {
                    let printed = clap.print();
                    if clap.use_stderr() {
                        return exit;
                    }
                    // Help and version are wanted, not failures; clap prints them to stdout.
                    screen::printed(printed);
                    ProcessExit::Fine
                }
            },
            None => {
                screen::error(&error.to_string());
                exit
            }
        }
    }
}

impl From<LabError> for CommandFailure {
    fn from(error: LabError) -> Self {
        match error.is_usage() {
            true => Self::Usage(error.into()),
            false => Self::Environment(error.into()),
        }
    }
}

/// For what the lab plans with the command line's knowledge of flags.
impl From<CommandFailure> for LabError {
    fn from(failure: CommandFailure) -> Self {
        let text = failure.words();
        match failure {
            CommandFailure::Usage(_) => Self::Usage(text),
            CommandFailure::Environment(_) => Self::Target(text),
        }
    }
}

impl From<dbtime_observe::process::ProcessError> for CommandFailure {
    fn from(error: dbtime_observe::process::ProcessError) -> Self {
        Self::Environment(error.into())
    }
}

impl From<dbtime_model::record::ReadError> for CommandFailure {
    fn from(error: dbtime_model::record::ReadError) -> Self {
        Self::Environment(error.into())
    }
}

impl From<dbtime_lab::counters::FileError> for CommandFailure {
    fn from(error: dbtime_lab::counters::FileError) -> Self {
        Self::Environment(error.into())
    }
}

impl From<dbtime_lab::counters::DifferenceError> for CommandFailure {
    fn from(error: dbtime_lab::counters::DifferenceError) -> Self {
        Self::Usage(error.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_meaning_in_the_help() {
        let (of_signals, listed): (Vec<_>, Vec<_>) =
            EXIT_CODES.iter().map(|(code, _)| *code).partition(|code| *code == "128 + n");
        assert_eq!(of_signals.len(), 1, "the codes of signals");
        assert!(EndingSignal::ALL.iter().all(|signal| signal.code() > 128));
        let mut listed: Vec<u8> =
            listed.iter().map(|code| code.parse().expect("a number")).collect();
        listed.sort_unstable();
        let ends = [
            ProcessExit::Fine,
            ProcessExit::Failed,
            ProcessExit::Usage,
            ProcessExit::Environment,
            ProcessExit::Undecided,
            ProcessExit::Bug,
        ];
        assert_eq!(listed, ends.map(ProcessExit::code));
        let help = codes_in_help();
        assert!(help.starts_with("Exit codes:\n  0   fine;"), "{help}");
        assert!(help.contains("lateness and\n      other activity"), "{help}");
        assert!(help.contains("\n  128 + n\n      ended early"), "{help}");
    }

    #[test]
    fn a_gate_ends_with_what_it_comes_to() {
        let outcomes = [GroupOutcome::Good, GroupOutcome::Worse, GroupOutcome::Undecided];
        let codes = outcomes.map(|outcome| ProcessExit::from(outcome).code());
        assert_eq!(codes, [0, 1, 4]);
    }

    #[test]
    fn the_help_says_which_commands_a_signal_is_meant_to_end() {
        let help = codes_in_help();
        let told = "and meets no limit; 0 where nothing sets an end: top,\n      trace without";
        assert!(help.contains(told), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
    }

    #[test]
    fn what_was_ended_early_is_no_pass_and_no_missed_limit_is_forgotten() {
        let early = ProcessExit::EndedEarly(EndingSignal::Term);
        assert_eq!((early.code(), ProcessExit::of_process(143)), (143, early));
        assert_eq!(ProcessExit::of_process(130), ProcessExit::EndedEarly(EndingSignal::Int));
        assert_eq!(ProcessExit::of_process(129), ProcessExit::EndedEarly(EndingSignal::Hup));
        assert!(ProcessExit::Fine < early && early < ProcessExit::Failed, "the worst of several");
        let part = |exit: ProcessExit| exit.cut_short_by(EndingSignal::Term);
        // A process of the run hears of every signal as of Ctrl-C.
        let of_child = ProcessExit::EndedEarly(EndingSignal::Int);
        for undecided in [ProcessExit::Fine, ProcessExit::Undecided, of_child] {
            assert_eq!(part(undecided), early);
        }
        for decided in [ProcessExit::Failed, ProcessExit::Environment, ProcessExit::OfCommand(2)] {
            assert_eq!(part(decided), decided);
        }
        assert_eq!(early.without_output(), ProcessExit::Environment);
    }
}
