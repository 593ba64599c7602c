//! What to look at or to try next, by the budget of a run, and what that could win at most.
//!
//! A rule is one file in `rules` and one line in [`RULES`]: it has some parts of the budget, and
//! where these are a good share of the mean or of the slowest responses it names their cause, what
//! suggests it and what to do about it. A part goes to the first rule in the list that wants it, so
//! that no two pieces of advice promise the same time. All of it follows from the record alone;
//! nothing is looked up or measured.
//!
//! What can win most of the mean comes first; before that what comes from outside and changes all
//! else, so that the rest is of a server in that state: it was stopped, held back by a limit, or
//! others had its CPUs. Where two causes cannot be told apart the cause names both.

mod case;
mod rules;
mod text;

pub use rules::RULES;
pub(crate) use text::{DOUBT, INTRODUCTION, TITLE, facts, nothing, place_of_flags, step};

use crate::tail::ResponseTail;
use case::AdviceCase;
use dbtime_model::record::RunRecord;
use dbtime_model::{Part, PartSet};
use serde::Serialize;

/// The version of the document that `dbtime explain --json` prints.
const SCHEMA: u32 = 1;

/// A share of the response below this is not worth advice. Unit: percent.
const MIN_SHARE_PCT: f64 = 10.0;

/// What changes all else comes first where it is such a share of the mean, or of the slowest. Unit:
/// percent.
const MIN_FIRST_PCT: f64 = 10.0;
const MIN_FIRST_SLOW_PCT: f64 = 30.0;

/// As many as a report of a run shows; `dbtime explain` shows all.
pub(crate) const MAX_IN_REPORT: usize = 5;

/// What a rule does: it adds figures and steps to advice on its parts, from the record.
type RuleSteps = fn(&AdviceCase<'_>, &mut BudgetAdvice);

/// One rule.
pub struct AdviceRule {
    /// Its name, that of its file.
    pub name: &'static str,
    /// The parts of the budget that it is about.
    pub parts: &'static [Part],
    /// Which of them are its own in this run; `None`: all that no rule before it has.
    claims: Option<fn(&AdviceCase<'_>) -> PartSet>,
    /// What it adds where these parts are large enough.
    steps: RuleSteps,
}

impl AdviceRule {
    /// A rule that has all of its parts, unless one before it claims them.
    const fn new(name: &'static str, parts: &'static [Part], steps: RuleSteps) -> Self {
        Self { name, parts, claims: None, steps }
    }
}

/// What comes before all that is ordered by what it can win: it changes all else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum AdvicePlace {
    /// The server did not run at all.
    Stopped,
    /// It was held back by a limit.
    Limited,
    /// The driver could not keep up, so that the figures are its own.
    DriverLimited,
    /// Others had its CPUs.
    Crowded,
    /// By what it can win.
    Ordinary,
    /// Whatever it can win, what makes it comes before.
    Behind,
}

/// All advice on a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunAdvice {
    /// Version of this document.
    pub schema: u32,
    /// Whether nothing was found that makes the figures of the run wrong.
    pub valid: bool,
    /// Why they may be wrong; `null` where nothing was found.
    pub doubt: Option<String>,
    /// The mean response of the measured transactions. Unit: microseconds. `null`: no budget.
    pub mean_us: Option<f64>,
    /// The slowest; `null` where they cannot be told from the others.
    pub slowest: Option<SlowestShare>,
    /// Why there is no advice; `null` where there is some.
    pub nothing: Option<String>,
    /// What changes all else first, then what can win most of the mean.
    pub advice: Vec<BudgetAdvice>,
}

/// Which the slowest are: whole response buckets, as near to 1 % as there are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SlowestShare {
    /// Their share of the measured transactions, in percent.
    pub share_pct: f64,
    /// Responses at or above this. Unit: microseconds.
    pub from_us: f64,
    /// Their mean response. Unit: microseconds.
    pub mean_us: f64,
}

/// What to look at or to try about some parts of the budget.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BudgetAdvice {
    /// The name of its rule.
    pub rule: &'static str,
    /// What takes the time, as far as the record tells.
    pub cause: String,
    #[serde(skip)]
    place: AdvicePlace,
    /// The parts, those that came to anything.
    pub parts: Vec<Part>,
    /// What it can win of the mean response.
    pub mean: AdviceBound,
    /// What it can win of the slowest responses; `null` where these are not known.
    pub slowest: Option<AdviceBound>,
    /// The figures of the record that suggest it, a sentence each.
    pub figures: Vec<String>,
    /// What to look at or to try.
    pub steps: Vec<AdviceStep>,
}

/// The most that can be won: the parts gone, and nothing else changed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AdviceBound {
    /// Per transaction, never more than `of_us`. Unit: microseconds.
    pub at_most_us: f64,
    /// Of this response. Unit: microseconds.
    pub of_us: f64,
    /// The one by the other, in percent.
    pub share_pct: f64,
}

/// One thing to look at or to try.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AdviceStep {
    /// What to do.
    pub action: String,
    /// What it can win of the mean where that is less than the whole. Unit: microseconds per
    /// transaction.
    pub at_most_us: Option<f64>,
    /// What it costs or risks; `null` where it is free of both.
    pub price: Option<String>,
}

impl BudgetAdvice {
    /// Names what takes the time.
    fn because(&mut self, cause: impl Into<String>) {
        self.cause = cause.into();
    }

    /// It changes all else, and comes before that where it is a good share of the responses, or of
    /// what is left of them behind a queue.
    fn comes_first(&mut self, case: &AdviceCase<'_>, place: AdvicePlace) {
        let slowest = self.slowest.map_or(0.0, |slow| slow.share_pct);
        let is_large = self.mean.share_pct >= MIN_FIRST_PCT || slowest >= MIN_FIRST_SLOW_PCT;
        if is_large || case.is_most_of_service(self.mean.at_most_us) {
            self.place = place;
        }
    }

    fn figure(&mut self, sentence: impl Into<String>) {
        self.figures.push(sentence.into());
    }

    /// Something without a price.
    fn step(&mut self, action: impl Into<String>) {
        self.add(AdviceStep { action: action.into(), at_most_us: None, price: None });
    }

    fn step_at_price(&mut self, action: impl Into<String>, price: &str) {
        let price = Some(price.to_owned());
        self.add(AdviceStep { action: action.into(), at_most_us: None, price });
    }

    /// Two causes may have the same step.
    fn add(&mut self, step: AdviceStep) {
        if self.steps.iter().all(|other| other.action != step.action) {
            self.steps.push(step);
        }
    }

    /// A step that wins no more than this share of the whole.
    fn bounded_step(&mut self, action: impl Into<String>, share: f64, price: Option<&str>) {
        let at_most_us = Some(self.mean.at_most_us * share.clamp(0.0, 1.0));
        let price = price.map(str::to_owned);
        self.add(AdviceStep { action: action.into(), at_most_us, price });
    }

    /// The larger of its shares of the mean and of the slowest, in percent; what comes first is
    /// always among the largest.
    fn largest_share(&self) -> f64 {
        if self.place < AdvicePlace::Ordinary {
            return f64::INFINITY;
        }
        self.slowest.map_or(0.0, |slow| slow.share_pct).max(self.mean.share_pct)
    }
}

impl RunAdvice {
    /// The advice on a run, by all rules.
    pub fn of(record: &RunRecord) -> Self {
        let case = AdviceCase::of(record);
        let mut advice = case.as_ref().map(advice_on).unwrap_or_default();
        let most = |advice: &BudgetAdvice| advice.mean.at_most_us;
        advice.sort_by(|a, b| a.place.cmp(&b.place).then(most(b).total_cmp(&most(a))));
        Self {
            schema: SCHEMA,
            valid: record.validity.valid && !record.validity.client_limited,
            doubt: crate::story::invalid(record),
            mean_us: case.as_ref().map(|case| case.means.total),
            slowest: case.as_ref().and_then(|case| case.tail.as_ref()).map(SlowestShare::of),
            nothing: advice.is_empty().then(|| nothing(record)),
            advice,
        }
    }

    /// The pieces of advice with the largest shares of the mean or of the slowest, as a report has
    /// room for, in the same order.
    pub(crate) fn largest(&self) -> Vec<&BudgetAdvice> {
        let mut shares: Vec<_> = self.advice.iter().map(BudgetAdvice::largest_share).collect();
        shares.sort_by(|a, b| b.total_cmp(a));
        let least = shares.get(MAX_IN_REPORT - 1).copied().unwrap_or(0.0);
        let large = self.advice.iter().filter(|advice| advice.largest_share() >= least);
        large.take(MAX_IN_REPORT).collect()
    }
}

impl SlowestShare {
    fn of(tail: &ResponseTail) -> Self {
        let slow = &tail.slow;
        Self { share_pct: slow.share, from_us: slow.from_us, mean_us: slow.means.total }
    }
}

fn advice_on(case: &AdviceCase<'_>) -> Vec<BudgetAdvice> {
    let mut taken = Vec::new();
    let mut all = Vec::new();
    for rule in RULES {
        let claimed = rule.claims.map(|claims| claims(case));
        let is_own = |part: &Part| claimed.is_none_or(|claimed| claimed.has(*part));
        let own = rule.parts.iter().copied().filter(is_own);
        let parts: Vec<_> = own.filter(|part| !taken.contains(part)).collect();
        let Some(mut advice) = case.begin(rule.name, &parts) else { continue };
        advice.figures.extend(case.place(&parts));
        (rule.steps)(case, &mut advice);
        taken.extend(parts);
        all.push(advice);
    }
    all
}

#[cfg(test)]
mod tests;
