//! The flags of `dbtime run`: what each is called, takes and says, and what it is a flag of.
//!
//! The command line, its completions and pages come from this list, and so does what sweeps and
//! studies may vary, and what goes together.

mod foreign_words;
mod of_study;
mod peers;
mod table;
mod together;

pub(super) use peers::{FlagPlace, as_number, placed_in};
pub(crate) use peers::{led_to, own_words};
pub(crate) use together::check_together;

use super::misplaced;
use crate::secrets;
use clap::{Arg, ArgAction, value_parser};
use dbtime_model::spec::{FlagSetting, LimitError, LimitMetric, RunSpec, WorkloadLimit};
use peers::PeerWords;
use std::path::PathBuf;
use table::RUN_FLAGS;

/// The value of a switch that is given.
const ON: &str = "true";

/// What a flag belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlagClass {
    /// A run: its written form has it, and the runs of a sweep or a study may differ in it.
    Run,
    /// How many runs a command makes: none of them has it.
    Runs,
    /// The whole command: what becomes of its runs.
    Command,
    /// The process that makes one run for another process of dbtime.
    Process,
}

impl FlagClass {
    /// Why the runs of a sweep or a study cannot differ in the flag.
    pub(crate) fn why_fixed(self) -> &'static str {
        match self {
            Self::Run => "it names the workload of all runs",
            Self::Runs | Self::Command => "it is for all runs together",
            Self::Process => "it is for the process of a single run",
        }
    }
}

/// What a flag takes. The texts are what its value is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FlagShape {
    /// It is no flag, but a word.
    Positional,
    /// Nothing: it is given or not.
    Switch,
    /// A value; the last counts.
    One(&'static str),
    /// A path; the last counts.
    File(&'static str),
    /// A value each time that it is given.
    Many(&'static str),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct RunFlag {
    /// Its long name.
    pub(crate) name: &'static str,
    /// What it belongs to.
    pub(crate) class: FlagClass,
    heading: &'static str,
    shape: FlagShape,
    help: &'static str,
    /// What it has where it is not given, for the help; `None`: nothing, or what the help says.
    usual: Option<&'static str>,
    /// What it cannot be given with.
    against: &'static [&'static str],
    /// Whether it describes a run by itself, so that no flag that describes one goes with it.
    is_whole_run: bool,
    /// What it cannot be given without.
    needed: Option<&'static str>,
    /// What other tools call it.
    peers: PeerWords,
    /// Values that completions offer; there may be more.
    offered: &'static [&'static str],
    /// How its value is read where it describes no run, and whether it is hidden.
    grammar: fn(Arg) -> Arg,
}

const fn of_run(
    name: &'static str,
    heading: &'static str,
    shape: FlagShape,
    help: &'static str,
) -> RunFlag {
    RunFlag {
        name,
        class: FlagClass::Run,
        heading,
        shape,
        help,
        usual: None,
        against: &[],
        is_whole_run: false,
        needed: None,
        peers: PeerWords::NONE,
        offered: &[],
        grammar: as_it_is,
    }
}

const fn of_runs(
    name: &'static str,
    heading: &'static str,
    shape: FlagShape,
    help: &'static str,
) -> RunFlag {
    RunFlag { class: FlagClass::Runs, ..of_run(name, heading, shape, help) }
}

const fn of_command(
    name: &'static str,
    heading: &'static str,
    shape: FlagShape,
    help: &'static str,
) -> RunFlag {
    RunFlag { class: FlagClass::Command, ..of_run(name, heading, shape, help) }
}

const fn of_process(
    name: &'static str,
    heading: &'static str,
    shape: FlagShape,
    help: &'static str,
) -> RunFlag {
    RunFlag { class: FlagClass::Process, ..of_run(name, heading, shape, help) }
}

fn as_it_is(arg: Arg) -> Arg {
    arg
}

impl RunFlag {
    const fn usually(self, value: &'static str) -> Self {
        Self { usual: Some(value), ..self }
    }

    const fn against(self, against: &'static [&'static str]) -> Self {
        Self { against, ..self }
    }

    const fn for_whole_run(self) -> Self {
        Self { is_whole_run: true, ..self }
    }

    const fn needing(self, needed: &'static str) -> Self {
        Self { needed: Some(needed), ..self }
    }

    const fn called(self, peers: PeerWords) -> Self {
        Self { peers, ..self }
    }

    const fn offering(self, offered: &'static [&'static str]) -> Self {
        Self { offered, ..self }
    }

    const fn read_by(self, grammar: fn(Arg) -> Arg) -> Self {
        Self { grammar, ..self }
    }

    /// Whether it has no value.
    pub(crate) fn is_switch(&self) -> bool {
        self.shape == FlagShape::Switch
    }

    /// Whether its value is a path.
    pub(super) fn takes_path(&self) -> bool {
        matches!(self.shape, FlagShape::File(_))
    }

    /// All that it cannot be given with, as far as this flag says so.
    fn conflicts(&self) -> Vec<&'static str> {
        let describing = self.is_whole_run.then(describing).into_iter().flatten();
        self.against.iter().copied().chain(describing).collect()
    }

    /// Whether the runs of a sweep or a study may differ in it.
    pub(crate) fn can_vary(&self) -> bool {
        self.class == FlagClass::Run && self.shape != FlagShape::Positional
    }

    /// Its part of the grammar.
    pub(super) fn arg(&self) -> Arg {
        let arg = Arg::new(self.name).help(self.help).aliases(self.peers.taken.iter().copied());
        let arg = match self.shape {
            FlagShape::Positional => arg.value_name("WORKLOAD"),
            _ => arg.long(self.name).help_heading(self.heading),
        };
        let arg = match self.shape {
            FlagShape::Positional => arg,
            FlagShape::Switch => arg.action(ArgAction::SetTrue),
            FlagShape::One(value) => self.with_reader(arg.value_name(value)),
            FlagShape::File(value) => arg.value_name(value).value_parser(value_parser!(PathBuf)),
            FlagShape::Many(value) => {
                self.with_reader(arg.value_name(value).action(ArgAction::Append))
            }
        };
        let arg = arg.conflicts_with_all(self.conflicts());
        let arg = match self.needed {
            Some(needed) => arg.requires(needed),
            None => arg,
        };
        let arg = match self.usual {
            Some(value) => arg.default_value(value),
            None => arg,
        };
        (self.grammar)(arg)
    }

    /// Refuses what cannot be set, where the flag describes a run.
    fn with_reader(&self, arg: Arg) -> Arg {
        let name = self.name;
        match self.class {
            FlagClass::Run => arg.value_parser(move |text: &str| checked(name, text)),
            FlagClass::Runs | FlagClass::Command | FlagClass::Process => arg,
        }
    }
}

fn checked(name: &str, text: &str) -> Result<String, String> {
    let set = RunSpec::default().set(name, text);
    set.map(|()| text.to_owned()).map_err(|error| error.to_string())
}

/// A limit that a higher rate misses sooner.
fn parse_ceiling(text: &str) -> Result<WorkloadLimit, String> {
    let limit: WorkloadLimit = text.parse().map_err(|error: LimitError| error.to_string())?;
    match limit.metric {
        LimitMetric::Share | LimitMetric::Throughput => Err(
            "write a limit that a higher rate misses: a percentile, avg or max of the response, or \
             errors"
                .to_owned(),
        ),
        _ => Ok(limit),
    }
}

pub(super) fn all() -> impl Iterator<Item = &'static RunFlag> {
    RUN_FLAGS.iter()
}

/// The flag of a long name.
pub(crate) fn find(name: &str) -> Option<&'static RunFlag> {
    RUN_FLAGS.iter().find(|flag| flag.name == name)
}

/// Values that completions offer for a flag.
pub(crate) fn offered(name: &str) -> &'static [&'static str] {
    find(name).map(|flag| flag.offered).unwrap_or_default()
}

/// Those that describe a run, as its written form does.
fn describing() -> Vec<&'static str> {
    let of_run = RUN_FLAGS.iter().filter(|flag| flag.class == FlagClass::Run);
    of_run.map(|flag| flag.name).collect()
}

/// What a sweep or a study has for a flag of a run; a switch without a value is on.
///
/// Errors: why a run has no such flag, or the flag no such value.
pub(crate) fn setting(name: &str, value: &str) -> Result<FlagSetting, String> {
    let flag = find(name).filter(|flag| flag.can_vary());
    let flag = flag.ok_or_else(|| {
        // A target may stand in its place.
        let unknown = || format!("`dbtime run` has no flag --{}", secrets::in_complaint(name));
        led_to("dbtime run", &format!("--{name}"), Some(value)).unwrap_or_else(unknown)
    })?;
    if let Some(misplaced) = misplaced::in_flag(flag, value) {
        return Err(misplaced);
    }
    match (flag.is_switch(), value) {
        (true, "") => Ok(FlagSetting::new(name, ON)),
        (false, "") => Err(format!("--{name} has no value: write {name}=VALUE")),
        (true, ON | "false") | (false, _) => Ok(FlagSetting::new(name, value)),
        (true, _) => Err(format!("--{name} is a switch: write {name}=true or {name}=false")),
    }
}

/// The setting as a word of a run's command line; `None`: a switch that is off.
pub(crate) fn word(FlagSetting { name, value }: &FlagSetting) -> Option<String> {
    match find(name).map(|flag| flag.shape) {
        Some(FlagShape::Positional) => Some(value.clone()),
        Some(FlagShape::Switch) => (value == ON).then(|| format!("--{name}")),
        _ => Some(format!("--{name}={value}")),
    }
}

/// Whether a flag has a value each time that it is given.
pub(crate) fn is_repeatable(name: &str) -> bool {
    find(name).is_some_and(|flag| matches!(flag.shape, FlagShape::Many(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::spec::FlagError;

    /// Else a flag would be taken and ignored.
    #[test]
    fn what_describes_a_run_can_be_set_and_nothing_else() {
        for flag in all() {
            let set = RunSpec::default().set(flag.name, "?");
            let is_unknown = matches!(set, Err(FlagError::Unknown(_)));
            assert_eq!(is_unknown, flag.class != FlagClass::Run, "{}", flag.name);
        }
    }

    /// Else a shell would complete to what is refused.
    #[test]
    fn what_is_offered_is_taken() {
        let mut count = 0;
        for flag in all() {
            for value in flag.offered {
                assert_eq!(checked(flag.name, value).as_deref(), Ok(*value), "{}", flag.name);
                count += 1;
            }
        }
        assert!(count > 10, "{count}");
    }

    /// Else a misspelled name would be refused with nothing.
    #[test]
    fn a_flag_goes_without_others_that_there_are() {
        for flag in all() {
            for name in flag.conflicts().into_iter().chain(flag.needed) {
                assert!(find(name).is_some() && name != flag.name, "{}: {name}", flag.name);
            }
        }
    }

    #[test]
    fn every_name_is_there_once_and_every_help_is_a_phrase() {
        let mut names: Vec<&str> = all().map(|flag| flag.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|two| two[0] != two[1]), "{names:?}");
        assert_eq!(all().filter(|flag| flag.shape == FlagShape::Positional).count(), 1);
        for flag in all() {
            assert!(flag.help.starts_with(char::is_uppercase), "{}", flag.name);
            assert!(!flag.help.ends_with('.') && !flag.help.contains("  "), "{}", flag.name);
        }
    }

    #[test]
    fn a_setting_is_a_word_of_the_command_line() {
        let word_of = |name: &str, value: &str| word(&setting(name, value).expect(name));
        assert_eq!(word_of("workers", "4").as_deref(), Some("--workers=4"));
        assert_eq!(word_of("no-budget", "true").as_deref(), Some("--no-budget"));
        assert_eq!(word_of("trace", "").as_deref(), Some("--trace"), "as words of a cell have it");
        assert_eq!(word_of("trace", "false"), None);
        assert_eq!(word(&FlagSetting::new("workload", "atm")).as_deref(), Some("atm"));
        assert!(is_repeatable("limit") && !is_repeatable("workers") && !is_repeatable("query"));
        for (name, value, why) in [
            ("stacks", "yes", "write stacks=true or stacks=false"),
            ("workers", "", "write workers=VALUE"),
            ("workres", "4", "has no flag --workres"),
            ("workload", "atm", "has no flag --workload"),
            ("events", "x", "has no flag --events"),
            ("mysql://u:hush@h/d", "", "has no flag --mysql://u:***@h/d"),
            ("script", "mysql://u:hush@h/d", "is a target, and --script takes a path"),
            ("server-data", "postgres://h/d?password=hush", "give the target with --target"),
        ] {
            let error = setting(name, value).expect_err(name);
            assert!(error.contains(why) && !error.contains("hush"), "{error}");
        }
    }
}
