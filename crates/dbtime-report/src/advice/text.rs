//! Advice in sentences, for the terminal and the HTML page alike.

use super::{AdviceBound, AdviceStep, BudgetAdvice, RunAdvice};
use crate::document::DocumentFact;
use crate::format::{percent, us};
use crate::means::PartMeans;
use crate::story;
use dbtime_model::record::RunRecord;

/// What stands above it.
pub(crate) const TITLE: &str = "What to look at or to try next";

/// What its figures are.
pub(crate) const INTRODUCTION: &str = "\
     at most: the gain if this time vanished and nothing else changed; where one transaction waits \
     for another (for its lock, its connection, its CPU), shortening the other shortens the wait \
     too";

/// Where the flags are that a command with those of another tool does not have.
const OF_RUN: &str = "flags in these steps are of `dbtime run`, which runs scripts with --script";

/// What not to believe without more: the reason stands elsewhere in a report.
pub(crate) const DOUBT: &str = "this advice is about figures that may be wrong";

/// Where the flags are that steps name, for a run by a command that has those of another tool;
/// `None`: that command has them, or no step names one.
pub(crate) fn place_of_flags<'a>(
    record: &RunRecord,
    steps: impl IntoIterator<Item = &'a AdviceStep>,
) -> Option<&'static str> {
    let names_flag = |step: &AdviceStep| step.action.contains("--");
    let is_elsewhere = story::is_of_original(record) && steps.into_iter().any(names_flag);
    is_elsewhere.then_some(OF_RUN)
}

/// One piece in lines: the cause, what can be won, what suggests it, what to do in so many steps.
pub(crate) fn facts(one: &BudgetAdvice, all: &RunAdvice, most_steps: usize) -> Vec<DocumentFact> {
    let name = one.rule.replace('_', " ");
    let cause = DocumentFact::verdict(&name, one.cause.clone());
    let steps = one.steps.iter().take(most_steps).map(|one| format!("→ {}", step(one)));
    let further = [bounds(one, all)].into_iter().chain(one.figures.iter().cloned()).chain(steps);
    [cause].into_iter().chain(further.map(|text| DocumentFact::new("", text))).collect()
}

/// What can be won of the mean, and of the slowest.
pub(super) fn bounds(advice: &BudgetAdvice, run: &RunAdvice) -> String {
    let names: Vec<_> = advice.parts.iter().map(|part| part.name()).collect();
    let (names, verb) = match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => {
            (format!("{} and {last}", rest.join(", ")), "are")
        }
        _ => (names.concat(), "is"),
    };
    let mean =
        format!("{names} {verb} {} of the mean: {}", share(&advice.mean), most(&advice.mean));
    match advice.slowest.zip(run.slowest) {
        Some((slow, which)) => format!(
            "{mean}; {} of the slowest {}: {}",
            share(&slow),
            percent(which.share_pct),
            most(&slow)
        ),
        None => mean,
    }
}

fn share(bound: &AdviceBound) -> String {
    percent(bound.share_pct)
}

fn most(bound: &AdviceBound) -> String {
    format!("at most {} of {}", us(bound.at_most_us), us(bound.of_us))
}

/// What to do, what that can win where it is less than the whole, and its price.
pub(crate) fn step(step: &AdviceStep) -> String {
    let bound = step.at_most_us.map_or(String::new(), |most| format!(" (at most {})", us(most)));
    let price = step.price.as_ref().map_or(String::new(), |price| format!("; price: {price}"));
    format!("{}{bound}{price}", step.action)
}

/// Why there is no advice.
pub(crate) fn nothing(record: &RunRecord) -> String {
    let Some(budget) = &record.budget_us else {
        return "the record has no budget: run again without --no-budget".to_owned();
    };
    let means = PartMeans::from(budget);
    match means.largest().first().filter(|_| means.total > 0.0) {
        None => "no transaction was measured".to_owned(),
        Some((part, us_of)) => format!(
            "no part that a rule knows is a tenth of the response; the largest is {}, {} of {}",
            part.name(),
            us(*us_of),
            us(means.total)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_that_a_command_does_not_have_are_placed() {
        let step =
            |action: &str| AdviceStep { action: action.to_owned(), at_most_us: None, price: None };
        let (with, without) = (step("use more --shards"), step("stop backup"));
        for (command, steps, is_placed) in [
            ("dbtime sysbench x.lua run", vec![&without, &with], true),
            ("dbtime pgbench -S", vec![&with], true),
            ("dbtime pgbench -S", vec![&without], false),
            ("dbtime run --script x.lua", vec![&with], false),
        ] {
            let record = RunRecord { command: command.to_owned(), ..RunRecord::default() };
            assert_eq!(place_of_flags(&record, steps).is_some(), is_placed, "{command}");
            let has_how = story::limits_text(&record).contains("--limit");
            assert_eq!(has_how, command.starts_with("dbtime run"), "{command}");
        }
    }
}
