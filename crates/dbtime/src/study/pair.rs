//! Two settings compared without a file: what a command line describes, as a study's file would.

use super::cells::{SEED, cell_flag};
use super::document::{CellTable, DesignTable, GateTable, StudyDocument};
use super::planning::{PlannedStudy, plan_document};
use crate::cli::{RunArgs, StudyAbArgs};
use crate::exit::CommandFailure;
use crate::spec::BaseRun;
use dbtime_model::spec::{FlagSetting, RunSpec};

/// What it is called where it has no other name.
const NAME: &str = "ab";

/// Names that are longer are cut in tables.
const LONGEST_NAME: usize = 16;

/// The window of a run when nobody says: more runs tell more than longer ones.
const TIME: &str = "10s";
const WARMUP: &str = "3s";

/// Flags of the whole command that it has beside those of a run.
const OWN_FLAGS: [&str; 4] = ["out", "json", "quiet", "no-record"];

/// A study of two settings whose blocks are not known yet.
pub(crate) struct PairDraft {
    document: StudyDocument,
    base: BaseRun,
}

impl PairDraft {
    /// That of a command line.
    ///
    /// Errors: it has what is no affair of a run's, or what cannot be.
    pub(crate) fn of(args: &StudyAbArgs) -> Result<Self, CommandFailure> {
        let base = base(&args.run)?;
        let names = cell_names([&args.a, &args.b]);
        let flags = [args.a.clone(), args.b.clone()];
        let cells = names.into_iter().zip(flags);
        let design = DesignTable { seed: Some(seed(&args.run)?), ..DesignTable::default() };
        let document = StudyDocument {
            name: Some(NAME.to_owned()),
            question: Some(format!("A: {}; B: {}", args.a, args.b)),
            margin: Some(format!("{}%", 100.0 * args.margin)),
            primary: args.primary.map(|primary| primary.key()),
            run: Some(base.text()),
            design,
            gate: GateTable::default().with(&args.allow)?,
            cell: cells.map(|(name, flags)| CellTable { name, flags }).collect(),
            ..StudyDocument::default()
        };
        Ok(Self { document, base })
    }

    /// Its plan of so many blocks, and the file that has the same.
    ///
    /// Errors: whatever is wrong with it.
    pub(crate) fn plan(&self, blocks: u32) -> Result<PlannedStudy, CommandFailure> {
        let mut document = self.document.clone();
        document.design.blocks = Some(blocks);
        let directory = std::env::current_dir().unwrap_or_default();
        let plan = plan_document(&document, Some(&self.base), NAME, &directory)?;
        let source = toml::to_string(&document).map_err(CommandFailure::usage)?;
        Ok(PlannedStudy { plan, source })
    }
}

/// What both have in common. Flags that neither a run nor this command has are refused with what a
/// study's file is refused with.
fn base(args: &RunArgs) -> Result<BaseRun, CommandFailure> {
    for name in args.others.iter().filter(|name| !OWN_FLAGS.contains(name)) {
        cell_flag(name, String::new())?;
    }
    // The seed is the study's.
    let mut args = args.clone();
    args.described.retain(|(name, _)| *name != SEED);
    for (name, value) in &args.described {
        cell_flag(name, value.to_string_lossy().into_owned())?;
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

/// What the configurations are called: their flags, or letters where those are too long for a
/// table.
fn cell_names(flags: [&str; 2]) -> [String; 2] {
    let name = |flags: &str| match flags.trim() {
        "" => "as given".to_owned(),
        flags => flags.replace("--", ""),
    };
    let names = flags.map(name);
    match names.iter().all(|name| name.len() <= LONGEST_NAME) {
        true => names,
        false => ["A".to_owned(), "B".to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::super::planning::{PlanOverrides, plan};
    use super::*;
    use crate::cli::{self, CliCommand, StudyArgs, StudyCommand};
    use std::path::Path;

    fn draft(flags: &str) -> Result<PairDraft, CommandFailure> {
        let line = format!("dbtime study ab values1 --target null: {flags}");
        match cli::parse(line.split_whitespace()).expect(flags).command {
            CliCommand::Study(StudyArgs { command: StudyCommand::Ab(args) }) => {
                PairDraft::of(&args)
            }
            other => panic!("{line}: {other:?}"),
        }
    }

    /// What is saved can be run again, and is the same study.
    #[test]
    fn the_plan_is_that_of_the_file_that_has_the_same() {
        for flags in [
            "--a connections=1 --b connections=2 --for 5min --json --out dir --margin=2% --seed 7",
            "--a no-budget --b=budget-every=16 --transactions 9 --limit p90<=5ms --think 1ms",
            "--a workers=1 --b workers='2' --connections 4 --primary p95 --allow steal=5%",
        ] {
            let drawn = draft(flags).and_then(|draft| draft.plan(4)).expect(flags);
            let given = PlanOverrides::default();
            let read = plan(&drawn.source, Path::new("ab.toml"), given).expect(flags);
            // The words of a command may stand in another order.
            let [drawn_plan, read_plan] = [drawn.plan, read.plan].map(|mut plan| {
                plan.cells.iter_mut().for_each(|cell| cell.command.clear());
                plan
            });
            assert_eq!(drawn_plan, read_plan, "{}", drawn.source);
        }
    }

    #[test]
    fn the_run_has_everything_but_what_is_the_studys() {
        let plan = |flags: &str| draft(flags).and_then(|draft| draft.plan(3)).map(|it| it.plan);
        let made = plan("--a connections=1 --b connections=2 --connections 16 --seed 7 --quiet");
        let made = made.expect("a plan");
        assert_eq!((made.design.seed, made.design.blocks), (7, 3));
        let command = "dbtime run values1 --target=null: --time=10s --warmup=3s --connections=1";
        assert_eq!(made.cells[0].command, command);
        for (flags, why) in [
            ("--a workers=1 --b workers=2 --strict", "`strict` is no flag of a configuration"),
            ("--a workers=1 --b seed=2", "`seed` is no flag of a configuration"),
            ("--a workers=1 --b workers=2 --password-file x", "from DBTIME_PASSWORD"),
            ("--a target=mysql://u:pw@h/d --b target=null:", "a password stands in"),
        ] {
            let error = plan(flags).expect_err(flags).words();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn long_flags_are_named_by_letters() {
        assert_eq!(cell_names(["", "--connections=3"]), ["as given", "connections=3"]);
        let long = "server-set=innodb_flush_log_at_trx_commit=1";
        assert_eq!(cell_names(["connections=3", long]), ["A", "B"]);
    }
}
