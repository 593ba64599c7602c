//! From the command line of `study ab` to what the lab plans.

use super::grammar::{FlagGrammar, SEED};
use super::time_plan::RunLoad;
use crate::cli::run_flags::{self, RunFlag};
use crate::cli::{RunArgs, StudyAbArgs};
use crate::exit::CommandFailure;
use crate::spec::BaseRun;
use dbtime_lab::study::{ComparedSettings, PairDraft, RunGrammar};
use dbtime_model::Nanos;
use dbtime_model::spec::{FlagSetting, RunSpec};

/// The window of a run when nobody says: more runs tell more than longer ones.
const TIME: &str = "10s";
const WARMUP: &str = "3s";

/// The time ends a comparison, and not how many blocks were repeated.
const REPEATS: u32 = 1000;

/// What both sides have beside what was given.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PairChoices {
    /// Windows in the place of those that were given; `None`: as they were.
    pub(crate) load: Option<RunLoad>,
    /// Whether the server is traced though no flag has it so.
    pub(crate) is_traced: bool,
    /// Whether the machine has neighbours that make no run quiet: runs do not wait for them to end.
    pub(crate) is_loud: bool,
    /// In how many slices each run is made where nobody says; `None`: as is usual for its window.
    pub(crate) slices: Option<u32>,
}

impl PairChoices {
    fn settings(self) -> Vec<FlagSetting> {
        let mut settings = Vec::new();
        if let Some(RunLoad::Windows { time_s, warmup_s }) = self.load {
            let exact = |seconds: f64| Nanos::from_secs_f64(seconds).exact();
            settings.push(FlagSetting::new("time", exact(time_s)));
            settings.push(FlagSetting::new("warmup", exact(warmup_s)));
        }
        settings.extend(self.is_traced.then(|| FlagSetting::new("trace", "true")));
        settings
    }
}

/// What is compared.
///
/// Errors: the command line has what is no affair of a run's, or what cannot be.
pub(crate) fn draft(
    args: &StudyAbArgs,
    choices: PairChoices,
) -> Result<PairDraft<'static>, CommandFailure> {
    let run = &args.run.0;
    let base = choices.settings().into_iter().try_fold(base(run)?, BaseRun::and)?;
    let pair = ComparedSettings {
        flags: [args.a.clone(), args.b.clone()],
        run: base.text(),
        seed: seed(run)?,
        margin_pct: 100.0 * args.margin,
        primary: args.primary,
        allow: allowed(args, choices),
        slices: args.slices.or(choices.slices),
    };
    Ok(PairDraft::new(pair, Box::new(base), &FlagGrammar)?)
}

/// The limits of the gate. Each pair is made in random order, so that noise is of no side and costs
/// no block. What does is repeated as often as there is time for.
fn allowed(args: &StudyAbArgs, choices: PairChoices) -> String {
    let wait = if choices.is_loud { "wait=0s " } else { "" };
    // A limit that is given stands behind these, and holds.
    format!("noise=count repeats={REPEATS} {wait}{}", args.allow).trim_end().to_owned()
}

/// What both have in common. Flags that neither a run nor this command has are refused with what a
/// study's file is refused with.
fn base(args: &RunArgs) -> Result<BaseRun, CommandFailure> {
    let is_own = |name: &str| run_flags::find(name).is_some_and(RunFlag::is_of_pair);
    for name in args.others.iter().filter(|name| !is_own(name)) {
        FlagGrammar.cell_flag(name, "")?;
    }
    // The seed is the study's.
    let mut args = args.clone();
    args.described.retain(|(name, _)| *name != SEED);
    for (name, value) in &args.described {
        FlagGrammar.cell_flag(name, &value.to_string_lossy())?;
    }
    let mut base = BaseRun::of(&args)?;
    if !args.has("time") && !args.has("transactions") {
        base = base.and(FlagSetting::new("time", TIME))?;
        if !args.has("warmup") {
            base = base.and(FlagSetting::new("warmup", WARMUP))?;
        }
    }
    Ok(base)
}

fn seed(args: &RunArgs) -> Result<u64, CommandFailure> {
    let mut spec = RunSpec::default();
    for (name, value) in args.described.iter().filter(|(name, _)| *name == SEED) {
        spec.set(name, &value.to_string_lossy()).map_err(CommandFailure::usage)?;
    }
    Ok(spec.seed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{self, CliCommand, StudyArgs, StudyCommand};
    use dbtime_lab::study::{PlanOverrides, plan_study};
    use dbtime_model::study::{NoiseRule, StudyPlan};
    use std::path::Path;

    /// The plan, and the text of the file that has the same.
    fn plan(flags: &str) -> Result<(StudyPlan, String), CommandFailure> {
        chosen(flags, PairChoices::default())
    }

    fn chosen(flags: &str, choices: PairChoices) -> Result<(StudyPlan, String), CommandFailure> {
        let line = format!("dbtime study ab values1 --target null: {flags}");
        let draft = match cli::parse(line.split_whitespace()).expect(flags).command {
            CliCommand::Study(StudyArgs { command: StudyCommand::Ab(args) }) => {
                draft(&args, choices)?
            }
            other => panic!("{line}: {other:?}"),
        };
        let study = draft.plan(4)?;
        Ok((study.plan, study.source))
    }

    #[test]
    fn what_is_saved_has_the_same_runs() {
        for flags in [
            "--a connections=1 --b connections=2 --for 5min --json --out dir --margin=2% --seed 7",
            "--a no-budget --b=budget-every=16 --transactions 9 --limit p90<=5ms --think 1ms",
        ] {
            let (drawn, source) = plan(flags).expect(flags);
            let given = PlanOverrides::default();
            let read = plan_study(&source, Path::new("ab.toml"), given, &FlagGrammar);
            // The words of a command may stand in another order.
            let specs = |plan: StudyPlan| plan.cells.into_iter().map(|cell| cell.spec);
            assert!(specs(drawn).eq(specs(read.expect(flags).plan)), "{source}");
        }
    }

    #[test]
    fn what_is_chosen_takes_the_place_of_what_was_given() {
        let load = Some(RunLoad::Windows { time_s: 2.3, warmup_s: 0.5 });
        let choices = PairChoices { load, is_traced: true, ..PairChoices::default() };
        let flags = "--a connections=1 --b connections=2 --time 30s --trace";
        let (made, source) = chosen(flags, choices).expect("a plan");
        let command = &made.cells[0].command;
        assert!(command.contains(" --time=2300ms --warmup=500ms --trace "), "{command}");
        assert_eq!(command.matches("--time").count(), 1, "{command}");
        assert!(source.contains("--warmup=500ms") && !source.contains("30s"), "{source}");
        let window = |cell: &dbtime_model::study::StudyCell| {
            cell.spec.as_ref().map(|spec| (spec.window.time, spec.window.trace))
        };
        let expected = Some((Some(Nanos::from_millis(2300)), true));
        assert!(made.cells.iter().all(|cell| window(cell) == expected));
    }

    #[test]
    fn noise_costs_no_block_and_a_loud_machine_no_wait() {
        let flags = "--a connections=1 --b connections=2 --time 20s";
        let gate = |flags: &str, is_loud: bool| {
            let choices = PairChoices { is_loud, ..PairChoices::default() };
            chosen(flags, choices).expect("a plan").0.gate
        };
        let quiet = gate(flags, false);
        assert_eq!((quiet.noise, quiet.repeats), (NoiseRule::Count, REPEATS));
        assert!(quiet.wait_s > 0.0, "{quiet:?}");
        assert_eq!(gate(flags, true).wait_s, 0.0);
        let given = gate(&format!("{flags} --allow wait=9s"), true);
        assert_eq!((given.wait_s, given.repeats), (9.0, REPEATS));
    }

    #[test]
    fn slices_are_those_that_were_given_or_else_chosen() {
        let slices = |flags: &str| {
            let choices = PairChoices { slices: Some(2), ..PairChoices::default() };
            let flags = format!("--a connections=1 --b connections=2 --time 20s {flags}");
            chosen(&flags, choices).expect("a plan").0.design.slices
        };
        assert_eq!([slices(""), slices("--slices 3")], [2, 3]);
    }

    #[test]
    fn the_run_has_everything_but_what_is_the_studys() {
        let made = plan("--a connections=1 --b connections=2 --connections 16 --seed 7 --quiet");
        let (made, _) = made.expect("a plan");
        assert_eq!((made.design.seed, made.design.blocks), (7, 4));
        let command = "dbtime run values1 --target=null: --time=10s --warmup=3s --connections=1";
        assert_eq!(made.cells[0].command, command);
        for (flags, why) in [
            ("--a workers=1 --b workers=2 --strict", "`strict` is no flag of a configuration"),
            ("--a workers=1 --b workers=2 --no-record", "a study needs its records"),
            ("--a workers=1 --b workers=2 --repeat 3", "its own number of runs"),
            ("--a workers=1 --b workers=2 --histogram", "use `dbtime report RUN --text`"),
            ("--a workers=1 --b workers=2 --print-spec", "give it to `dbtime run`"),
            ("--a workers=1 --b seed=2", "`seed` is no flag of a configuration"),
            ("--a workers=1 --b workers=2 --password-file x", "from DBTIME_PASSWORD"),
            ("--a target=mysql://u:pw@h/d --b target=null:", "there is a password in"),
        ] {
            let error = plan(flags).expect_err(flags).words();
            assert!(error.contains(why), "{error}");
        }
    }
}
