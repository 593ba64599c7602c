//! Which runs are in no verdict, and whether one side has lost more of them than by chance.

use super::{PlacedRun, PlacedSides, are_paired};
use crate::format::{clean, count};
use crate::story;
use dbtime_model::record::PrimaryMetric;
use dbtime_stats::{SIGNIFICANCE, fisher_p};

/// Why a run is in no verdict, or that it is, where that is not for what its record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivenExclusion<'a> {
    /// For what was found of it.
    OfRun(&'a str),
    /// For what became of other runs, or of the study.
    OfOthers(&'a str),
    /// It is in the verdict: its study has decided so, which looks at the machine too.
    Counts,
}

impl PlacedRun<'_> {
    /// Why it is in no verdict on this metric; `None`: it is.
    pub(in crate::compare) fn exclusion(&self, primary: PrimaryMetric) -> Option<String> {
        match self.excluded {
            Some(GivenExclusion::OfRun(why) | GivenExclusion::OfOthers(why)) => Some(clean(why)),
            Some(GivenExclusion::Counts) => None,
            None => story::discount(self.record.run()?, primary),
        }
    }

    /// Whether that is for a flaw of its own.
    pub(super) fn is_flawed(&self, primary: PrimaryMetric) -> bool {
        match self.excluded {
            Some(GivenExclusion::OfRun(_)) => true,
            Some(GivenExclusion::OfOthers(_) | GivenExclusion::Counts) => false,
            None => self.exclusion(primary).is_some(),
        }
    }
}

/// The runs of these that count for a metric besides the primary one: of pairs those of which both
/// do.
pub(super) fn counted_for<'a>(metric: PrimaryMetric, sides: &PlacedSides<'a>) -> PlacedSides<'a> {
    let counts = |run: &PlacedRun<'a>| {
        run.record.run().is_none_or(|record| record.discount_for(metric).is_none())
    };
    let counting = sides.each_ref().map(|side| side.iter().map(counts).collect::<Vec<bool>>());
    let is_paired = are_paired(sides);
    let both = |at: usize| counting.iter().all(|side| side[at]);
    let kept = |side: usize| -> Vec<PlacedRun<'a>> {
        let is_kept = |at: usize| if is_paired { both(at) } else { counting[side][at] };
        let runs = sides[side].iter().enumerate();
        runs.filter(|(at, _)| is_kept(*at)).map(|(_, run)| *run).collect()
    };
    [kept(0), kept(1)]
}

/// That one side has lost more of its runs by their flaws than by chance, in words; `None`: neither
/// has.
pub(super) fn exclusion_bias(
    sides: &PlacedSides<'_>,
    primary: PrimaryMetric,
    names: [&str; 2],
) -> Option<String> {
    let table = sides.each_ref().map(|side| {
        let flawed = side.iter().filter(|run| run.is_flawed(primary)).count() as u64;
        [flawed, side.len() as u64 - flawed]
    });
    if fisher_p(table) >= SIGNIFICANCE {
        return None;
    }
    let [a, b] = [0, 1].map(|side| {
        let [flawed, others] = table[side];
        format!("{} of {} runs of {}", count(flawed), count(flawed + others), clean(names[side]))
    });
    Some(format!(
        "{a} and {b} do not count, further apart than by chance (Fisher's exact test at 5 %): the \
         verdict may be biased"
    ))
}
