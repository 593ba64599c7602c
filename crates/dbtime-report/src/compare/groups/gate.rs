//! The gate of a comparison: whether B is worse than A by the margin, and the bound that decides.

use super::GroupMetric;
use super::verdict::{GroupOutcome, Verdict, with_outcome};
use super::wording::{share, signed};
use crate::document::DocumentFact;
use dbtime_stats::{GateBounds, MarginGate, RunValues, VerdictRule, WorseSide};
use serde::{Serialize, Serializer};
use std::fmt;

/// How a metric of B comes out at a gate; in JSON `text`, its sentence, and `outcome`.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupGate {
    /// What B is called.
    name: String,
    rule: VerdictRule,
    worse: WorseSide,
    basis: GateBasis,
}

/// What a gate goes by.
#[derive(Clone, Copy, Debug, PartialEq)]
enum GateBasis {
    /// The bounds of the change.
    Bounds(MarginGate),
    /// The same of one of several further metrics, which differs no more among so many.
    OneOfSeveral,
    /// The verdict on a metric that has no share, for it is not above zero in all runs.
    InUnit(GroupOutcome),
    /// Nothing, for a reason that the verdict has.
    Nothing,
    /// Nothing, for this reason that all of its study has.
    Withheld(&'static str),
}

impl GroupGate {
    /// By the values of both sides, as far as there are any.
    pub(super) fn of(
        metric: &GroupMetric,
        rule: VerdictRule,
        name: &str,
        values: Option<&RunValues>,
    ) -> Self {
        let worse = worse_side(metric);
        let found = values.and_then(|values| rule.gate(values, worse));
        let basis = found.map_or(GateBasis::Nothing, GateBasis::Bounds);
        Self { name: name.to_owned(), rule, worse, basis }
    }

    /// By the verdict on a metric that is not above zero in all runs.
    pub(super) fn in_unit(
        metric: &GroupMetric,
        rule: VerdictRule,
        name: &str,
        verdict: &Verdict,
    ) -> Self {
        let basis = GateBasis::InUnit(verdict.outcome());
        Self { name: name.to_owned(), rule, worse: worse_side(metric), basis }
    }

    /// What it comes to.
    pub fn outcome(&self) -> GroupOutcome {
        match self.basis {
            GateBasis::Bounds(MarginGate::Excluded(_)) => GroupOutcome::Good,
            GateBasis::Bounds(MarginGate::Shown(_)) => GroupOutcome::Worse,
            GateBasis::InUnit(outcome) => outcome,
            GateBasis::Bounds(MarginGate::Open(_))
            | GateBasis::OneOfSeveral
            | GateBasis::Nothing
            | GateBasis::Withheld(_) => GroupOutcome::Undecided,
        }
    }

    /// Whether it has more to say than the verdict.
    pub(in crate::compare) fn has_bounds(&self) -> bool {
        matches!(self.basis, GateBasis::Bounds(_) | GateBasis::Withheld(_))
    }

    /// Takes back that B is worse: among so many metrics it is not known.
    pub(super) fn adjust(&mut self) {
        if self.outcome() == GroupOutcome::Worse {
            self.basis = GateBasis::OneOfSeveral;
        }
    }

    /// Takes it back: no bound holds.
    pub(in crate::compare) fn withdraw(&mut self) {
        self.basis = GateBasis::Nothing;
    }

    /// Takes it back for a reason that all of its study has.
    pub(in crate::compare) fn withhold(&mut self, why: &'static str) {
        self.basis = GateBasis::Withheld(why);
    }

    /// As a line of a report, of which no text is cut.
    pub(in crate::compare) fn fact(&self) -> DocumentFact {
        DocumentFact { short_lines: usize::MAX, ..DocumentFact::new("gate", self.to_string()) }
    }

    /// What the change is nearer to the better side than, and what to the worse side than.
    fn words(&self) -> [&'static str; 2] {
        match self.worse {
            WorseSide::Less => ["above", "below"],
            WorseSide::More => ["below", "above"],
        }
    }
}

/// Which change of a metric is for the worse.
pub(super) fn worse_side(metric: &GroupMetric) -> WorseSide {
    if metric.is_higher_better { WorseSide::Less } else { WorseSide::More }
}

impl fmt::Display for GroupGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, rule, .. } = self;
        let (margin, level) = (share(rule.margin), share(rule.level));
        let [better, worse] = self.words();
        match self.basis {
            GateBasis::Bounds(MarginGate::Excluded(bounds)) => write!(
                f,
                "passes: with {level} confidence the change is {better} {} %, so {name} is not \
                 worse by {margin} or more",
                signed(bounds.worst)
            ),
            GateBasis::Bounds(MarginGate::Shown(bounds)) => write!(
                f,
                "fails: with {level} confidence the change is {worse} {} %, so {name} is worse by \
                 {margin} or more",
                signed(bounds.best)
            ),
            GateBasis::Bounds(MarginGate::Open(GateBounds { best, worst })) => write!(
                f,
                "undecided: the change lies between {} and {} %, each with {level} confidence, so \
                 {name} may or may not be worse by {margin} or more",
                signed(best.min(worst)),
                signed(best.max(worst))
            ),
            GateBasis::OneOfSeveral => write!(
                f,
                "undecided: {name} is worse in one of several further metrics, which may be chance"
            ),
            GateBasis::InUnit(GroupOutcome::Good) => {
                write!(f, "passes: {name} is not worse; runs with 0 have no change in percent")
            }
            GateBasis::InUnit(GroupOutcome::Worse) => {
                write!(f, "fails: {name} is worse; runs with 0 have no change in percent")
            }
            GateBasis::InUnit(GroupOutcome::Undecided) | GateBasis::Nothing => write!(
                f,
                "undecided: nothing bounds the change of {name}; the verdict has the reason"
            ),
            GateBasis::Withheld(why) => write!(f, "undecided: {why}"),
        }
    }
}

impl Serialize for GroupGate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        with_outcome("text", self, self.outcome(), serializer)
    }
}

/// Gates on a configuration of this name, each with what it comes to and its sentence.
#[cfg(test)]
pub(in crate::compare) fn gates(name: &str) -> Vec<(GroupGate, GroupOutcome, String)> {
    let gate = |worse, basis| {
        let (name, rule) = (name.to_owned(), VerdictRule::new(0.03));
        GroupGate { name, rule, worse, basis }
    };
    let by = |worse, found: fn(GateBounds) -> MarginGate, best, worst| {
        gate(worse, GateBasis::Bounds(found(GateBounds { best, worst })))
    };
    let [less, more] = [WorseSide::Less, WorseSide::More];
    let change = "with 95 % confidence the change is";
    let passes =
        |bound: &str| format!("passes: {change} {bound} %, so {name} is not worse by 3 % or more");
    let fails =
        |bound: &str| format!("fails: {change} {bound} %, so {name} is worse by 3 % or more");
    let open = |bounds: &str| {
        format!(
            "undecided: the change lies between {bounds} %, each with 95 % confidence, so {name} \
             may or may not be worse by 3 % or more"
        )
    };
    let further = format!(
        "undecided: {name} is worse in one of several further metrics, which may be chance"
    );
    let nothing =
        format!("undecided: nothing bounds the change of {name}; the verdict has the reason");
    let withheld = "undecided: the study has not finished".to_owned();
    let undecided = GroupOutcome::Undecided;
    vec![
        (by(less, MarginGate::Excluded, 0.01, -0.012), GroupOutcome::Good, passes("above −1.2")),
        (by(more, MarginGate::Excluded, -0.01, 0.012), GroupOutcome::Good, passes("below +1.2")),
        (by(less, MarginGate::Shown, -0.041, -0.09), GroupOutcome::Worse, fails("below −4.1")),
        (by(more, MarginGate::Shown, 0.041, 0.09), GroupOutcome::Worse, fails("above +4.1")),
        (by(less, MarginGate::Open, 0.002, -0.051), undecided, open("−5.1 and +0.2")),
        (by(more, MarginGate::Open, -0.002, 0.051), undecided, open("−0.2 and +5.1")),
        (gate(less, GateBasis::OneOfSeveral), undecided, further),
        (gate(less, GateBasis::Nothing), undecided, nothing),
        (gate(less, GateBasis::Withheld("the study has not finished")), undecided, withheld),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_gate_has_its_sentence_with_the_bound_that_decides() {
        for (gate, outcome, sentence) in gates("B") {
            assert_eq!((gate.to_string(), gate.outcome()), (sentence.clone(), outcome));
            let json = serde_json::to_value(&gate).expect("JSON");
            assert_eq!(json["text"], sentence);
        }
    }

    #[test]
    fn what_is_taken_back_is_undecided() {
        for (gate, outcome, sentence) in gates("B") {
            let mut adjusted = gate.clone();
            adjusted.adjust();
            let is_worse = outcome == GroupOutcome::Worse;
            assert_eq!(adjusted == gate, !is_worse, "{sentence}");
            assert_ne!(adjusted.outcome(), GroupOutcome::Worse, "{sentence}");
            let mut withdrawn = gate;
            withdrawn.withdraw();
            assert_eq!(withdrawn.outcome(), GroupOutcome::Undecided, "{sentence}");
            assert!(!withdrawn.has_bounds(), "{sentence}");
        }
    }
}
