//! From a flag of `dbtime run` to the field of its name: the only way there is, for a command line,
//! a sweep and a study alike.

use super::RunSpec;
use super::flag_value::{read, whole};

/// Why a flag cannot be set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlagError {
    /// There is none of this name that describes a run.
    #[error("a run has no flag --{0}")]
    Unknown(String),
    /// Its value is none.
    #[error("{0}")]
    Value(String),
}

impl RunSpec {
    /// Sets what a flag describes, by its long name without dashes; `workload` is the word behind
    /// `run`. A flag that can be repeated adds a value to those that are there, and one without a
    /// value has `true` or `false`.
    ///
    /// # Errors
    /// Says which values the flag has; nothing was changed.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), FlagError> {
        match self.set_any(name, value) {
            Ok(true) => Ok(()),
            Ok(false) => Err(FlagError::Unknown(name.to_owned())),
            Err(why) => Err(FlagError::Value(why)),
        }
    }

    fn set_any(&mut self, name: &str, value: &str) -> Result<bool, String> {
        match name {
            "limit" => self.limits.push(read(value)?),
            "seed" => self.seed = whole::<u64>(0.., 42)(value)?,
            _ => {
                return Ok(self.workload.set(name, value)?
                    || self.target.set(name, value)?
                    || self.load.set(name, value)?
                    || self.window.set(name, value)?);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::super::BudgetChoice;
    use super::*;

    fn of(flags: &[(&str, &str)]) -> RunSpec {
        let mut spec = RunSpec::default();
        for (name, value) in flags {
            spec.set(name, value).expect(name);
        }
        spec
    }

    #[test]
    fn a_value_replaces_the_one_before_it_and_a_list_grows() {
        let spec = of(&[("workers", "4"), ("workers", "8"), ("rate", "9/s"), ("seed", "7")]);
        assert_eq!((spec.load.workers, spec.seed), (Some(8), 7));
        assert_eq!(spec.load.rate, "9/s".parse().ok());
        let spec = of(&[("limit", "p90<=1s"), ("limit", "avg<=1s"), ("server-set", "a=b=c")]);
        let limits: Vec<String> = spec.limits.iter().map(ToString::to_string).collect();
        assert_eq!(limits, ["p90<=1s", "avg<=1s"]);
        assert_eq!(spec.target.server_set, ["a=b=c"]);
        let spec = of(&[("workload", "tpcb"), ("target", "null:"), ("script-set", "token")]);
        assert_eq!((spec.workload.name.as_deref(), &*spec.target.url), (Some("tpcb"), "null:"));
        assert_eq!(spec.workload.script_set, ["token"]);
    }

    #[test]
    fn a_switch_can_be_off() {
        let spec = of(&[("trace", "true"), ("pipeline", "true"), ("pipeline", "false")]);
        assert_eq!((spec.window.trace, spec.target.pipeline), (true, false));
        assert_eq!(of(&[("no-budget", "true")]).window.budget, Some(BudgetChoice::Off));
        let every = of(&[("no-budget", "false"), ("budget-every", "16")]);
        assert_eq!(every.window.budget, Some(BudgetChoice::Every(16)));
        let every = of(&[("budget-every", "16"), ("no-budget", "false")]);
        assert_eq!(every.window.budget, Some(BudgetChoice::Every(16)));
        let usual = of(&[("no-budget", "true"), ("no-budget", "false")]);
        assert_eq!(usual.window.budget, None);
        let error = RunSpec::default().set("stacks", "yes").expect_err("no switch").to_string();
        assert_eq!(error, "`yes` is neither true nor false");
    }

    #[test]
    fn what_cannot_be_set_changes_nothing() {
        for (name, value, why) in [
            ("conections", "4", "a run has no flag --conections"),
            ("out", "r", "a run has no flag --out"),
            ("rate", "fast", "`fast` is no rate"),
            ("jitter", "5", "`5` has no unit: write 5ms or 5s"),
            ("think", "exp:10", "`10` has no unit"),
            ("connections", "0", "it takes a whole number from 1 to 100000, such as 16"),
            ("shards", "65", "from 1 to 64, such as 4"),
            ("budget-every", "0", "it takes a whole number from 1 up, such as 100"),
            ("server-set", "a", "write NAME=VALUE"),
            ("server-env", "=x", "write NAME=VALUE, or NAME alone"),
            ("limit", "p95<=5", "a unit after the time"),
        ] {
            let mut spec = RunSpec::default();
            let error = spec.set(name, value).expect_err(name).to_string();
            assert!(error.contains(why), "{name}={value}: {error}");
            assert_eq!(spec, RunSpec::default(), "{name}={value}");
        }
    }
}
