//! Two groups of runs, with a verdict.
//!
//! What a run of one configuration has been repeated for: the difference between two groups of runs
//! is set against the differences within them. The unit is the run, one life of a server; of runs
//! that are slices of such a life it is their block.

mod charts;
mod differences;
mod exclusions;
mod gate;
mod group_figure;
mod metrics;
mod states;
mod tables;
mod unit_values;
mod values_finding;
mod verdict;
mod verdict_basis;
#[cfg(test)]
mod verdict_sample;
mod wording;

pub(super) use charts::{charts, detail_charts};
pub(super) use dbtime_stats::geometric_mean;
pub use differences::{PartChange, PercentileChange};
use differences::{part_changes, percentile_changes};
pub use exclusions::GivenExclusion;
use exclusions::{counted_for, exclusion_bias};
pub use gate::GroupGate;
#[cfg(test)]
pub(super) use gate::gates;
use group_figure::{figure, figures};
pub(super) use metrics::{GroupMetric, of_program, primary_first};
pub use states::{FoundStates, StateChange};
pub(super) use tables::{RUNS, figures_and_parts, of_groups};
pub use unit_values::SliceUnit;
use unit_values::{are_of_units, most_slices};
pub(super) use values_finding::{ValuesFinding, ValuesRule};
pub(super) use verdict::InvalidGroups;
pub use verdict::{CellVerdict, GroupOutcome, Verdict};
#[cfg(test)]
pub(super) use verdict_sample::verdicts;
pub(super) use wording::signed;

use super::SCHEMA;
use super::figures::FigurePair;
use super::run::part_pairs;
use super::setup::{self, SettingPair};
use crate::charts::escape;
use crate::document::DocumentFact;
use crate::facts::instant;
use crate::format::{clean, counted};
use crate::html::run_link;
use crate::means::PartMeans;
use crate::story;
use dbtime_model::Part;
use dbtime_model::record::{BudgetUs, PrimaryMetric, RunRecord, combination_text};
use dbtime_model::study::{PlacedRecord, ProgramRules};
use dbtime_stats::VerdictRule;
use serde::Serialize;

/// A run with the place of its record.
#[derive(Clone, Copy, Debug)]
pub struct PlacedRun<'a> {
    /// Where the record is.
    pub place: &'a str,
    /// The record.
    pub record: PlacedRecord<'a>,
    /// Why it is in no verdict, where that is not for what the record says.
    pub excluded: Option<GivenExclusion<'a>>,
    /// Which slice of a block it is; `None`: it is whole.
    pub unit: Option<SliceUnit>,
}

/// How two groups are compared.
#[derive(Clone, Copy, Debug)]
pub struct GroupOptions<'a> {
    /// What is decided before the first run.
    pub rule: VerdictRule,
    /// What the verdict is on; `None`: throughput of a closed loop, else the mean response.
    pub primary: Option<PrimaryMetric>,
    /// What is compared where the runs are those of an external program.
    pub program: Option<&'a ProgramRules>,
    /// What the sides are called.
    pub names: [&'a str; 2],
}

/// One run of a group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupedRun {
    /// Where its record is.
    pub place: String,
    /// When its load started, UTC, RFC 3339.
    pub started_at: String,
    /// Its value of the primary metric; `null`: it has none.
    pub value: Option<f64>,
    /// Why it is in no verdict; `null`: it is.
    pub excluded: Option<String>,
    /// Why it is noisy; `null` where it is sound or invalid.
    pub noisy: Option<String>,
    /// The folder of its page, from that of the page of the comparison; `None`: not known.
    #[serde(skip)]
    page_folder: Option<String>,
}

/// One side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunGroup {
    /// What ran against what, by its first run.
    pub headline: String,
    /// How the load was made.
    pub load: String,
    /// All of its runs, as they were named.
    pub runs: Vec<GroupedRun>,
}

/// One metric of both groups.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupFigure {
    /// Its name.
    pub name: String,
    /// The geometric means of both sides, with their unit; arithmetic ones where a run has zero.
    /// Ratio and difference are of these.
    pub means: FigurePair,
    /// The values of A's runs in the verdict, in the order of their starts; of slices the geometric
    /// mean of each block. Unit: as of `means`.
    pub a: Vec<f64>,
    /// The same of B.
    pub b: Vec<f64>,
    /// The verdict on it; in JSON `text` is its sentence, `outcome` what it comes to.
    #[serde(flatten, serialize_with = "Verdict::as_text")]
    pub verdict: Verdict,
    /// The change of B against A with its interval, of the means, or of medians where the verdict
    /// is by these; `null`: too few runs, or one that is not above zero. Unit: percent.
    pub change_pct: Option<[f64; 3]>,
    /// The probability of such a change where there is none (Student's t; 1.1 times that of ranks
    /// where medians alone show it); of metrics that are not the primary one adjusted for how many
    /// there are (Holm).
    pub p: Option<f64>,
    /// The median change (Hodges-Lehmann) with its 95 % interval; `null`: fewer than six pairs, or
    /// four runs a side. Unit: percent.
    pub median_change_pct: Option<[f64; 3]>,
    /// The probability by exchanged signs; of pairs alone.
    pub sign_flip_p: Option<f64>,
    /// In which share of all pairs of a run of A and one of B that of B is higher. Unit: percent.
    pub higher_pct: Option<f64>,
    /// Whether B is worse in it by the margin.
    pub gate: GroupGate,
    /// The groups that the runs fall into, which a mean says little of; `null`: they are one group.
    pub states: Option<FoundStates>,
}

/// Two groups of runs, as `dbtime compare --json` prints them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupComparison {
    /// [`SCHEMA`].
    pub schema: u32,
    /// `group_comparison`.
    pub kind: &'static str,
    /// The verdict on the primary metric; in JSON its sentence, and `outcome` is what it comes to.
    #[serde(flatten, serialize_with = "Verdict::as_verdict")]
    pub verdict: Verdict,
    /// The same verdict with the runs that were excluded; `null`: none was.
    pub verdict_with_excluded: Option<Verdict>,
    /// That one side lost more of its runs by their own flaws than by chance, with the counts of
    /// both sides; left out: neither did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exclusion_bias: Option<String>,
    /// Whether runs of A and B alternated, so that each was compared with its neighbour.
    pub paired: bool,
    /// How many slices each block of the runs has at most, whose mean is one value; left out: runs
    /// are whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slices: Option<u32>,
    /// The smallest change of interest. Unit: percent.
    pub margin_pct: f64,
    /// The level of the intervals of changes. Unit: percent.
    pub level_pct: f64,
    /// The first side.
    pub a: RunGroup,
    /// The second.
    pub b: RunGroup,
    /// What was set up alike in all runs of a side, and differently in both sides.
    pub settings: Vec<SettingPair>,
    /// Where they did not do the same. Empty where they did.
    pub unlike: Vec<String>,
    /// The primary metric first.
    pub metrics: Vec<GroupFigure>,
    /// The difference of the mean responses by part, the total last; empty unless all runs have a
    /// budget and the primary metric a change.
    pub parts: Vec<FigurePair>,
    /// The changes of the percentiles of the response, each of the runs that count for it; empty of
    /// external programs.
    pub percentiles: Vec<PercentileChange>,
    /// The changes of the parts with their intervals, the total first; empty as `parts` is.
    pub part_changes: Vec<PartChange>,
    /// That difference in a line.
    pub where_it_went: Option<String>,
    /// Whether B is worse by the margin in the primary metric, which `--gate` goes by.
    pub gate: GroupGate,
    /// Whether reports have a line on that.
    #[serde(skip)]
    is_gated: bool,
}

impl GroupComparison {
    /// Compares the runs of A with those of B; neither is empty.
    pub fn of(a: &[PlacedRun<'_>], b: &[PlacedRun<'_>], options: GroupOptions<'_>) -> Self {
        let GroupOptions { rule, names, .. } = options;
        let sides: PlacedSides<'_> = [a, b].map(|side| {
            let mut side = side.to_vec();
            side.sort_by_key(|run| run.record.started_at());
            side
        });
        let is_open = |run: &PlacedRun<'_>| run.record.run().is_some_and(is_open);
        let usual = || PrimaryMetric::usual(!a.iter().any(is_open));
        let primary = options.primary.unwrap_or_else(usual);
        let valid = sides.clone().map(|mut side| {
            side.retain(|run| run.exclusion(primary).is_none());
            side
        });
        let metrics = match options.program {
            Some(rules) => of_program(rules),
            None => primary_first(primary),
        };
        // What clients think is in no response, and in the throughput.
        let is_partial = primary.key() == "throughput" && valid.iter().flatten().any(thinks);
        let figures = figures(&metrics, &valid, rule, names);
        let has_excluded = valid.each_ref().map(Vec::len) != sides.each_ref().map(Vec::len);
        let with_excluded =
            has_excluded.then(|| figure(&metrics[0], &sides, rule, names)).flatten();
        let compares_means = figures.first().is_some_and(|figure| figure.change_pct.is_some());
        let parts = if compares_means { parts(&valid) } else { Vec::new() };
        let [of_a, of_b]: [Vec<PlacedRecord<'_>>; 2] =
            sides.each_ref().map(|side| side.iter().map(|run| run.record).collect());
        let invalid = || InvalidGroups::of((&metrics[0], primary), [&valid, &sides], names);
        let none = || Verdict::Invalid(invalid());
        let ungated = || GroupGate::of(&metrics[0], rule, names[1], None);
        Self {
            schema: SCHEMA,
            kind: "group_comparison",
            verdict: figures.first().map_or_else(none, |figure| figure.verdict.clone()),
            verdict_with_excluded: with_excluded.map(|figure| figure.verdict),
            exclusion_bias: exclusion_bias(&sides, primary, names),
            paired: are_paired(&valid) || are_of_units(&valid),
            slices: most_slices(&valid),
            margin_pct: 100.0 * rule.margin,
            level_pct: 100.0 * rule.level,
            a: RunGroup::of(a, &metrics[0], primary),
            b: RunGroup::of(b, &metrics[0], primary),
            gate: figures.first().map_or_else(ungated, |figure| figure.gate.clone()),
            is_gated: false,
            settings: setup::between([&of_a, &of_b]),
            unlike: unlike(&sides),
            metrics: figures,
            percentiles: if compares_means { percentile_changes(&valid) } else { Vec::new() },
            part_changes: if parts.is_empty() { Vec::new() } else { part_changes(&valid) },
            where_it_went: wording::where_it_went(&parts, is_partial),
            parts,
        }
    }

    /// The same, whose reports say how the gate comes out.
    #[must_use]
    pub fn gated(self) -> Self {
        Self { is_gated: true, ..self }
    }

    /// The same, whose page leads to the pages of its runs: `folder` has for the place of a record
    /// its folder below that of the comparison's page, where the run has a page there.
    #[must_use]
    pub fn linked(mut self, folder: impl Fn(&str) -> Option<String>) -> Self {
        for run in self.a.runs.iter_mut().chain(&mut self.b.runs) {
            run.page_folder = folder(&run.place);
        }
        self
    }

    /// Links to the pages of the runs, by their starts; `None`: a run has no page.
    pub(super) fn page_links(&self) -> Vec<Option<String>> {
        let link = |(_, run): (bool, &GroupedRun)| {
            run_link(run.page_folder.as_deref()?, &escape(&instant(&run.started_at)))
        };
        self.by_start().into_iter().map(link).collect()
    }

    /// All runs by their starts, each with whether it is of A.
    fn by_start(&self) -> Vec<(bool, &GroupedRun)> {
        let mut runs: Vec<_> = self.a.runs.iter().map(|run| (true, run)).collect();
        runs.extend(self.b.runs.iter().map(|run| (false, run)));
        runs.sort_by_key(|(_, run)| &run.started_at);
        runs
    }

    /// The answer in lines.
    pub(super) fn facts(&self) -> Vec<DocumentFact> {
        let mut facts = self.verdict_facts();
        facts.extend(self.further_facts());
        facts
    }

    /// How the gate comes out where one is wanted, the verdict, and how runs were paired.
    pub(super) fn verdict_facts(&self) -> Vec<DocumentFact> {
        let mut facts: Vec<DocumentFact> =
            self.is_gated.then(|| self.gate.fact()).into_iter().collect();
        facts.push(DocumentFact::verdict("verdict", self.verdict.to_string()));
        let on = self.metrics.first().map(|one| one.name.clone());
        let is_one_pair = self.a.runs.len() == 1 && self.b.runs.len() == 1;
        let whole = match self.paired {
            _ if is_one_pair => "one run of each side: how much runs differ anyway is unknown",
            true => "runs of A and B alternated: each pair is two that follow each other",
            false => {
                "valid runs of A and B do not alternate: what changed with time is in the difference"
            }
        };
        let design = self.slices_text().unwrap_or_else(|| whole.to_owned());
        facts.extend(on.map(|on| DocumentFact::new("", format!("on {on}; {design}"))));
        facts
    }

    /// What the unit is where runs are slices; `None`: they are whole.
    pub(super) fn slices_text(&self) -> Option<String> {
        let blocks = counted(self.metrics.first()?.a.len() as u64, "block");
        let slices = counted(u64::from(self.slices?), "slice");
        Some(format!("{blocks} of up to {slices} a side; the unit is the block"))
    }

    /// What there is to know besides the verdict and how runs were paired.
    pub(super) fn further_facts(&self) -> Vec<DocumentFact> {
        let mut facts = self.reason_facts();
        facts.extend(self.setting_facts());
        facts.extend(self.metric_facts());
        facts
    }

    /// The verdict with all runs, what their exclusion may have done, and where the difference is.
    pub(super) fn reason_facts(&self) -> Vec<DocumentFact> {
        let mut facts = Vec::new();
        let with = self.verdict_with_excluded.as_ref();
        let with = with.map(|verdict| format!("with the runs that are not valid: {verdict}"));
        let bias = self.exclusion_bias.clone();
        facts.extend(with.into_iter().chain(bias).map(|text| DocumentFact::new("", text)));
        let states = self.states().map(|states| states.text.clone());
        facts.extend(states.map(|text| DocumentFact::new("two states", text)));
        let went = self.where_it_went.clone();
        facts.extend(went.map(|text| DocumentFact::new("where it went", text)));
        facts
    }

    /// The groups that the runs fall into by the primary metric.
    pub(super) fn states(&self) -> Option<&FoundStates> {
        self.metrics.first()?.states.as_ref()
    }

    /// This sentence on the primary metric, and the groups that the runs fall into.
    pub(super) fn qualified(&self, sentence: String) -> String {
        match self.states() {
            Some(states) => format!("{sentence}; two states: {}", states.text),
            None => sentence,
        }
    }

    /// What was set up differently.
    pub(super) fn setting_facts(&self) -> Vec<DocumentFact> {
        let fact = |(at, pair): (usize, &SettingPair)| {
            let name = if at == 0 { "set up" } else { "" };
            let text = format!("{}: A {}, B {}", pair.name, clean(&pair.a), clean(&pair.b));
            DocumentFact::new(name, text)
        };
        self.settings.iter().enumerate().map(fact).collect()
    }

    /// The verdicts on further metrics.
    pub(super) fn metric_facts(&self) -> Vec<DocumentFact> {
        // What holds for all of them, such as too few runs, is not repeated.
        let further = self.metrics.iter().skip(1).filter(|one| one.verdict != self.verdict);
        let fact = |(at, one): (usize, &GroupFigure)| {
            let name = if at == 0 { "besides" } else { "" };
            DocumentFact::new(name, format!("{}: {}", one.name, one.verdict))
        };
        further.enumerate().map(fact).collect()
    }
}

impl RunGroup {
    /// What it is, in a line.
    pub(super) fn text(&self) -> String {
        let some = |are: fn(&GroupedRun) -> bool, what: &str| {
            let some = self.runs.iter().filter(|run| are(run)).count();
            match (some, self.runs.len()) {
                (0, _) => String::new(),
                (_, 1) => format!(", {what}"),
                (some, _) => format!(", {some} of them {what}"),
            }
        };
        let excluded = some(|run| run.excluded.is_some(), "not valid and not in the verdict");
        let noisy = some(|run| run.noisy.is_some(), "noisy");
        format!("{}, {}{excluded}{noisy}", self.headline, counted(self.runs.len() as u64, "run"))
    }

    fn of(runs: &[PlacedRun<'_>], metric: &GroupMetric, primary: PrimaryMetric) -> Self {
        let run = |run: &PlacedRun<'_>| GroupedRun {
            place: run.place.to_owned(),
            started_at: run.record.started_at().clone(),
            value: metric.of(run.record),
            excluded: run.exclusion(primary),
            noisy: run.record.run().and_then(story::noisy),
            page_folder: None,
        };
        let first = runs.first().map(|run| run.record);
        Self {
            headline: first.map_or_else(String::new, headline),
            load: first.and_then(PlacedRecord::run).map_or_else(String::new, load),
            runs: runs.iter().map(run).collect(),
        }
    }
}

fn is_open(record: &RunRecord) -> bool {
    record.load.rate_tps.is_some()
}

fn load(record: &RunRecord) -> String {
    story::load(&record.load)
}

fn headline(record: PlacedRecord<'_>) -> String {
    match record {
        PlacedRecord::Run(record) => story::headline(record),
        PlacedRecord::Program(record) if record.variables.is_empty() => clean(&record.command),
        PlacedRecord::Program(record) => {
            clean(&format!("{} with {}", record.command, combination_text(&record.variables)))
        }
    }
}

/// Whether its clients think between their transactions.
fn thinks(run: &PlacedRun<'_>) -> bool {
    run.record.run().is_some_and(|record| {
        record.load.think_us.is_some() || record.operations.iter().any(|one| one.think.is_some())
    })
}

/// Runs of both sides, each side by its starts.
type PlacedSides<'a> = [Vec<PlacedRun<'a>>; 2];

/// Whether each two runs that follow each other are one of each side.
fn are_paired(sides: &PlacedSides<'_>) -> bool {
    let [a, b] = sides.each_ref().map(|side| side.iter().map(|run| run.record.started_at()));
    let mut runs: Vec<_> = a.map(|at| (at, 0)).chain(b.map(|at| (at, 1))).collect();
    runs.sort();
    runs.chunks(2).all(|two| matches!(two, [(_, one), (_, other)] if one != other))
}

/// What is not the same in all runs: of a side against its first run, and between both.
fn unlike(sides: &PlacedSides<'_>) -> Vec<String> {
    let runs = sides.each_ref().map(|side| {
        let runs = side.iter().filter_map(|run| Some((run.place, run.record.run()?)));
        runs.collect::<Vec<_>>()
    });
    let [Some((_, first_a)), Some((_, first_b))] = runs.each_ref().map(|side| side.first()) else {
        return Vec::new();
    };
    let mut sentences = setup::unlike(first_a, first_b);
    for (name, first, side) in [("A", first_a, &runs[0]), ("B", first_b, &runs[1])] {
        let within = side.iter().flat_map(|(place, run)| {
            let found = setup::unlike(first, run);
            found.into_iter().map(move |sentence| (place, sentence))
        });
        if let Some((place, sentence)) = within.into_iter().next() {
            sentences.push(format!("WITHIN {name}, {place} against the first: {sentence}"));
        }
    }
    sentences
}

/// The mean of the parts over the runs of each side.
fn parts(sides: &PlacedSides<'_>) -> Vec<FigurePair> {
    let budgets = sides.each_ref().map(|side| {
        let all: Option<Vec<_>> =
            side.iter().map(|run| run.record.run()?.trusted_budget()).collect();
        all.filter(|all| !all.is_empty())
    });
    let [Some(a), Some(b)] = budgets else { return Vec::new() };
    let measured = |budget: &BudgetUs| Part::ALL.map(|part| budget.get(part).is_some());
    // A part that some runs have and others have not would be in no mean of all.
    if a.iter().chain(&b).any(|budget| measured(budget) != measured(a[0])) {
        return Vec::new();
    }
    part_pairs([a, b].map(|all| PartMeans::of(all.into_iter().map(|budget| (budget, 1)))))
}

#[cfg(test)]
mod tests;
