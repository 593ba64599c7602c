//! Two settings compared without a file, as a file would have them.

use super::document::{CellTable, DesignTable, GateTable, StudyDocument};
use super::slices::usual_slices;
use super::{PlanSource, PlannedStudy, RunBase, RunGrammar, same_run, usage};
use crate::error::LabError;
use dbtime_model::record::PrimaryMetric;
use dbtime_model::study::{CellRole, StudyPlan};

/// What it is called where it has no other name.
const NAME: &str = "ab";

/// Names that are longer are cut in tables.
const LONGEST_NAME: usize = 16;

/// What is compared.
#[derive(Clone, Debug)]
pub struct ComparedSettings {
    /// What makes a run A, and what makes it B, as words of a configuration.
    pub flags: [String; 2],
    /// The words behind `dbtime run` that describe what both have in common.
    pub run: String,
    /// Seed of the blocks and of their runs.
    pub seed: u64,
    /// The smallest change of interest. Unit: percent.
    pub margin_pct: f64,
    /// What the verdict is about; `None`: what it is about usually.
    pub primary: Option<PrimaryMetric>,
    /// Limits of the gate, as words: `steal=5% repeats=20`.
    pub allow: String,
    /// In how many slices the window of each run is made; `None`: as is usual for it.
    pub slices: Option<u32>,
}

/// A study of two settings whose blocks are not known yet.
pub struct PairDraft<'a> {
    document: StudyDocument,
    base: Box<dyn RunBase>,
    grammar: &'a dyn RunGrammar,
}

impl<'a> PairDraft<'a> {
    /// That of these settings over a run, which their words describe too.
    ///
    /// Errors: the gate has no such limits.
    pub fn new(
        pair: ComparedSettings,
        base: Box<dyn RunBase>,
        grammar: &'a dyn RunGrammar,
    ) -> Result<Self, LabError> {
        let [a, b] = &pair.flags;
        let question = format!("A: {a}; B: {b}");
        let names = cell_names([a, b]);
        let cells = names.into_iter().zip(pair.flags);
        let document = StudyDocument {
            name: Some(NAME.to_owned()),
            question: Some(question),
            margin: Some(format!("{}%", pair.margin_pct)),
            primary: pair.primary.map(|primary| primary.key()),
            run: Some(pair.run),
            design: DesignTable {
                seed: Some(pair.seed),
                slices: pair.slices,
                ..DesignTable::default()
            },
            gate: GateTable::default().with(&pair.allow)?,
            cell: cells.map(|(name, flags)| CellTable { name, flags }).collect(),
            ..StudyDocument::default()
        };
        Ok(Self { document, base, grammar })
    }

    /// Its plan of so many blocks, and the file that has the same.
    ///
    /// Errors: whatever is wrong with it.
    pub fn plan(&self, blocks: u32) -> Result<PlannedStudy, LabError> {
        let mut document = self.document.clone();
        document.design.blocks = Some(blocks);
        let directory = std::env::current_dir().unwrap_or_default();
        let (base, grammar) = (Some(&*self.base), self.grammar);
        let mut plan = PlanSource { document: &document, base, grammar }.plan(NAME, &directory)?;
        refuse_same(&plan)?;
        if document.design.slices.is_none() {
            plan.design.slices = usual_slices(&plan.cells);
            document.design.slices = Some(plan.design.slices).filter(|slices| *slices > 1);
        }
        let source = toml::to_string(&document).map_err(usage)?;
        Ok(PlannedStudy { plan, source })
    }
}

/// Refuses two settings that make the same run.
fn refuse_same(plan: &StudyPlan) -> Result<(), LabError> {
    let of = |role: CellRole| plan.cells.iter().find(|cell| cell.role == role);
    let run = |role: CellRole| same_run(of(role)?.spec.as_ref());
    let [a, b] = [CellRole::Baseline, CellRole::Candidate].map(run);
    match a == b {
        false => Ok(()),
        true => Err(usage(
            "--a and --b make the same run, so that there is nothing to compare: give one of them \
             another setting (how much equal runs differ is measured beside every comparison)",
        )),
    }
}

/// What the configurations are called: their flags, or letters where those are too long for a
/// table, or alike.
fn cell_names(flags: [&str; 2]) -> [String; 2] {
    let name = |flags: &str| match flags.trim() {
        "" => "as given".to_owned(),
        flags => flags.replace("--", ""),
    };
    let names = flags.map(name);
    let are_short = names.iter().all(|name| name.len() <= LONGEST_NAME);
    match are_short && names[0] != names[1] {
        true => names,
        false => ["A".to_owned(), "B".to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::AnyFlags;
    use super::super::{PlanOverrides, plan_study};
    use super::*;
    use std::path::Path;

    /// What is saved can be run again, and is the same study.
    #[test]
    fn the_plan_is_that_of_the_file_that_has_the_same() {
        let pair = ComparedSettings {
            flags: ["workers=1 server-set='a=x y'".to_owned(), "workers='2'".to_owned()],
            run: "values1 '--limit=p90<=5ms'".to_owned(),
            seed: 7,
            margin_pct: 2.5,
            primary: PrimaryMetric::named("p95"),
            allow: "steal=5% repeats=9 steady=false".to_owned(),
            slices: None,
        };
        let base = AnyFlags.base(&pair.run).expect("a run");
        let draft = PairDraft::new(pair, base, &AnyFlags).expect("limits of a gate");
        let drawn = draft.plan(4).expect("a plan");
        let design = (drawn.plan.design.blocks, drawn.plan.design.seed, drawn.plan.gate.repeats);
        assert_eq!(design, (4, 7, 9));
        let (place, given) = (Path::new("ab.toml"), PlanOverrides::default());
        let read = plan_study(&drawn.source, place, given, &AnyFlags).expect("a plan");
        assert_eq!(drawn.plan, read.plan, "{}", drawn.source);
    }

    /// Of settings that are the same, however each is written, there is no verdict.
    #[test]
    fn what_is_the_same_and_what_is_no_limit_is_refused() {
        let refused = |a: &str, b: &str, allow: &str| {
            let pair = ComparedSettings {
                flags: [a.to_owned(), b.to_owned()],
                run: "values1".to_owned(),
                seed: 1,
                margin_pct: 1.0,
                primary: None,
                allow: allow.to_owned(),
                slices: None,
            };
            let base = AnyFlags.base(&pair.run).expect("a run");
            let draft = PairDraft::new(pair, base, &AnyFlags);
            let plan = draft.and_then(|draft| draft.plan(4)).map(|study| study.plan.gate.steal_pct);
            plan.map_err(|error| error.to_string())
        };
        for (a, b) in [
            ("workers=2", "workers=2"),
            ("workers=2", "--workers='2'"),
            ("target=sqlite", "target=sqlite:"),
            ("limit=p90<=1s", "limit=p90<=1000ms"),
            ("", ""),
        ] {
            let error = refused(a, b, "").expect_err(b);
            assert!(error.starts_with("--a and --b make the same run"), "{error}");
        }
        assert_eq!(refused("workers=1", "workers=2", "steal=5 repeats=9"), Ok(5.0));
        for (allow, why) in [
            ("steal=0%", "steal = \"0%\": write a share above zero"),
            ("wait=soon", "wait = \"soon\": "),
            ("repeats=many", "repeats takes a whole number"),
            ("steady=maybe", "steady takes true or false"),
            ("stael=5%", "unknown field `stael`"),
        ] {
            let error = refused("workers=1", "workers=2", allow).expect_err(allow);
            assert!(error.starts_with(&format!("--allow '{allow}': {why}")), "{error}");
        }
    }

    #[test]
    fn long_flags_are_named_by_letters() {
        assert_eq!(cell_names(["", "--connections=3"]), ["as given", "connections=3"]);
        let long = "server-set=innodb_flush_log_at_trx_commit=1";
        assert_eq!(cell_names(["connections=3", long]), ["A", "B"]);
    }
}
