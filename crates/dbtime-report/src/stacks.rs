//! Where the server's threads were: what a report shows of collapsed stacks.

use crate::format::{clean, count, counted, percent, us};
use dbtime_model::record::{FoldedStack, Run, StackSums};
use std::collections::BTreeMap;

/// Frames before those of the thread: the operation and the statement, and off a CPU the part.
const STATEMENT_FRAMES: usize = 2;

/// So many callers say what a wait was for: the innermost functions only wait.
const WAIT_CALLERS: usize = 3;

/// What ends the names of the kernel's functions.
const KERNEL: &str = "_[k]";

/// Stacks of one kind, as a report shows them.
pub(crate) struct StackView<'a> {
    /// What they are headed with.
    pub(crate) title: &'static str,
    /// Part of the ids in a page.
    pub(crate) name: &'static str,
    pub(crate) sums: &'a StackSums,
    pub(crate) stacks: &'a [FoldedStack],
    /// Whether they are waits, whose third frame is their part and whose weight is microseconds.
    pub(crate) is_waiting: bool,
    /// Samples of a second; of waits nothing.
    samples_per_s: u32,
}

impl StackView<'_> {
    /// Those of a run, where stacks were traced.
    pub(crate) fn of(run: &Run) -> Vec<StackView<'_>> {
        let Some(info) = run.record.trace.as_ref().and_then(|trace| trace.stacks.as_ref()) else {
            return Vec::new();
        };
        let on_cpu = info.on_cpu.as_ref().zip(run.stacks.on_cpu.as_ref());
        let on_cpu = on_cpu.map(|(sums, stacks)| StackView {
            title: "On a CPU",
            name: "stacks-on-cpu",
            sums,
            stacks,
            is_waiting: false,
            samples_per_s: info.samples_per_s.unwrap_or(0),
        });
        let off_cpu = run.stacks.off_cpu.as_ref().map(|stacks| StackView {
            title: "Off the CPU, waiting",
            name: "stacks-off-cpu",
            sums: &info.off_cpu,
            stacks,
            is_waiting: true,
            samples_per_s: 0,
        });
        on_cpu.into_iter().chain(off_cpu).filter(|view| view.sums.count > 0).collect()
    }

    /// A weight with its unit.
    pub(crate) fn weight(&self, weight: u64) -> String {
        match self.is_waiting {
            true => us(weight as f64),
            false => counted(weight, "sample"),
        }
    }

    /// How they were taken, and what is not known of them.
    pub(crate) fn note(&self) -> String {
        let StackSums { count: number, time_s, cut_pct, unnamed_pct } = self.sums;
        let time = us(time_s * 1e6);
        let taken = match self.is_waiting {
            true => format!(
                "{}, {time} in all: those for a CPU are not among them",
                counted(*number, "wait")
            ),
            false => format!(
                "{} at {} a second and CPU, which {} for {time}",
                counted(*number, "sample"),
                self.samples_per_s,
                if *number == 1 { "stands" } else { "stand" }
            ),
        };
        let share = |pct: &Option<f64>, what: &str| match pct {
            Some(pct) if *pct > 0.0 => format!("; {} {what}", percent(*pct)),
            _ => String::new(),
        };
        let cut = share(cut_pct, "are cut, for lack of frame pointers");
        let unnamed = share(unnamed_pct, "have functions without a name, for lack of symbols");
        format!("{taken}{cut}{unnamed}")
    }

    /// The functions in which most of it was: the innermost that has a name, of waits that of the
    /// server's program; with its next callers that have one. At most `most`, the largest first.
    pub(crate) fn top(&self, most: usize) -> Vec<TopFunction> {
        let mut sums = BTreeMap::<(String, String, String), u64>::new();
        for stack in self.stacks {
            let sum = sums.entry(self.innermost(stack)).or_default();
            *sum = sum.saturating_add(stack.weight);
        }
        let all = self.all().max(1);
        let mut top: Vec<_> = sums
            .into_iter()
            .map(|((part, function, callers), weight)| {
                let share_pct = 100.0 * weight as f64 / all as f64;
                TopFunction { part, function, callers, weight, share_pct }
            })
            .collect();
        top.sort_by_key(|one| std::cmp::Reverse(one.weight));
        top.truncate(most);
        top
    }

    /// What all stacks come to.
    pub(crate) fn all(&self) -> u64 {
        self.stacks.iter().fold(0, |sum, stack| sum.saturating_add(stack.weight))
    }

    fn innermost(&self, stack: &FoldedStack) -> (String, String, String) {
        let heading = STATEMENT_FRAMES + usize::from(self.is_waiting);
        let frames = stack.frames.get(heading..).unwrap_or_default();
        let part = stack.frames.get(STATEMENT_FRAMES).filter(|_| self.is_waiting);
        let is_shown = |frame: &&String| {
            !(frame.starts_with('[') || self.is_waiting && frame.ends_with(KERNEL))
        };
        let mut named = frames.iter().rev().filter(is_shown);
        let function = named.next().or(frames.last());
        let is_kernel = function.is_some_and(|name| name.ends_with(KERNEL));
        let own = named.filter(|name| !is_kernel || !name.ends_with(KERNEL));
        let callers = if self.is_waiting { WAIT_CALLERS } else { 1 };
        let callers: Vec<_> = own.take(callers).map(|name| clean(name)).collect();
        let text = |name: Option<&String>| name.map_or_else(String::new, |name| clean(name));
        (text(part), text(function), callers.join(" < "))
    }
}

/// A function in which much was.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TopFunction {
    /// Of waits their part; else empty.
    pub(crate) part: String,
    pub(crate) function: String,
    /// Who had called it, of those with a name, the innermost first, up to three of a wait; of a
    /// function of the kernel the one of the program.
    pub(crate) callers: String,
    pub(crate) weight: u64,
    pub(crate) share_pct: f64,
}

/// Why there is nothing on a CPU where there is something off it.
pub(crate) fn without_samples(run: &Run) -> Option<&'static str> {
    let info = run.record.trace.as_ref()?.stacks.as_ref()?;
    let text = "This machine's kernel has no event to sample CPUs: there are no stacks on a CPU.";
    info.on_cpu.is_none().then_some(text)
}

/// What was lost, if anything.
pub(crate) fn lost(run: &Run) -> Option<String> {
    let lost = run.record.trace.as_ref()?.stacks.as_ref()?.lost;
    let text = || format!("stacks, waits or samples lost for lack of room: {}", count(lost));
    (lost > 0).then(text)
}

#[cfg(test)]
pub(crate) mod tests;
