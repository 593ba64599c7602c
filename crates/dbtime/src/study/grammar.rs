//! What plans of the lab have to know of the flags of `dbtime run`.

use crate::cli::run_flags::{self, RunFlag};
use crate::cli::{self, CliCommand};
use crate::exit::CommandFailure;
use crate::secrets;
use crate::spec::BaseRun;
use dbtime_lab::LabError;
use dbtime_lab::study::{PlannedRun, RunBase, RunGrammar};
use dbtime_model::spec::FlagSetting;

/// The flag of a run that a study decides itself.
pub(super) const SEED: &str = "seed";

/// The flags of `dbtime run`.
pub(crate) struct FlagGrammar;

/// Why the configurations of a study have no such flag; `None`: they may, or there is none at all.
fn why_fixed(name: &str) -> Option<&'static str> {
    match name {
        "" => Some("it has no name; write NAME=VALUE, or leave it out"),
        SEED => Some("a study derives a seed for each block from [design]; leave it out"),
        _ => run_flags::find(name).and_then(RunFlag::why_not_of_study),
    }
}

impl RunGrammar for FlagGrammar {
    fn cell_flag(&self, name: &str, value: &str) -> Result<FlagSetting, LabError> {
        let usage = |text: String| Err(LabError::Usage(text));
        let name = name.trim_start_matches("--");
        if let Some(why) = why_fixed(name) {
            return usage(format!("`{name}` is no flag of a configuration: {why}"));
        }
        if secrets::shown(name, value) != value {
            let remedy = match name {
                "query" => "write '***' in its place, and set DBTIME_QUERY to the whole statement",
                _ => {
                    "give a target's in DBTIME_PASSWORD, and other secrets by their names alone, \
                     which take dbtime's own variables, such as server-env=NAME"
                }
            };
            return usage(format!(
                "there is a password in `{name}` of the study's file, which is kept with the \
                 results: {remedy}"
            ));
        }
        Ok(FlagSetting::new(name, value))
    }

    fn base(&self, words: &str) -> Result<Box<dyn RunBase>, LabError> {
        let words = shlex::split(words)
            .ok_or_else(|| LabError::Usage("run: a quote is not closed".to_owned()))?;
        for (at, word) in words.iter().enumerate() {
            let Some(given) = word.strip_prefix("--") else { continue };
            let (name, value) = given.split_once('=').unwrap_or((given, ""));
            // The value may be the next word.
            let next = words.get(at + 1).map_or("", String::as_str);
            self.cell_flag(name, if value.is_empty() { next } else { value })?;
        }
        let command = ["dbtime", "run"].into_iter().map(str::to_owned);
        let parsed = cli::parse(command.chain(words)).map_err(|error| {
            let why = cli::complaint(&error).unwrap_or_else(|| error.to_string());
            LabError::Usage(format!("run: {why}"))
        })?;
        match parsed.command {
            CliCommand::Run(args) => Ok(Box::new(BaseRun::of(&args)?)),
            _ => Err(LabError::Usage("only runs can be repeated: write the flags of run".into())),
        }
    }
}

impl RunBase for BaseRun {
    fn planned(&self, flags: &[FlagSetting]) -> Result<PlannedRun, LabError> {
        let settings = flags.iter().map(|flag| run_flags::setting(&flag.name, &flag.value));
        let settings = settings.collect::<Result<Vec<_>, _>>().map_err(CommandFailure::usage)?;
        Ok(self.with_settings(&settings)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_lab::study::{PlanOverrides, plan_study};
    use dbtime_model::study::StudyPlan;
    use std::path::Path;

    fn plan(text: &str) -> Result<StudyPlan, String> {
        let planned = plan_study(text, Path::new("s.toml"), PlanOverrides::default(), &FlagGrammar);
        planned.map(|study| study.plan).map_err(|error| error.to_string())
    }

    /// Whether statements are pipelined in each configuration.
    fn pipelined(run: &str) -> Vec<bool> {
        let text = format!("run = \"{run}\"\n[factors]\npipeline = [false, true]\n");
        let plan = plan(&text).expect(run);
        let is_on = |spec: &dbtime_model::spec::RunSpec| spec.target.pipeline;
        plan.cells.iter().map(|cell| cell.spec.as_ref().is_some_and(is_on)).collect()
    }

    #[test]
    fn a_switch_is_a_factor_and_a_flag_of_a_cell() {
        for run in ["values1 --target mariadb", "values1 --target mariadb --pipeline"] {
            assert_eq!(pipelined(run), [false, false, true], "{run}");
        }
        let text = "run = \"values1\"\n[[cell]]\nname = \"a\"\nflags = \"no-budget=maybe\"\n\
                    [[cell]]\nname = \"b\"\n";
        let error = plan(text).expect_err("neither on nor off");
        assert!(error.contains("write no-budget=true or no-budget=false"), "{error}");
    }

    /// Else a flag that a run's written form does not have would be ignored.
    #[test]
    fn what_is_no_flag_of_a_run_is_no_flag_of_a_cell() {
        let cells = |flags: &str| {
            format!("[[cell]]\nname = \"a\"\nflags = \"{flags}\"\n[[cell]]\nname = \"b\"\n")
        };
        for flags in ["find-rate=p99<=1ms", "flat-out-rate", "parent", "strict", "repeat=2"] {
            let name = flags.split('=').next().unwrap_or_default();
            let why = format!("`{name}` is no flag of a configuration");
            let of_cell = format!("run = \"values1\"\n{}", cells(flags));
            let of_all = format!("run = \"values1 --{flags}\"\n{}", cells("workers=2"));
            for text in [of_cell, of_all] {
                let error = plan(&text).expect_err(flags);
                assert!(error.starts_with(&why) && error.ends_with("leave it out"), "{error}");
            }
        }
        for (flags, why) in [("workres=1", "has no flag --workres"), ("workers", "has no value")] {
            let error = plan(&format!("run = \"values1\"\n{}", cells(flags))).expect_err(why);
            assert!(error.starts_with("a: ") && error.contains(why), "{error}");
        }
        let error = plan(&format!("run = \"values1 --workres 1\"\n{}", cells("workers=2")));
        let error = error.expect_err("no flag");
        assert!(error.starts_with("run: unexpected argument '--workres'"), "{error}");
    }

    #[test]
    fn what_a_study_has_itself_and_secrets_are_refused() {
        for (factors, why) in [
            ("seed = [1, 2]", "`seed` is no flag of a configuration"),
            ("find-rate = [\"p95<=5ms\", \"p95<=9ms\"]", "`find-rate` is no flag of"),
            ("password-file = [\"a\", \"b\"]", "from DBTIME_PASSWORD"),
            ("target = [\"mysql://u:pw@h/d\", \"sqlite\"]", "there is a password in"),
            ("server-env = [\"API_KEY=pw\", \"API_KEY=x\"]", "a password in `server-env`"),
            ("query = [\"SET PASSWORD = 'pw'\", \"SELECT 1\"]", "set DBTIME_QUERY"),
        ] {
            let text = format!("run = \"values1\"\n[factors]\n{factors}\n");
            let found = plan(&text).expect_err(factors);
            assert!(found.contains(why), "{text}: {found}");
        }
    }
}
