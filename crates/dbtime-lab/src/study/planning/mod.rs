//! From the file of a study to its plan: everything that can be refused before the first run is
//! refused here.

mod cells;
mod document;
mod pair;
mod programs;
mod rounds;
mod slices;

use super::planned_run::PlannedRun;
use crate::error::LabError;
use cells::{CellFlags, cells};
use dbtime_model::Nanos;
use dbtime_model::record::PrimaryMetric;
use dbtime_model::secret_text::script_holds_secret;
use dbtime_model::spec::{FlagSetting, RunSpec};
use dbtime_model::study::{
    BlockDesign, CellRole, GateLimits, NoiseRule, ProgramRules, RunOrder, RunSurroundings,
    STUDY_SCHEMA, StopRule, StudyCell, StudyData, StudyPlan,
};
use dbtime_stats::MOST_LOOKS;
use document::{GateTable, StudyDocument};
pub use pair::{ComparedSettings, PairDraft};
pub use rounds::{plan_rounds, plan_search};
pub use slices::slices_of_window;
pub(super) use slices::{USUAL_SLICE, common_window};
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// Blocks when nobody says how many.
const BLOCKS: u32 = 10;

/// The smallest change of interest when nobody says. Unit: percent.
const MARGIN_PCT: f64 = 1.0;

/// What may go on beside a run unless somebody says. Units: percent of all CPUs, of one CPU,
/// seconds. Of others is also what the kernel's threads do for the server: with syncs at every
/// commit up to 2.8 % here, without 0.0 %, so that a limit of 2 % left out one configuration.
const STEAL_PCT: f64 = 1.0;
const FOREIGN_CPU_PCT: f64 = 10.0;
const WAIT_S: f64 = 120.0;

/// The most blocks of a study.
pub(super) const MOST_BLOCKS: u32 = 1000;

/// How many times the blocks a study may take that ends by precision.
const MAX_BLOCKS_FACTOR: u32 = 3;

/// What plans have to know of runs of dbtime, and only its command line does.
pub trait RunGrammar {
    /// The flag of this name with this value, of one configuration or of all.
    ///
    /// Errors: there is none that configurations may have, or its value holds a secret, which would
    /// be kept with the results.
    fn cell_flag(&self, name: &str, value: &str) -> Result<FlagSetting, LabError>;

    /// What all configurations have in common, by the words behind `dbtime run`.
    ///
    /// Errors: they describe no run, or have what is no affair of a run's.
    fn base(&self, words: &str) -> Result<Box<dyn RunBase>, LabError>;
}

/// A run that configurations are made of.
pub trait RunBase {
    /// The run of a configuration with these flags.
    ///
    /// Errors: whatever is wrong with it that can be seen before it is run.
    fn planned(&self, flags: &[FlagSetting]) -> Result<PlannedRun, LabError>;
}

/// A study that was planned.
#[derive(Clone, Debug)]
pub struct PlannedStudy {
    /// Its plan.
    pub plan: StudyPlan,
    /// The text of its file.
    pub source: String,
}

/// What a command line changes of a study's file.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlanOverrides<'a> {
    /// How many blocks.
    pub blocks: Option<u32>,
    /// In how many slices the window of each run is made.
    pub slices: Option<u32>,
    /// Limits of the gate, as words: `steal=5% repeats=20`.
    pub allow: &'a str,
}

/// What a plan is made of.
#[derive(Clone, Copy)]
struct PlanSource<'a> {
    document: &'a StudyDocument,
    /// What the runs have in common; `None`: they are an external program's.
    base: Option<&'a dyn RunBase>,
    grammar: &'a dyn RunGrammar,
}

/// The plan of a file's text.
///
/// Errors: whatever is wrong with it.
pub fn plan_study(
    text: &str,
    path: &Path,
    given: PlanOverrides<'_>,
    grammar: &dyn RunGrammar,
) -> Result<PlannedStudy, LabError> {
    let mut document = document::read(text, path)?;
    document.design.blocks = given.blocks.or(document.design.blocks);
    document.design.slices = given.slices.or(document.design.slices);
    document.gate = document.gate.with(given.allow)?;
    let mut comments = text.lines().filter_map(|line| Some(line.split_once('#')?.1));
    if comments.any(script_holds_secret) {
        return Err(holds_secret("a comment"));
    }
    let stem = path.file_stem().map_or_else(|| "study".into(), |stem| stem.to_string_lossy());
    // A command is found beside its file, a workload as on a command line.
    let directory = match document.command.is_some() {
        true => folder_of(path),
        false => std::env::current_dir().unwrap_or_default(),
    };
    let base = document.run.as_deref().map(|words| grammar.base(words)).transpose()?;
    let source = PlanSource { document: &document, base: base.as_deref(), grammar };
    let plan = source.plan(&stem, &directory)?;
    Ok(PlannedStudy { plan, source: text.to_owned() })
}

impl PlanSource<'_> {
    /// The plan, which has this name where the document has none.
    fn plan(self, name: &str, directory: &Path) -> Result<StudyPlan, LabError> {
        let document = self.document;
        // Errors name configurations.
        refuse_secrets_of_prose(document)?;
        let given = cells(document, self.grammar)?;
        let order = baseline_first(document, given)?;
        let (program, mut cells) = self.planned_cells(&order)?;
        if document.design.control.unwrap_or(true) {
            cells.insert(1, control(&cells)?);
        }
        if let Some(factor) = &document.compare {
            compare_levels(document, factor, &mut cells)?;
        }
        let primary = match &program {
            Some(rules) => rules.metrics[0].name.clone(),
            None => primary(document.primary.as_deref(), &cells)?,
        };
        let design = design(document, &cells)?;
        Ok(StudyPlan {
            schema: STUDY_SCHEMA,
            dbtime: env!("CARGO_PKG_VERSION").to_owned(),
            name: document.name.clone().unwrap_or_else(|| name.to_owned()),
            question: document.question.clone(),
            directory: directory.to_string_lossy().into_owned(),
            primary,
            margin_pct: share_pct("margin", document.margin.as_deref(), MARGIN_PCT)?,
            design,
            gate: gate(&document.gate, design.blocks)?,
            program,
            order: RunOrder::Blocks,
            surroundings: RunSurroundings::default(),
            data: data(document.design.data.as_deref())?,
            cells,
            pilot: None,
        })
    }

    /// The configurations, and how their runs are made where they are those of a program.
    fn planned_cells(
        self,
        order: &[CellFlags],
    ) -> Result<(Option<ProgramRules>, Vec<StudyCell>), LabError> {
        let document = self.document;
        match (self.base, &document.command) {
            (Some(base), None) => {
                let of_command =
                    [&document.prepare, &document.conclude, &document.timeout, &document.parser];
                if of_command.iter().any(|given| given.is_some()) || !document.metric.is_empty() {
                    return Err(usage(
                        "parser, metric, prepare, conclude and timeout belong to a command: dbtime \
                         measures its own runs",
                    ));
                }
                let cells = order.iter().enumerate().map(|(at, cell)| own_cell(base, at, cell));
                let cells = cells.collect::<Result<Vec<_>, LabError>>()?;
                refuse_same_levels(&cells)?;
                Ok((None, cells))
            }
            (None, Some(command)) => {
                let cell = |(at, cell): (usize, &CellFlags)| {
                    let factors = programs::variables(cell)?;
                    let command = command.clone();
                    Ok(StudyCell { factors, command, ..unplanned_cell(at, cell) })
                };
                let cells = order.iter().enumerate().map(cell);
                let cells = cells.collect::<Result<_, LabError>>()?;
                Ok((Some(programs::rules(document)?), cells))
            }
            _ => Err(usage("give either run = \"…\", a run of dbtime, or command = \"…\"")),
        }
    }
}

/// The configuration of this place, before anything is known of its runs.
fn unplanned_cell(at: usize, cell: &CellFlags) -> StudyCell {
    StudyCell {
        name: cell.name.clone(),
        role: if at == 0 { CellRole::Baseline } else { CellRole::Candidate },
        baseline: 0,
        factors: Vec::new(),
        levels: cell.levels.clone(),
        command: String::new(),
        spec: None,
    }
}

/// A configuration whose runs are dbtime's.
fn own_cell(base: &dyn RunBase, at: usize, cell: &CellFlags) -> Result<StudyCell, LabError> {
    let run = base.planned(&cell.flags).and_then(with_known_rate);
    let run = run.map_err(|error| in_cell(&error, &cell.name))?;
    let (factors, command, spec) = (run.factors, run.command, Some(run.spec));
    Ok(StudyCell { factors, command, spec, ..unplanned_cell(at, cell) })
}

/// Refuses levels that make the same run, such as `4` and `04`: each has to be another one.
fn refuse_same_levels(cells: &[StudyCell]) -> Result<(), LabError> {
    let runs: Vec<_> = cells.iter().map(|cell| same_run(cell.spec.as_ref())).collect();
    for (at, cell) in cells.iter().enumerate().filter(|(_, cell)| !cell.levels.is_empty()) {
        if let Some(other) = runs[..at].iter().position(|other| *other == runs[at]) {
            return Err(usage(format!(
                "`{}` and `{}` make the same run: leave one of the levels out",
                cells[other].name, cell.name
            )));
        }
    }
    Ok(())
}

/// The run of a configuration, equal to each that is the same.
fn same_run(spec: Option<&RunSpec>) -> Option<RunSpec> {
    spec.cloned().map(RunSpec::in_one_notation)
}

fn with_known_rate(run: PlannedRun) -> Result<PlannedRun, LabError> {
    match run.is_auto() {
        false => Ok(run),
        true => Err(usage(
            "--rate auto measures another rate for every run, and is what runs have without a \
             workload and a rate: name a workload, or a rate that is known, such as --rate 500/s",
        )),
    }
}

/// The first configuration once more.
fn control(cells: &[StudyCell]) -> Result<StudyCell, LabError> {
    let name = format!("{} again", cells[0].name);
    if cells.iter().any(|cell| cell.name == name) {
        let text = format!("`{name}` is the name of the control: choose another");
        return Err(usage(text));
    }
    Ok(StudyCell { name, role: CellRole::Control, ..cells[0].clone() })
}

/// Refuses a password in what only people read: it is kept as the rest of the file is.
fn refuse_secrets_of_prose(document: &StudyDocument) -> Result<(), LabError> {
    let StudyDocument { name, question, .. } = document;
    let fields = [("`name`", name), ("`question`", question)];
    let fields = fields.into_iter().filter_map(|(key, text)| Some((key, text.as_deref()?)));
    let cells = document.cell.iter().map(|cell| ("the name of a cell", cell.name.as_str()));
    let levels = document.factors.values().filter_map(toml::Value::as_table);
    let levels = levels.flat_map(|levels| levels.keys());
    let levels = levels.map(|level| ("the name of a level", level.as_str()));
    match fields.chain(cells).chain(levels).find(|(_, text)| script_holds_secret(text)) {
        None => Ok(()),
        Some((place, _)) => Err(holds_secret(place)),
    }
}

fn holds_secret(place: &str) -> LabError {
    usage(format!(
        "there is a password in {place} of the study's file, which is kept with the results: leave \
         it out"
    ))
}

/// Has the first level of a factor be the baseline of the others, at each combination of levels of
/// the other factors.
fn compare_levels(
    document: &StudyDocument,
    factor: &str,
    cells: &mut [StudyCell],
) -> Result<(), LabError> {
    let wrong = |why: &str| named("compare", factor, why);
    if document.design.screening == Some(true) {
        return Err(wrong("of a screening the effects of all factors are of interest"));
    }
    if !document.factors.contains_key(factor) {
        return Err(wrong("it is none of the [factors]"));
    }
    let level = |cell: &StudyCell| cell.levels.iter().find(|level| level.name == factor).cloned();
    let others = |cell: &StudyCell| {
        let mut levels = cell.levels.clone();
        levels.retain(|level| level.name != factor);
        levels
    };
    let first = level(&cells[0]);
    let keys: Vec<_> = cells.iter().map(|cell| (level(cell), others(cell))).collect();
    for (at, cell) in cells.iter_mut().enumerate() {
        let is_baseline = |key: &(_, _)| key.0 == first && key.1 == keys[at].1;
        let baseline = keys.iter().position(is_baseline).unwrap_or(0);
        cell.baseline = baseline as u32;
        if cell.role == CellRole::Candidate && baseline == at {
            cell.role = CellRole::Baseline;
        }
    }
    Ok(())
}

fn primary(given: Option<&str>, cells: &[StudyCell]) -> Result<String, LabError> {
    let is_open =
        |cell: &StudyCell| cell.spec.as_ref().is_some_and(|spec| spec.load.rate.is_some());
    let metric = match given {
        Some(name) => PrimaryMetric::parse(name).map_err(|why| named("primary", name, why))?,
        None => PrimaryMetric::usual(!cells.iter().any(is_open)),
    };
    Ok(metric.key())
}

/// The folder of a study's file.
fn folder_of(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned())
}

fn baseline_first(
    document: &StudyDocument,
    mut cells: Vec<CellFlags>,
) -> Result<Vec<CellFlags>, LabError> {
    let Some(baseline) = &document.baseline else { return Ok(cells) };
    let Some(at) = cells.iter().position(|cell| cell.name == *baseline) else {
        let names = cells.iter().map(|cell| format!("`{}`", cell.name)).collect::<Vec<_>>();
        let why = format!("there is none of that name; write one of {}", names.join(", "));
        return Err(named("baseline", baseline, why));
    };
    let first = cells.remove(at);
    cells.insert(0, first);
    Ok(cells)
}

fn design(document: &StudyDocument, cells: &[StudyCell]) -> Result<BlockDesign, LabError> {
    let design = &document.design;
    let blocks = design.blocks.unwrap_or(BLOCKS);
    if !(1..=MOST_BLOCKS).contains(&blocks) {
        return Err(named("blocks", &blocks.to_string(), format!("write 1 to {MOST_BLOCKS}")));
    }
    let stop = design.stop.as_deref().unwrap_or("fixed");
    let wrong = |why: &str| named("stop", stop, why);
    let stop = match stop.split_once(':') {
        None if stop == "fixed" => StopRule::Fixed,
        Some(("precision", width)) => {
            let half_width_pct = 100.0 * margin(width).map_err(|why| wrong(&why))?;
            let max_blocks = design.max_blocks.unwrap_or(blocks * MAX_BLOCKS_FACTOR);
            let most = MOST_BLOCKS * MAX_BLOCKS_FACTOR;
            if !(blocks..=most).contains(&max_blocks) {
                let why = format!("there are at least {blocks} blocks, and at most {most}");
                return Err(named("max-blocks", &max_blocks.to_string(), why));
            }
            StopRule::Precision { half_width_pct, max_blocks }
        }
        Some(("looks", looks)) => {
            let looks = looks.parse().ok().filter(|looks| (2..=MOST_LOOKS).contains(looks));
            let looks = looks.ok_or_else(|| wrong(&format!("write looks:2 to {MOST_LOOKS}")))?;
            if blocks < 3 * looks {
                let least = 3 * looks;
                return Err(wrong(&format!("each look needs three more blocks: {least} or more")));
            }
            if cells.iter().filter(|cell| cell.role == CellRole::Candidate).count() > 1 {
                return Err(wrong(
                    "planned looks are for two configurations: more may differ at \
                                  different looks",
                ));
            }
            StopRule::Looks { looks }
        }
        _ => return Err(wrong("write fixed, precision:0.5% or looks:3")),
    };
    if design.max_blocks.is_some() && !matches!(stop, StopRule::Precision { .. }) {
        return Err(named("max-blocks", "", "it belongs to stop = \"precision:…\""));
    }
    let slices = slices::slices(design.slices, cells)?;
    Ok(BlockDesign { blocks, seed: design.seed.unwrap_or(1), stop, slices })
}

fn data(given: Option<&str>) -> Result<StudyData, LabError> {
    match given {
        None | Some("snapshot") => Ok(StudyData::Snapshot),
        Some("load") => Ok(StudyData::Loaded),
        Some(other) => Err(named("data", other, "write snapshot or load")),
    }
}

fn gate(gate: &GateTable, blocks: u32) -> Result<GateLimits, LabError> {
    let wait_s = match &gate.wait {
        None => WAIT_S,
        Some(text) => {
            let wait: Nanos = text.parse().map_err(|why| named("wait", text, why))?;
            wait.as_secs()
        }
    };
    Ok(GateLimits {
        steal_pct: share_pct("steal", gate.steal.as_deref(), STEAL_PCT)?,
        foreign_cpu_pct: share_pct("foreign-cpu", gate.foreign_cpu.as_deref(), FOREIGN_CPU_PCT)?,
        wait_s,
        repeats: gate.repeats.unwrap_or(blocks),
        steady: gate.steady.unwrap_or(true),
        noise: noise_rule(gate.noise.as_deref())?,
    })
}

fn noise_rule(given: Option<&str>) -> Result<NoiseRule, LabError> {
    match given {
        None | Some("stop") => Ok(NoiseRule::Stop),
        Some("count") => Ok(NoiseRule::Count),
        Some(other) => Err(named("noise", other, "write stop or count")),
    }
}

/// A share in percent: `1%`, `0.5 %`.
fn share_pct(name: &str, text: Option<&str>, usual: f64) -> Result<f64, LabError> {
    let Some(text) = text else { return Ok(usual) };
    let number = text.trim_end_matches('%').trim_end().parse::<f64>().ok();
    let number = number.filter(|pct| *pct > 0.0 && pct.is_finite());
    number.ok_or_else(|| named(name, text, "write a share above zero, such as 1%"))
}

/// A share in percent, with or without the sign, as a fraction.
///
/// Errors: it is none, with what would be.
pub fn margin(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').trim_end();
    match number.parse::<f64>() {
        Ok(percent) if percent > 0.0 && percent < 100.0 => Ok(percent / 100.0),
        _ => Err("not a share above 0 and below 100 %, such as 1% or 0.5%".to_owned()),
    }
}

fn usage(text: impl Display) -> LabError {
    LabError::Usage(text.to_string())
}

fn named(key: &str, value: &str, why: impl Display) -> LabError {
    usage(format!("{key} = \"{value}\": {why}"))
}

/// Says which configuration it is that cannot be run.
fn in_cell(error: &LabError, cell: &str) -> LabError {
    let text = format!("{cell}: {error}");
    match error.is_usage() {
        true => LabError::Usage(text),
        false => LabError::Target(text),
    }
}

#[cfg(test)]
mod tests;
