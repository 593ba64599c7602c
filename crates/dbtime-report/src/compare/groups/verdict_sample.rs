//! Verdicts of every kind, each with what it comes to and its sentence.

use super::verdict::{
    CellVerdict, ComparedRuns, GroupOutcome, InvalidGroups, OddChange, UnitDifference,
    UnmeasuredMetric, Verdict, VerdictDifference,
};
use crate::compare::figures::FigureUnit;
use dbtime_stats::{ChangeBasis, ConfidenceInterval};

const MARGIN: f64 = 0.01;

pub(in crate::compare) type VerdictSample = (Verdict, GroupOutcome, String);

/// Those on a configuration of this name against one that is called `1`.
pub(in crate::compare) fn verdicts(cell: &str) -> Vec<VerdictSample> {
    let mut all = differences(cell);
    all.extend(undecided());
    all.extend(without_ratio(cell));
    all.extend(invalid(cell));
    all
}

fn interval(estimate: f64, low: f64, high: f64, level: f64) -> ConfidenceInterval {
    ConfidenceInterval { estimate, low, high, level }
}

fn difference(cell: &str, is_better: bool) -> VerdictDifference {
    VerdictDifference {
        names: ["1".to_owned(), cell.to_owned()],
        words: ["faster", "slower"],
        is_better,
        change: interval(0.032, 0.019, 0.045, 0.95),
        basis: ChangeBasis::Means,
        runs: ComparedRuns::Pairs(10),
        other: None,
    }
}

fn differences(cell: &str) -> Vec<VerdictSample> {
    let better = Verdict::Different(difference(cell, true));
    let other = Some(interval(0.01, -0.002, 0.022, 0.95));
    let worse = Verdict::Different(VerdictDifference { other, ..difference(cell, false) });
    let basis = ChangeBasis::Medians;
    let by_medians =
        Verdict::Different(VerdictDifference { other, basis, ..difference(cell, true) });
    let change = interval(0.004, 0.003, 0.005, 0.95);
    let small = VerdictDifference { change, ..difference(cell, false) };
    let small = Verdict::Small { difference: small, margin: MARGIN };
    let alone = Box::new(Verdict::Different(difference(cell, true)));
    let one = Verdict::OneOfSeveral { metrics: 3, alone };
    let clear = format!("{cell} faster than 1: +3.2 % (95 % CI +1.9 .. +4.5), 10 pairs");
    let doubtful = format!(
        "{cell} slower than 1: +3.2 % (95 % CI +1.9 .. +4.5), 10 pairs; not so by medians: +1.0 % \
         (95 % CI −0.2 .. +2.2)"
    );
    let robust = format!(
        "{cell} faster than 1: +3.2 % (95 % CI +1.9 .. +4.5) by medians, 10 pairs; not so by \
         means: +1.0 % (95 % CI −0.2 .. +2.2)"
    );
    let little = format!(
        "Real but small: {cell} slower than 1 by less than 1 %: +0.4 % (95 % CI +0.3 .. +0.5), 10 \
         pairs"
    );
    let open = format!("Undecided: one of 3 further metrics; alone: {clear}");
    vec![
        (better, GroupOutcome::Good, clear),
        (worse, GroupOutcome::Worse, doubtful),
        (by_medians, GroupOutcome::Good, robust),
        (small, GroupOutcome::Good, little),
        (one, GroupOutcome::Undecided, open),
    ]
}

fn undecided() -> Vec<VerdictSample> {
    let change = interval(0.002, -0.003, 0.007, 0.9);
    let same = Verdict::Same { change, runs: ComparedRuns::Unpaired([9, 9]), margin: MARGIN };
    let equal = "Same within 1 %: +0.2 % (90 % CI −0.3 .. +0.7), 9 runs a side, unpaired";
    let open = |runs, more, run_s| {
        let change = interval(0.002, -0.03, 0.04, 0.95);
        Verdict::Undecided { change, runs, margin: MARGIN, more, run_s, odd: None }
    };
    let alone = OddChange {
        place: "pair 2 (a, b)".to_owned(),
        without: interval(0.01, 0.002, 0.018, 0.95),
        median: Some(interval(0.01, -0.01, 0.03, 0.95)),
    };
    let change = interval(0.002, -0.03, 0.04, 0.95);
    let odd = Verdict::Undecided {
        change,
        runs: ComparedRuns::Pairs(6),
        margin: MARGIN,
        more: None,
        run_s: 60.0,
        odd: Some(alone),
    };
    let [pairs, unlike] = [ComparedRuns::Pairs(4), ComparedRuns::Unpaired([4, 5])];
    let figures = "Undecided: +0.2 % (95 % CI −3.0 .. +4.0)";
    let settled =
        format!("{figures}, 4 pairs; to settle 1 % run about 4 more pairs (4 min of load)");
    let long = format!(
        "{figures}, 4 and 5 runs, unpaired; to settle 1 % run about 14 more runs a side (2 h of \
         load)"
    );
    let never = format!("{figures}, 4 pairs; no number of runs settles 1 %");
    let far_off = format!(
        "{figures}, 6 pairs; without pair 2 (a, b), which alone is far off, +1.0 % (95 % CI +0.2 \
         .. +1.8); by medians of all +1.0 % (95 % CI −1.0 .. +3.0); no number of runs settles 1 %"
    );
    vec![
        (same, GroupOutcome::Good, equal.to_owned()),
        (odd, GroupOutcome::Undecided, far_off),
        (open(pairs, Some(4), 60.0), GroupOutcome::Undecided, settled),
        (open(unlike, Some(14), 600.0), GroupOutcome::Undecided, long),
        (open(pairs, None, 60.0), GroupOutcome::Undecided, never),
    ]
}

fn without_ratio(cell: &str) -> Vec<VerdictSample> {
    let zero = Verdict::Equal(ComparedRuns::Pairs(10));
    let in_unit = |difference: ConfidenceInterval| {
        Verdict::InUnit(UnitDifference {
            names: ["1".to_owned(), cell.to_owned()],
            words: ["better", "worse"],
            is_better: difference.estimate < 0.0,
            difference,
            unit: FigureUnit::Percent,
            runs: ComparedRuns::Pairs(10),
        })
    };
    let worse = in_unit(interval(2.0, 1.0, 3.0, 0.95));
    let open = in_unit(interval(-1.0, -3.0, 1.0, 0.95));
    let unit = FigureUnit::Percent;
    let [two, one, three] = [2.0, 1.0, 3.0].map(|value| unit.signed(value));
    let [less, least] = [-1.0, -3.0].map(|value| unit.signed(value));
    let more =
        format!("{cell} worse than 1: {two} (95 % CI {one} .. {three}), 10 pairs, not all above 0");
    let either = format!("Undecided: {less} (95 % CI {least} .. {one}), 10 pairs, not all above 0");
    let too_few = |runs| Verdict::TooFew { names: ["1".to_owned(), cell.to_owned()], runs };
    let none = format!(
        "No verdict: 2 valid runs of 1 and 1 valid run of {cell}; from three valid runs a side on \
         there is one, and ten are better"
    );
    let single = format!(
        "No verdict: single runs of 1 and {cell}; from three valid runs a side on there is one, \
         and ten are better"
    );
    let undecided = GroupOutcome::Undecided;
    vec![
        (zero, GroupOutcome::Good, "Equal (0 in all runs), 10 pairs".to_owned()),
        (worse, GroupOutcome::Worse, more),
        (open, undecided, either),
        (too_few([2, 1]), undecided, none),
        (too_few([1, 1]), undecided, single),
    ]
}

fn invalid(cell: &str) -> Vec<VerdictSample> {
    let of_cell = |cell: &str, verdict| Box::new(CellVerdict { cell: cell.to_owned(), verdict });
    let control = of_cell("twin", Verdict::Different(difference("twin", true)));
    let no_run = Verdict::Invalid(InvalidGroups::NoValidRun(vec![cell.to_owned()]));
    let no_block = Verdict::Invalid(InvalidGroups::NoWholeBlock(vec![cell.to_owned()]));
    let unmeasured = |lacking| {
        Verdict::Invalid(InvalidGroups::Unmeasured(UnmeasuredMetric {
            metric: "server RSS".to_owned(),
            names: ["1".to_owned(), cell.to_owned()],
            lacking,
            runs: [10, 9],
            source: "a server has it",
        }))
    };
    let (in_none, in_some) = (unmeasured([10, 9]), unmeasured([0, 2]));
    let withdrawn = of_cell(cell, in_some.clone());
    let unstable = Verdict::Unstable { control, withdrawn };
    let of_none = format!(
        "Invalid: server RSS was not measured in any run of 1 and any run of {cell}; a server has \
         it"
    );
    let of_some =
        format!("Invalid: server RSS was not measured in 2 of 9 runs of {cell}; a server has it");
    let of_no_run =
        format!("Invalid: no run of {cell} is valid; find the cause, fix it and run again");
    let of_no_block = format!(
        "Invalid: no run of {cell} counts, for each of its blocks has a run that does not, or was \
         not finished; the table of runs has why"
    );
    let of_unstable = format!(
        "Unstable: A/A control differs: twin faster than 1: +3.2 % (95 % CI +1.9 .. +4.5), 10 \
         pairs; no verdict on {cell}: {of_some}"
    );
    vec![
        (unstable, GroupOutcome::Undecided, of_unstable),
        (no_run, GroupOutcome::Undecided, of_no_run),
        (no_block, GroupOutcome::Undecided, of_no_block),
        (in_none, GroupOutcome::Undecided, of_none),
        (in_some, GroupOutcome::Undecided, of_some),
    ]
}
