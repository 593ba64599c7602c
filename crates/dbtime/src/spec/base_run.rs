//! The run of a command line, and those that differ from it by settings: of a sweep, a study and a
//! search.

use super::{RunSecrets, read, request, without_secrets};
use crate::cli::RunArgs;
use crate::cli::run_flags::{self, FlagClass, RunFlag};
use crate::exit::CommandFailure;
use crate::secrets;
use dbtime_lab::study::PlannedRun;
use dbtime_model::record::FactorValue;
use dbtime_model::shell::quoted;
use dbtime_model::spec::{FlagSetting, RunSpec, SettingError, SpecDocument};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Two flags of one field: either replaces the other.
const BUDGET: [&str; 2] = ["budget-every", "no-budget"];

/// A run that others are made of.
#[derive(Clone)]
pub(crate) struct BaseRun {
    /// With its secrets: a setting may replace what holds one.
    spec: RunSpec,
    /// The passwords beside it.
    surroundings: RunSecrets,
    source: RunSource,
    /// Words of its command that are no part of the run.
    beside: Vec<String>,
    /// The names of all flags beside those that describe it, but of those that say how many runs
    /// there are.
    others: Vec<&'static str>,
    /// Where data are restored from; `None`: they are loaded.
    snapshots: Option<PathBuf>,
}

/// What a run was read from.
#[derive(Clone)]
enum RunSource {
    Flags(Vec<FlagSetting>),
    File {
        path: PathBuf,
        /// Of the record that it is.
        command: Option<String>,
    },
}

impl BaseRun {
    /// The run that flags or a file describe.
    ///
    /// Errors: a path that is no text, and a file that cannot be read or describes none.
    pub(crate) fn of(args: &RunArgs) -> Result<Self, CommandFailure> {
        let surroundings = RunSecrets::of_surroundings(args.password_file.as_deref())?;
        let (spec, source) = match &args.spec {
            Some(path) => {
                let SpecDocument { spec, command } = read(path, args.slices_from_stdin)?;
                let command = command.map(without_secrets);
                (spec, RunSource::File { path: path.clone(), command })
            }
            None => {
                let settings = settings(args)?;
                let mut spec = RunSpec::default().with(&settings).map_err(refusal)?;
                // What a flag has as its default is written down; of what is left out, the run
                // says it later.
                spec.load.on_backlog.get_or_insert_default();
                (spec, RunSource::Flags(settings))
            }
        };
        let snapshots = args.snapshots.clone();
        let is_of_one = |flag: &RunFlag| flag.class != FlagClass::Runs;
        let mut others = args.others.clone();
        others.retain(|name| run_flags::find(name).is_none_or(is_of_one));
        Ok(Self { spec, surroundings, source, beside: beside(args), others, snapshots })
    }

    /// The same with a setting that all runs of it have.
    ///
    /// Errors: it cannot be.
    pub(crate) fn and(self, setting: FlagSetting) -> Result<Self, CommandFailure> {
        let spec = self.spec.with(std::slice::from_ref(&setting)).map_err(refusal)?;
        let RunSource::Flags(mut own) = self.source else { return Err(fixed(&setting)) };
        own.retain(|one| !is_replaced(one, std::slice::from_ref(&setting)));
        own.push(setting);
        Ok(Self { spec, source: RunSource::Flags(own), ..self })
    }

    /// What is run with these settings, and its passwords.
    ///
    /// Errors: a setting that cannot be, or not beside another flag.
    pub(crate) fn with(
        &self,
        settings: &[FlagSetting],
    ) -> Result<(RunSpec, RunSecrets), CommandFailure> {
        if let (RunSource::File { .. }, Some(setting)) = (&self.source, settings.first()) {
            return Err(fixed(setting));
        }
        run_flags::check_together(&self.given(settings)).map_err(CommandFailure::usage)?;
        let mut spec = self.spec.with(settings).map_err(refusal)?;
        let mut secrets = self.surroundings.clone();
        // Somebody may have written one into a file, too.
        secrets.take_from_spec(&mut spec);
        Ok((spec, secrets))
    }

    /// The names of all flags that a run with these settings has.
    fn given<'a>(&'a self, settings: &'a [FlagSetting]) -> Vec<&'a str> {
        let own: &[FlagSetting] = match &self.source {
            RunSource::Flags(own) => own,
            RunSource::File { .. } => &[],
        };
        let kept = own.iter().filter(|one| !is_replaced(one, settings));
        let on = kept.chain(settings).filter(|one| run_flags::word(one).is_some());
        on.map(|one| one.name.as_str()).chain(self.others.iter().copied()).collect()
    }

    /// The run that it becomes by settings, which make it this one.
    ///
    /// Errors: whatever is wrong with it that can be seen before it is run.
    pub(crate) fn with_settings(
        &self,
        settings: &[FlagSetting],
    ) -> Result<PlannedRun, CommandFailure> {
        let (spec, secrets) = self.with(settings)?;
        let spec = request(&spec, &secrets, self.snapshots.as_deref())?.spec;
        let factor = |FlagSetting { name, value }: &FlagSetting| FactorValue {
            name: name.clone(),
            value: secrets::shown(name, value),
        };
        let seed = spec.seed;
        let run = PlannedRun::of_spec(spec, self.command(settings), secrets.environment())
            .with_factors(settings.iter().map(factor).collect());
        Ok(match &self.snapshots {
            Some(folder) => run.with_snapshots(folder.clone(), seed),
            None => run,
        })
    }

    /// The command of the record that it was read from.
    pub(crate) fn recorded_command(&self) -> Option<&str> {
        match &self.source {
            RunSource::File { command, .. } => command.as_deref(),
            RunSource::Flags(_) => None,
        }
    }

    /// The command that makes it with these settings, without passwords.
    pub(crate) fn command(&self, settings: &[FlagSetting]) -> String {
        if let Some(command) = self.recorded_command() {
            return command.to_owned();
        }
        let program = ["dbtime", "run"].into_iter().map(str::to_owned);
        secrets::command_line(&program.chain(self.words(settings)).collect::<Vec<_>>())
    }

    /// The words behind `dbtime run` that describe it, with all that they hold.
    pub(crate) fn text(&self) -> String {
        let words = self.words(&[]);
        words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }

    fn words(&self, settings: &[FlagSetting]) -> Vec<String> {
        let mut words: Vec<String> = match &self.source {
            RunSource::Flags(own) => {
                let kept = own.iter().filter(|one| !is_replaced(one, settings));
                kept.filter_map(run_flags::word).collect()
            }
            RunSource::File { path, .. } => vec![format!("--spec={}", path.display())],
        };
        words.extend(self.beside.iter().cloned());
        words.extend(settings.iter().filter_map(run_flags::word));
        words
    }
}

/// Whether one of these settings takes the place of another one.
fn is_replaced(one: &FlagSetting, settings: &[FlagSetting]) -> bool {
    let is_budget = |name: &str| BUDGET.contains(&name);
    settings.iter().any(|setting| match setting.name == one.name {
        true => !run_flags::is_repeatable(&one.name),
        false => is_budget(&setting.name) && is_budget(&one.name) && setting.value != "false",
    })
}

/// What describes the run, flag by flag.
fn settings(args: &RunArgs) -> Result<Vec<FlagSetting>, CommandFailure> {
    let setting = |(name, value): &(&'static str, OsString)| match value.to_str() {
        Some(text) => Ok(FlagSetting::new(*name, text)),
        None => {
            let shown = Path::new(value).display();
            Err(CommandFailure::usage(format!("--{name}: `{shown}` is not UTF-8 text")))
        }
    };
    args.described.iter().map(setting).collect()
}

/// What a run has beside its description wherever it is repeated: where its password and its data
/// are, and how strictly it ends.
fn beside(args: &RunArgs) -> Vec<String> {
    let paths = [("password-file", &args.password_file), ("snapshots", &args.snapshots)];
    let path = |(name, path): (&str, &Option<PathBuf>)| {
        path.as_ref().map(|path| format!("--{name}={}", path.display()))
    };
    let is_strict = args.strict.then(|| "--strict".to_owned());
    paths.into_iter().filter_map(path).chain(is_strict).collect()
}

/// Quotes the value, as the grammar of the command line does.
fn refusal(SettingError { setting, cause }: SettingError) -> CommandFailure {
    let FlagSetting { name, value } = &setting;
    CommandFailure::usage(format!("--{name}={}: {cause}", secrets::in_complaint(value)))
}

/// That the run of a file has no other settings than those of the file.
fn fixed(FlagSetting { name, .. }: &FlagSetting) -> CommandFailure {
    CommandFailure::usage(format!(
        "--spec describes the whole run, so `{name}` cannot be set as well: describe the run with \
         flags"
    ))
}

#[cfg(test)]
impl BaseRun {
    /// That of a whole command line, whose words have no blanks.
    pub(crate) fn of_line(line: &str) -> Self {
        let parsed = crate::cli::parse(line.split_whitespace()).expect(line);
        let crate::cli::CliCommand::Run(args) = parsed.command else { panic!("a run: {line}") };
        Self::of(&args).expect(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(line: &str, settings: &[(&str, &str)]) -> String {
        let settings = settings.iter().map(|(name, value)| FlagSetting::new(*name, *value));
        BaseRun::of_line(line).command(&settings.collect::<Vec<_>>())
    }

    #[test]
    fn a_setting_takes_the_place_of_its_flag_in_the_command() {
        let line = "dbtime run values1 --workers=1 --limit p90<=1s --pipeline --json --strict";
        assert_eq!(
            command(line, &[("workers", "2"), ("pipeline", "false"), ("limit", "avg<=1s")]),
            "dbtime run values1 '--limit=p90<=1s' --strict --workers=2 '--limit=avg<=1s'"
        );
        let line = "dbtime run values1 --budget-every 16";
        assert_eq!(command(line, &[("no-budget", "true")]), "dbtime run values1 --no-budget");
        assert_eq!(
            command(line, &[("no-budget", "false")]),
            "dbtime run values1 --budget-every=16"
        );
        let base = BaseRun::of_line("dbtime run values1 --workers 1");
        let base = base.and(FlagSetting::new("workers", "3")).expect("a setting");
        assert_eq!(base.text(), "values1 --workers=3");
    }

    #[test]
    fn settings_go_together_as_flags_of_a_command_line_do() {
        let error = |line: &str, settings: &[(&str, &str)]| {
            let settings = settings.iter().map(|(name, value)| FlagSetting::new(*name, *value));
            let made = BaseRun::of_line(line).with(&settings.collect::<Vec<_>>());
            made.err().map(|failure| failure.words())
        };
        for (line, settings, why) in [
            ("dbtime run --trace", ("no-budget", "true"), "--trace cannot be used with --no"),
            ("dbtime run --no-budget", ("trace", "true"), "--trace cannot be used with --no"),
            ("dbtime run atm", ("query", "SELECT 1"), "--query cannot be used with a workload"),
            ("dbtime run --no-record", ("statements", "true"), "cannot be used with --no-record"),
            ("dbtime run", ("stacks", "true"), "--stacks needs --trace"),
        ] {
            let error = error(line, &[settings]).expect(why);
            assert!(error.contains(why) && error.lines().count() == 1, "{error}");
        }
        let both = [("budget-every", "16"), ("no-budget", "true")];
        let two = error("dbtime run", &both).expect("of one combination");
        assert!(two.starts_with("--no-budget cannot be used with --budget-every"), "{two}");
        let off = [("trace", "false"), ("no-budget", "true")];
        assert_eq!(error("dbtime run --trace", &off), None, "it was taken out");
        let search = "dbtime run values1 --find-rate p99<=1ms";
        assert_eq!(error(search, &[("rate", "5/s")]), None, "how many there are is of none");
    }

    /// Else the password of one server would be given to another.
    #[test]
    fn a_password_goes_with_its_target() {
        let base = BaseRun::of_line("dbtime run values1 --target mysql://u:hush@h/d");
        let has_password = |settings: &[FlagSetting]| {
            let (spec, secrets) = base.with(settings).expect("a run");
            assert!(!spec.target.url.contains("hush"), "{}", spec.target.url);
            secrets.environment().iter().any(|(_, value)| value.reveal() == "hush")
        };
        assert!(has_password(&[]));
        assert!(!has_password(&[FlagSetting::new("target", "mysql://u@other/d")]));
        let command = base.command(&[FlagSetting::new("target", "mysql://v:word@other/d")]);
        assert_eq!(command, "dbtime run values1 --target=mysql://v@other/d");
    }

    #[test]
    fn a_setting_that_cannot_be_is_refused_with_its_value() {
        let base = BaseRun::of_line("dbtime run values1");
        let error = |name: &str, value: &str| {
            let settings = [FlagSetting::new(name, value)];
            base.with(&settings).map(|_| ()).expect_err(value).words()
        };
        let workers = error("workers", "none");
        assert!(workers.starts_with("--workers=none: it takes a whole number"), "{workers}");
        assert!(!error("server-env", "=hush").contains("hush"));
    }
}
