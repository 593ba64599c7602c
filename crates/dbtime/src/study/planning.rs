//! From the file of a study to its plan: everything that can be refused before the first run is
//! refused here.

use super::cells::{CellFlags, cells, run_of};
use super::document::{self, GateTable, StudyDocument};
use crate::cli::{margin, metric};
use crate::exit::CommandFailure;
use crate::planned_run::PlannedRun;
use dbtime_model::Nanos;
use dbtime_model::record::PrimaryMetric;
use dbtime_model::study::{
    BlockDesign, CellRole, GateLimits, STUDY_SCHEMA, StopRule, StudyCell, StudyPlan,
};
use dbtime_stats::MOST_LOOKS;
use std::path::Path;

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

/// How many times the blocks a study may take that ends by precision.
const MAX_BLOCKS_FACTOR: u32 = 3;

/// A study that was planned.
pub(crate) struct PlannedStudy {
    /// Its plan.
    pub(crate) plan: StudyPlan,
    /// A run of each configuration, in the plan's order.
    pub(crate) runs: Vec<PlannedRun>,
    /// The text that it was planned from.
    pub(crate) source: String,
}

/// The plan of a file's text, with so many blocks if that is given.
///
/// Errors: whatever is wrong with it.
pub(crate) fn plan(
    text: &str,
    path: &Path,
    blocks: Option<u32>,
) -> Result<PlannedStudy, CommandFailure> {
    let mut document = document::read(text, path)?;
    document.design.blocks = blocks.or(document.design.blocks);
    let given = cells(&document)?;
    let order = baseline_first(&document, given)?;
    let mut runs = order
        .iter()
        .map(|cell| run_of(&document.run, cell).map_err(|failure| in_cell(failure, &cell.name)))
        .collect::<Result<Vec<_>, _>>()?;
    let mut cells: Vec<StudyCell> = order
        .iter()
        .zip(&runs)
        .enumerate()
        .map(|(at, (cell, run))| cell_of(at, cell, run))
        .collect();
    if document.design.control.unwrap_or(true) {
        let name = format!("{} again", cells[0].name);
        if cells.iter().any(|cell| cell.name == name) {
            let text = format!("`{name}` is what the control is called: name that one otherwise");
            return Err(CommandFailure::usage(text));
        }
        cells.insert(1, StudyCell { name, role: CellRole::Control, ..cells[0].clone() });
        runs.insert(1, runs[0].clone());
    }
    let is_closed = runs.iter().all(|run| run.spec.load.rate.is_none());
    let primary = match &document.primary {
        Some(name) => metric(name).map_err(|why| named("primary", name, why))?,
        None => PrimaryMetric::usual(is_closed),
    };
    let stem = path.file_stem().map_or_else(|| "study".into(), |stem| stem.to_string_lossy());
    let directory = std::env::current_dir().unwrap_or_default();
    let design = design(&document, &cells)?;
    let plan = StudyPlan {
        schema: STUDY_SCHEMA,
        dbtime: env!("CARGO_PKG_VERSION").to_owned(),
        name: document.name.clone().unwrap_or_else(|| stem.into_owned()),
        question: document.question.clone(),
        directory: directory.to_string_lossy().into_owned(),
        primary,
        margin_pct: share_pct("margin", document.margin.as_deref(), MARGIN_PCT)?,
        design,
        gate: gate(&document.gate, design.blocks)?,
        cells,
        pilot: None,
    };
    Ok(PlannedStudy { plan, runs, source: text.to_owned() })
}

fn cell_of(at: usize, cell: &CellFlags, run: &PlannedRun) -> StudyCell {
    StudyCell {
        name: cell.name.clone(),
        role: if at == 0 { CellRole::Baseline } else { CellRole::Candidate },
        factors: run.factors.clone(),
        command: run.command.clone(),
        spec: run.spec.clone(),
    }
}

fn baseline_first(
    document: &StudyDocument,
    mut cells: Vec<CellFlags>,
) -> Result<Vec<CellFlags>, CommandFailure> {
    let Some(baseline) = &document.baseline else { return Ok(cells) };
    let Some(at) = cells.iter().position(|cell| cell.name == *baseline) else {
        let names = cells.iter().map(|cell| format!("`{}`", cell.name)).collect::<Vec<_>>();
        let why = format!("there is none of that name, but {}", names.join(", "));
        return Err(named("baseline", baseline, why));
    };
    let first = cells.remove(at);
    cells.insert(0, first);
    Ok(cells)
}

fn design(document: &StudyDocument, cells: &[StudyCell]) -> Result<BlockDesign, CommandFailure> {
    let design = &document.design;
    let blocks = design.blocks.unwrap_or(BLOCKS);
    if !(1..=1000).contains(&blocks) {
        return Err(named("blocks", &blocks.to_string(), "write 1 to 1000"));
    }
    let stop = design.stop.as_deref().unwrap_or("fixed");
    let wrong = |why: &str| named("stop", stop, why);
    let stop = match stop.split_once(':') {
        None if stop == "fixed" => StopRule::Fixed,
        Some(("precision", width)) => {
            let half_width_pct = 100.0 * margin(width).map_err(|why| wrong(&why))?;
            let most = blocks.saturating_mul(MAX_BLOCKS_FACTOR);
            let max_blocks = design.max_blocks.unwrap_or(most);
            if max_blocks < blocks {
                let why = format!("there are at least {blocks} blocks");
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
    Ok(BlockDesign { blocks, seed: design.seed.unwrap_or(1), stop })
}

fn gate(gate: &GateTable, blocks: u32) -> Result<GateLimits, CommandFailure> {
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
    })
}

/// A share in percent: `1%`, `0.5 %`.
fn share_pct(name: &str, text: Option<&str>, usual: f64) -> Result<f64, CommandFailure> {
    let Some(text) = text else { return Ok(usual) };
    let number = text.trim_end_matches('%').trim_end().parse::<f64>().ok();
    let number = number.filter(|pct| *pct > 0.0 && pct.is_finite());
    number.ok_or_else(|| named(name, text, "write a share above zero, such as 1%"))
}

fn named(key: &str, value: &str, why: impl std::fmt::Display) -> CommandFailure {
    CommandFailure::usage(format!("{key} = \"{value}\": {why}"))
}

/// Says which configuration it is that cannot be run.
fn in_cell(failure: CommandFailure, cell: &str) -> CommandFailure {
    let text = match &failure {
        CommandFailure::Usage(error) | CommandFailure::Environment(error) => {
            match error.downcast_ref::<clap::Error>() {
                Some(clap) => crate::cli::complaint(clap).unwrap_or_else(|| clap.to_string()),
                None => error.to_string(),
            }
        }
    };
    match failure {
        CommandFailure::Usage(_) => CommandFailure::usage(format!("{cell}: {text}")),
        CommandFailure::Environment(_) => CommandFailure::environment(format!("{cell}: {text}")),
    }
}
