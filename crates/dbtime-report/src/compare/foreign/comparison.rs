//! Two sides of files of other tools, name by name.
//!
//! Values are pairs where the files number the turns in which they were measured; others have
//! nothing in common. Which names differ is asked of each alone, as of runs; what the gate says of
//! all of them holds among so many (Holm).

use super::row::{ForeignRow, RowClass};
use super::sample::{MOST_OF_A_NAME, SampleKey, SampleTable};
use super::{ForeignError, ForeignFile, direction};
use crate::compare::SCHEMA;
use crate::compare::groups::{GroupOutcome, ValuesRule};
use dbtime_stats::VerdictRule;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Of more names medians are looked at where they have few values alone: that takes the cube of
/// their number, and of pairs all changes of their signs.
const FEW_NAMES: usize = 200;

/// Values a side of which medians are looked at: of few names, and of many.
const MOST_CHECKED: [usize; 2] = [100, 10];

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ForeignSide {
    /// Its files.
    pub places: Vec<String>,
    /// Which tools wrote them.
    pub formats: Vec<&'static str>,
    /// How many names it has, each with every unit.
    pub names: usize,
    /// How many results are in no row: tests that were skipped or failed.
    pub left_out: u64,
    /// Headings of columns of CSV that are neither names nor figures.
    pub columns_left_out: Vec<String>,
    /// The names, with their units, that the other side has not.
    pub alone: Vec<String>,
}

/// The geometric mean of the changes of all names in one unit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ForeignMean {
    /// The unit.
    pub unit: String,
    /// Of how many names.
    pub names: usize,
    /// The change of B against A. Unit: percent.
    pub change_pct: f64,
    /// Its interval, as of names whose noise has nothing in common; `null`: not every name has
    /// one. Unit: percent.
    pub interval_pct: Option<[f64; 2]>,
}

/// Two sides of files of other tools, as `dbtime compare --json` prints them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ForeignComparison {
    /// [`SCHEMA`].
    pub schema: u32,
    /// `foreign_comparison`.
    pub kind: &'static str,
    /// How many names are worse, better, the same and undecided.
    pub verdict: String,
    /// What the gate says: whether B is worse by the margin in any name.
    pub outcome: GroupOutcome,
    /// The same in words.
    pub gate: String,
    /// Whether reports have a line on that.
    #[serde(skip)]
    pub(super) is_gated: bool,
    /// The smallest change of interest. Unit: percent.
    pub margin_pct: f64,
    /// The level of the intervals. Unit: percent.
    pub level_pct: f64,
    /// The first side.
    pub a: ForeignSide,
    /// The second.
    pub b: ForeignSide,
    /// Where they were not measured on the same. Empty where they were.
    pub unlike: Vec<String>,
    /// Units of which less is taken for better, as no file says which way they are.
    pub assumed_lower: Vec<String>,
    /// By unit.
    pub means: Vec<ForeignMean>,
    /// Every name with its unit that both sides have, the worst first.
    pub rows: Vec<ForeignRow>,
}

/// A file with where it is.
type PlacedFile = (String, ForeignFile);

impl ForeignComparison {
    /// Compares the files of A with those of B; neither is empty.
    ///
    /// # Errors
    /// They have no name with its unit in common, or too many values.
    pub fn of(a: &[PlacedFile], b: &[PlacedFile], rule: VerdictRule) -> Result<Self, ForeignError> {
        let has_groups = [a, b].into_iter().any(has_groups);
        let [of_a, of_b] = [merged(a, has_groups)?, merged(b, has_groups)?];
        let renamed = renamed(&of_a, &of_b);
        let twin = |key: &SampleKey| match &renamed {
            Some(other) => SampleKey { unit: key.unit.clone(), ..other.clone() },
            None => key.clone(),
        };
        let directions: BTreeMap<&str, bool> = a.iter().chain(b).flat_map(directions).collect();
        let most_checked = most_checked(of_a.samples().len());
        let row_rule = ValuesRule { verdict: rule, most_checked, most_values: MOST_OF_A_NAME };
        let (mut rows, mut met) = (Vec::new(), BTreeSet::new());
        let mut assumed_lower = BTreeSet::new();
        for sample in of_a.samples() {
            let Some(other) = of_b.find(&twin(&sample.key)) else { continue };
            let unit = sample.key.unit.as_str();
            let given = directions.get(unit).copied();
            let known = given.or_else(|| direction::known_direction(unit));
            if known.is_none() {
                assumed_lower.insert(unit.to_owned());
            }
            rows.push(ForeignRow::of([sample, other], known.unwrap_or(false), row_rule));
            met.insert(&other.key);
        }
        let side_a = ForeignSide::of(a, &of_a, |key| of_b.find(&twin(key)).is_none());
        let side_b = ForeignSide::of(b, &of_b, |key| !met.contains(key));
        if rows.is_empty() {
            return Err(nothing_in_common(&side_a, &side_b));
        }
        number_alike(&mut rows);
        settle(&mut rows);
        rows.sort_by(ForeignRow::worst_first);
        let outcome = outcome(&rows, &side_a);
        Ok(Self {
            schema: SCHEMA,
            kind: "foreign_comparison",
            verdict: verdict(&rows),
            outcome,
            gate: gate(&rows, outcome, rule),
            is_gated: false,
            margin_pct: 100.0 * rule.margin,
            level_pct: 100.0 * rule.level,
            a: side_a,
            b: side_b,
            unlike: other_names(&of_a, renamed).into_iter().chain(unlike([a, b])).collect(),
            assumed_lower: assumed_lower.into_iter().collect(),
            means: means(&rows),
            rows,
        })
    }

    /// The same, whose reports say how the gate comes out.
    #[must_use]
    pub fn gated(self) -> Self {
        Self { is_gated: true, ..self }
    }
}

impl ForeignSide {
    fn of(
        files: &[PlacedFile],
        table: &SampleTable,
        is_alone: impl Fn(&SampleKey) -> bool,
    ) -> Self {
        let keys = || table.samples().iter().map(|sample| &sample.key);
        let formats: BTreeSet<&'static str> =
            files.iter().map(|(_, file)| file.format.name()).collect();
        let alone = keys().filter(|key| is_alone(key));
        let columns: BTreeSet<&String> =
            files.iter().flat_map(|(_, file)| &file.columns_left_out).collect();
        Self {
            places: files.iter().map(|(place, _)| place.clone()).collect(),
            formats: formats.into_iter().collect(),
            names: keys().map(SampleKey::shown).collect::<BTreeSet<_>>().len(),
            left_out: files.iter().map(|(_, file)| file.left_out).sum(),
            columns_left_out: columns.into_iter().cloned().collect(),
            alone: alone.map(|key| format!("{} {}", key.shown(), key.unit)).collect(),
        }
    }
}

/// Whether a side has more than one of what tells names apart that are alike, such as packages.
fn has_groups(files: &[PlacedFile]) -> bool {
    let mut all = files.iter().flat_map(|(_, file)| file.samples.samples());
    let first = all.next().map(|sample| &sample.key.group);
    all.any(|sample| Some(&sample.key.group) != first)
}

/// All samples of a side. What tells names apart that are alike is left out where each side has one
/// of it: two packages may have one benchmark.
fn merged(files: &[PlacedFile], has_groups: bool) -> Result<SampleTable, ForeignError> {
    let mut table = SampleTable::default();
    for (place, file) in files {
        for sample in file.samples.samples() {
            let mut key = sample.key.clone();
            if !has_groups {
                key.group.clear();
            }
            for value in &sample.values {
                let added = table.add(key.clone(), *value);
                added.map_err(|text| ForeignError::whole(format!("{place}: {text}")))?;
            }
        }
    }
    Ok(table)
}

/// What a file says of the directions of units.
fn directions((_, file): &PlacedFile) -> impl Iterator<Item = (&str, bool)> {
    file.higher_is_better.iter().map(|(unit, is_higher)| (unit.as_str(), *is_higher))
}

/// The one name that a side has, in whatever units.
fn only_name(table: &SampleTable) -> Option<&SampleKey> {
    let first = &table.samples().first()?.key;
    let is_same = |key: &SampleKey| (&key.group, &key.name) == (&first.group, &first.name);
    table.samples().iter().all(|sample| is_same(&sample.key)).then_some(first)
}

/// What the one name of A is called in B, where each side has one and they differ: a command that
/// was measured with another path or flag.
fn renamed(a: &SampleTable, b: &SampleTable) -> Option<SampleKey> {
    let (one, other) = (only_name(a)?, only_name(b)?);
    ((&one.group, &one.name) != (&other.group, &other.name)).then(|| other.clone())
}

fn other_names(a: &SampleTable, renamed: Option<SampleKey>) -> Option<String> {
    let (one, other) = (only_name(a)?.shown(), renamed?.shown());
    Some(format!("DIFFERENT NAMES, one on each side. A: {one}; B: {other}"))
}

/// What both sides say they were measured on, where that differs.
fn unlike(sides: [&[PlacedFile]; 2]) -> Vec<String> {
    let [a, b] = sides.map(facts);
    let text = |values: &BTreeSet<&str>| values.iter().copied().collect::<Vec<_>>().join(", ");
    let differing = a.iter().filter_map(|(name, of_a)| {
        let of_b = b.get(name).filter(|of_b| *of_b != of_a)?;
        let name = name.to_uppercase();
        Some(format!("DIFFERENT {name}. A: {}; B: {}", text(of_a), text(of_b)))
    });
    differing.collect()
}

fn facts(files: &[PlacedFile]) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut all: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, value) in files.iter().flat_map(|(_, file)| &file.facts) {
        all.entry(name).or_default().insert(value);
    }
    all
}

fn nothing_in_common(a: &ForeignSide, b: &ForeignSide) -> ForeignError {
    let [a, b] = [a, b].map(|side| side.alone.first().map_or("nothing", String::as_str));
    ForeignError::whole(format!(
        "no name is on both sides with one unit: the first has {a:?}, the second {b:?}; rename \
         those of one side, or compare files of the same benchmarks; in CSV without a column \
         \"name\" all texts of a row are its name"
    ))
}

/// Up to how many values a side medians of so many names are looked at.
pub(super) fn most_checked(names: usize) -> usize {
    MOST_CHECKED[usize::from(names > FEW_NAMES)]
}

/// Numbers names that are shown alike, such as those of commands with other passwords.
fn number_alike(rows: &mut [ForeignRow]) {
    let mut met: BTreeMap<[String; 2], usize> = BTreeMap::new();
    for row in rows {
        let count = met.entry([row.name.clone(), row.unit.clone()]).or_default();
        *count += 1;
        if *count > 1 {
            row.name = format!("{} [{count}]", row.name);
        }
    }
}

/// Adjusts the probabilities of all rows for how many there are.
fn settle(rows: &mut [ForeignRow]) {
    let of_changes: Vec<Option<f64>> = rows.iter().map(|row| row.p).collect();
    let of_gates: Vec<Option<f64>> = rows.iter().map(|row| row.gate_p).collect();
    let both = adjusted(&of_changes).into_iter().zip(adjusted(&of_gates));
    rows.iter_mut().zip(both).for_each(|(row, (p, gate_p))| row.settle(p, gate_p));
}

/// Those that are known, adjusted for how many of them there are.
fn adjusted(all: &[Option<f64>]) -> Vec<Option<f64>> {
    let known: Vec<f64> = all.iter().flatten().copied().collect();
    let mut known = dbtime_stats::holm(&known).into_iter();
    all.iter().map(|one| one.and_then(|_| known.next())).collect()
}

/// How many rows are what.
fn verdict(rows: &[ForeignRow]) -> String {
    if let [row] = rows {
        return row.verdict.clone();
    }
    let count = |class: RowClass| rows.iter().filter(|row| row.class == class).count();
    let [worse, better] = [RowClass::Worse, RowClass::Better].map(count);
    let [same, undecided] = [RowClass::Same, RowClass::Undecided].map(count);
    let all = rows.len();
    let counts =
        format!("{worse} of {all} worse, {better} better, {same} the same, {undecided} undecided");
    let doubtful = rows.iter().filter(|row| !row.holds_among_all()).count();
    match doubtful {
        0 => counts,
        _ => format!(
            "{counts}; {doubtful} of {} differences may be chance among {all} comparisons (Holm)",
            worse + better
        ),
    }
}

/// What the gate says of all rows. What B does not have any more is not known to be no worse.
fn outcome(rows: &[ForeignRow], a: &ForeignSide) -> GroupOutcome {
    let is_any = |outcome: GroupOutcome| rows.iter().any(|row| row.outcome == outcome);
    match a.alone.is_empty() {
        _ if is_any(GroupOutcome::Worse) => GroupOutcome::Worse,
        true if !is_any(GroupOutcome::Undecided) => GroupOutcome::Good,
        _ => GroupOutcome::Undecided,
    }
}

/// How the gate comes out, in words.
fn gate(rows: &[ForeignRow], outcome: GroupOutcome, rule: VerdictRule) -> String {
    let all = rows.len();
    let deciding = rows.iter().filter(|row| row.outcome == outcome).count();
    let worse = format!("worse by {} % or more", rounded(100.0 * rule.margin));
    match (outcome, deciding) {
        (GroupOutcome::Worse, _) => format!("fails: {worse} is shown in {deciding} of {all}"),
        (GroupOutcome::Undecided, 0) => "undecided: B lacks names that A has".to_owned(),
        (GroupOutcome::Undecided, _) => {
            format!("undecided: {worse} is neither shown nor excluded in {deciding} of {all}")
        }
        (GroupOutcome::Good, _) => {
            let level = rounded(100.0 * rule.level);
            format!("passes: {worse} is excluded in {all} of {all}, each with {level} % confidence")
        }
    }
}

/// A percentage with two digits behind the point, as few as it takes.
pub(super) fn rounded(pct: f64) -> f64 {
    (100.0 * pct).round() / 100.0
}

/// The means of all units that two or more rows have.
fn means(rows: &[ForeignRow]) -> Vec<ForeignMean> {
    let mut units: BTreeMap<&str, Vec<&ForeignRow>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.log_ratio().is_some()) {
        units.entry(&row.unit).or_default().push(row);
    }
    let several = units.into_iter().filter(|(_, rows)| rows.len() > 1);
    several.map(|(unit, rows)| mean(unit, &rows)).collect()
}

fn mean(unit: &str, rows: &[&ForeignRow]) -> ForeignMean {
    let names = rows.len() as f64;
    let mean = rows.iter().filter_map(|row| row.log_ratio()).sum::<f64>() / names;
    let squares: Option<f64> = rows.iter().map(|row| row.half_log.map(|half| half * half)).sum();
    let half = squares.map(|squares| squares.sqrt() / names).filter(|half| half.is_finite());
    let percent = |log: f64| 100.0 * log.exp_m1();
    ForeignMean {
        unit: unit.to_owned(),
        names: rows.len(),
        change_pct: percent(mean),
        interval_pct: half.map(|half| [mean - half, mean + half].map(percent)),
    }
}
