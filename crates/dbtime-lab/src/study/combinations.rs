//! Runs that differ by settings, before the first is made: what tells them apart, and the rate that
//! they have in common.

use super::planned_run::{PlannedRun, RunControls};
use crate::error::LabError;
use dbtime_model::spec::{FlagSetting, Rate};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The flat-out rate is measured with at most so many workers or connections, where there is such
/// a combination: more of them only wait for each other.
const MAX_REFERENCE_SERVERS: u32 = 64;

/// Numbers values that look the same because what differs between them is a secret. Shape: the
/// factors of each run are these settings of it.
pub fn number_alike(planned: &mut [PlannedRun], combinations: &[Vec<FlagSetting>]) {
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

/// The run that is to tell the rate of all, where all are offered a share of the flat-out rate and
/// the rate itself is not swept: the largest that is no crowd, else the smallest; the first of
/// equals.
pub fn rate_reference(planned: &[PlannedRun]) -> Option<&PlannedRun> {
    let fitness = |at: &usize| {
        let servers = planned[*at].servers();
        let is_crowd = servers > MAX_REFERENCE_SERVERS;
        let size = if is_crowd { -i64::from(servers) } else { i64::from(servers) };
        (!is_crowd, size, Reverse(*at))
    };
    let at = (0..planned.len()).max_by_key(fitness)?;
    planned.iter().all(PlannedRun::is_auto).then(|| &planned[at])
}

/// Measures the rate of all by one of them, [`rate_reference`], and has all offer the same.
///
/// Errors: it could not be measured.
pub fn hold_rate(planned: &mut [PlannedRun], controls: RunControls<'_>) -> Result<(), LabError> {
    let Some(from) = rate_reference(planned) else { return Ok(()) };
    let Some(found) = from.flat_out_rate(controls)? else { return Ok(()) };
    let rate = Rate::Constant(found.offered_tps());
    for run in planned {
        // Repeated alone it is to be the same run.
        run.command += &format!(" --rate={rate}");
        run.spec.load.flat_out = Some(found.clone());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::record::FactorValue;
    use dbtime_model::spec::RunSpec;

    fn run(settings: &[(&str, &str)]) -> PlannedRun {
        let settings = settings.iter().map(|(name, value)| FlagSetting::new(*name, *value));
        let spec = RunSpec::default().with(&settings.collect::<Vec<_>>()).expect("a run");
        PlannedRun::of_spec(spec, "dbtime run".to_owned(), Vec::new())
    }

    #[test]
    fn values_that_differ_in_a_secret_are_told_apart_without_it() {
        let combinations = ["hush1", "hush2"].map(|secret| {
            let secret = FlagSetting::new("server-env", format!("API_KEY={secret}"));
            vec![secret, FlagSetting::new("workers", "1")]
        });
        let factor = |name: &str, value: &str| FactorValue {
            name: name.to_owned(),
            value: value.to_owned(),
        };
        let factors = vec![factor("server-env", "API_KEY=***"), factor("workers", "1")];
        let mut planned = [0, 1].map(|_| run(&[]).with_factors(factors.clone()));
        number_alike(&mut planned, &combinations);
        let shown = planned.map(|run| run.combination());
        assert_eq!(shown[0], "server-env=API_KEY=*** (1) workers=1");
        assert_eq!(shown[1], "server-env=API_KEY=*** (2) workers=1");
    }

    #[test]
    fn the_rate_is_found_by_the_largest_run_that_is_no_crowd() {
        for (workers, at) in [
            (&["1", "2", "64", "128", "2048"][..], 2),
            (&["2048", "128", "512"][..], 1),
            (&["16", "16"][..], 0),
            (&["1000", "1"][..], 1),
        ] {
            let of = |workers: &&str| run(&[("rate", "auto"), ("workers", *workers)]);
            let planned: Vec<_> = workers.iter().map(of).collect();
            let found = rate_reference(&planned).expect("all are auto");
            assert!(std::ptr::eq(found, &planned[at]), "{workers:?}");
        }
        let given = [run(&[("rate", "auto")]), run(&[("rate", "5/s")])];
        assert!(rate_reference(&given).is_none(), "one has a rate of its own");
        assert!(rate_reference(&[]).is_none());
    }
}
