//! From a flag of `dbtime run` to the field of its name: the only way there is, for a command line,
//! a sweep and a study alike.

use super::flag_value::{pair, read, switch, variable, whole, with_unit};
use super::{Arrivals, BudgetChoice, LoadSpec, RunSpec, TargetSpec, WindowSpec, WorkloadSpec};

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

impl WorkloadSpec {
    /// Whether it has the flag, which is set then.
    fn set(&mut self, name: &str, value: &str) -> Result<bool, String> {
        match name {
            "workload" => self.name = Some(value.to_owned()),
            "query" => self.query = Some(value.to_owned()),
            "script" => self.script = Some(value.to_owned()),
            "script-set" => self.script_set.push(variable(value)?),
            "scale" => self.scale = Some(whole::<u64>(1.., 10)(value)?),
            "data-seed" => self.data_seed = Some(whole::<u64>(0.., 42)(value)?),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl TargetSpec {
    /// Whether it has the flag, which is set then.
    fn set(&mut self, name: &str, value: &str) -> Result<bool, String> {
        match name {
            "target" => self.url = value.to_owned(),
            "protocol" => self.protocol = Some(read(value)?),
            "pipeline" => self.pipeline = switch(value)?,
            "reconnect" => self.reconnect = Some(read(value)?),
            "statement-timeout" => self.statement_timeout = Some(with_unit(value)?),
            "network-delay" => self.network_delay = Some(with_unit(value)?),
            "network-rate" => self.network_rate = Some(read(value)?),
            "server-set" => self.server_set.push(pair(value)?),
            "server-env" => self.server_env.push(variable(value)?),
            "server-cpus" => self.server_cpus = Some(read(value)?),
            "server-data" => self.server_data = Some(value.to_owned()),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl LoadSpec {
    /// Whether it has the flag, which is set then.
    fn set(&mut self, name: &str, value: &str) -> Result<bool, String> {
        match name {
            "rate" => self.rate = Some(read(value)?),
            "arrivals" => self.arrivals = usual_left_out(read(value)?),
            "jitter" => self.jitter = Some(with_unit(value)?),
            "connections" => self.connections = Some(whole::<u32>(1..=100_000, 16)(value)?),
            "workers" => self.workers = Some(whole::<u32>(1..=100_000, 4)(value)?),
            "think" => self.think = Some(with_unit(value)?),
            "on-backlog" => self.on_backlog = Some(with_unit(value)?),
            "shards" => self.shards = Some(whole::<u32>(1..=64, 4)(value)?),
            "client-cpus" => self.client_cpus = Some(read(value)?),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl WindowSpec {
    /// Whether it has the flag, which is set then.
    fn set(&mut self, name: &str, value: &str) -> Result<bool, String> {
        match name {
            "warmup" => self.warmup = Some(read(value)?),
            "time" => self.time = Some(read(value)?),
            "transactions" => self.transactions = Some(whole::<u64>(1.., 1000)(value)?),
            "budget-every" => {
                self.budget = Some(BudgetChoice::Every(whole::<u32>(1.., 100)(value)?));
            }
            "no-budget" => {
                let is_off = switch(value)?;
                // Which transactions are measured is another flag's affair.
                let chosen = self.budget.filter(|budget| *budget != BudgetChoice::Off);
                self.budget = if is_off { Some(BudgetChoice::Off) } else { chosen };
            }
            "trace" => self.trace = switch(value)?,
            "statements" => self.statements = switch(value)?,
            "stacks" => self.stacks = switch(value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Steady arrivals are not written down before the run has been looked at whole.
fn usual_left_out(arrivals: Arrivals) -> Option<Arrivals> {
    Some(arrivals).filter(|arrivals| *arrivals != Arrivals::default())
}

#[cfg(test)]
mod tests {
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
