//! The runs of a sweep before they are made.

use super::factors::FactorCombination;
use crate::exit::CommandFailure;
use crate::live::{LiveProgress, ProgressAudience};
use crate::screen;
use dbtime_engines::drive::plan::RunStop;
use dbtime_lab::RunProgress;
use dbtime_lab::study::{PlannedRun, RunControls};
use dbtime_load::arrivals::Rate;
use dbtime_model::spec::FlagSetting;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The flat-out rate is measured with at most so many workers or connections, where there is such
/// a combination: more of them only wait for each other.
const MAX_REFERENCE_SERVERS: u32 = 64;

/// Numbers values that look the same because what differs between them is a secret.
pub(super) fn number_alike(planned: &mut [PlannedRun], combinations: &[FactorCombination]) {
    let mut alike: BTreeMap<(String, String), Vec<&str>> = BTreeMap::new();
    for (run, combination) in planned.iter().zip(combinations) {
        for (factor, FlagSetting { value, .. }) in run.factors.iter().zip(combination) {
            let shown = (factor.name.clone(), factor.value.clone());
            let values = alike.entry(shown).or_default();
            if !values.contains(&value.as_str()) {
                values.push(value);
            }
        }
    }
    for (run, combination) in planned.iter_mut().zip(combinations) {
        for (factor, FlagSetting { value, .. }) in run.factors.iter_mut().zip(combination) {
            let shown = (factor.name.clone(), factor.value.clone());
            let values = alike.get(&shown).filter(|values| values.len() > 1);
            let at = values.and_then(|values| values.iter().position(|known| *known == value));
            if let Some(at) = at {
                factor.value += &format!(" ({})", at + 1);
            }
        }
    }
}

/// Where all are offered a share of the flat-out rate, and the rate itself is not swept: measures
/// it once, and has all offer the same.
pub(super) fn hold_rate(
    planned: &mut [PlannedRun],
    audience: ProgressAudience,
    stop: &RunStop,
) -> Result<(), CommandFailure> {
    if !planned.iter().all(PlannedRun::is_auto) {
        return Ok(());
    }
    let from = &planned[reference(&planned.iter().map(PlannedRun::servers).collect::<Vec<_>>())];
    if audience == ProgressAudience::Terminal {
        screen::note(&format!("the rate of all, found by {}", from.combination()));
    }
    let live = LiveProgress::new(audience);
    let follow = |progress: RunProgress| live.show(&progress);
    let found = from.flat_out_rate(RunControls { progress: &follow, stop });
    drop(live);
    let Some(found) = found? else { return Ok(()) };
    let rate = Rate::Constant(found.offered_tps());
    for run in planned {
        // Repeated alone it is to be the same run.
        run.command += &format!(" --rate={rate}");
        run.spec.load.flat_out = Some(found.clone());
    }
    Ok(())
}

/// Which of the runs, by their numbers of workers or connections, is to tell what is carried flat
/// out: the largest that is no crowd, else the smallest; the first of equals.
fn reference(servers: &[u32]) -> usize {
    let fitness = |index: &usize| {
        let servers = servers[*index];
        let is_crowd = servers > MAX_REFERENCE_SERVERS;
        let size = if is_crowd { -i64::from(servers) } else { i64::from(servers) };
        (!is_crowd, size, Reverse(*index))
    };
    (0..servers.len()).max_by_key(fitness).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::factors;
    use super::*;
    use crate::spec::BaseRun;

    #[test]
    fn values_that_differ_in_a_secret_are_told_apart_without_it() {
        let sweep = ["server-env=API_KEY=hush1,API_KEY=hush2 workers=1,2".to_owned()];
        let combinations = factors::combinations(&sweep).expect("a sweep");
        let base = BaseRun::of_line("dbtime run values1 --target mariadb");
        let planned = combinations.iter().map(|one| base.with_settings(one));
        let mut planned: Vec<_> = planned.collect::<Result<_, _>>().expect("runs");
        number_alike(&mut planned, &combinations);
        let shown: Vec<_> = planned.iter().map(PlannedRun::combination).collect();
        assert_eq!(shown[0], "server-env=API_KEY=*** (1) workers=1");
        assert_eq!(shown[3], "server-env=API_KEY=*** (2) workers=2");
    }

    #[test]
    fn the_rate_is_found_by_the_largest_run_that_is_no_crowd() {
        assert_eq!(reference(&[1, 2, 64, 128, 2048]), 2);
        assert_eq!(reference(&[2048, 128, 512]), 1);
        assert_eq!(reference(&[16, 16]), 0);
        assert_eq!(reference(&[1000, 1]), 1);
    }
}
