//! How a load is made, as written down, and what follows from that for each driver alike.

use super::flag_value::{read, whole, with_unit};
use super::{Arrivals, Backlog, CpuList, RateChoice, ThinkTime, duration_text, of_flag};
use crate::Nanos;
use crate::record::AutoRate;
use serde::{Deserialize, Serialize};

/// How the load is made. `flat_out` is the rate that `auto` is a share of; `None`: the run measures
/// it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoadSpec {
    /// Such as `500/s`, `ramp:100/s..2000/s`, `auto:50%`; `None`: a closed loop.
    #[serde(deserialize_with = "of_flag::rate")]
    pub rate: Option<RateChoice>,
    /// The rate that `auto` is a share of; `None`: the run measures it.
    pub flat_out: Option<AutoRate>,
    /// `steady` (default), `poisson`, `uniform`, `burst:20`, `at-once`.
    #[serde(deserialize_with = "of_flag::arrivals")]
    pub arrivals: Option<Arrivals>,
    /// Of steady arrivals; `None`: a tenth of the period.
    #[serde(with = "duration_text")]
    pub jitter: Option<Nanos>,
    /// Clients of a closed loop, connections of an open one.
    pub connections: Option<u32>,
    /// Size of the worker pool; `None`: one for each client.
    pub workers: Option<u32>,
    /// `10ms`, `exp:10ms`; `None`: the workload's own.
    #[serde(deserialize_with = "of_flag::think")]
    pub think: Option<ThinkTime>,
    /// `wait` (default), `drop` or `deadline:50ms`.
    #[serde(deserialize_with = "of_flag::on_backlog")]
    pub on_backlog: Option<Backlog>,
    /// Shards of the event loop; `None`: as many as carry most.
    pub shards: Option<u32>,
    /// CPUs of the driver, such as `0,2-3`; `None`: all.
    #[serde(deserialize_with = "of_flag::client_cpus")]
    pub client_cpus: Option<CpuList>,
}

impl LoadSpec {
    /// Whether clients set the pace, and no schedule does.
    pub fn is_closed(&self) -> bool {
        self.rate.is_none() && self.arrivals != Some(Arrivals::AtOnce)
    }

    /// Clients of a closed loop, connections of an open one: one where no number is given.
    pub fn clients(&self) -> u32 {
        self.connections.unwrap_or(1)
    }

    /// Workers, or connections where each client has its own.
    pub fn servers(&self) -> u32 {
        self.workers.unwrap_or_else(|| self.clients())
    }

    /// How many transactions are executed at once at most: in a closed loop more workers than
    /// clients would have nobody to serve.
    pub fn concurrency(&self) -> u32 {
        if self.is_closed() { self.servers().min(self.clients()) } else { self.servers() }
    }

    /// How arrivals fall around the rate, with the width of their jitter where one is given.
    pub fn due(&self) -> Arrivals {
        match (self.arrivals.unwrap_or_default(), self.jitter) {
            (Arrivals::Steady { .. }, Some(jitter)) => Arrivals::Steady { jitter: Some(jitter) },
            (arrivals, _) => arrivals,
        }
    }

    /// Whether it has the flag, which is set then.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<bool, String> {
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

    /// Its numbers, by the paths of their fields: the flags of their names check them.
    pub(super) fn numbers(&self) -> [(&'static str, Option<u64>); 3] {
        [
            ("load.connections", self.connections.map(u64::from)),
            ("load.workers", self.workers.map(u64::from)),
            ("load.shards", self.shards.map(u64::from)),
        ]
    }
}

/// Steady arrivals are not written down before the run has been looked at whole.
fn usual_left_out(arrivals: Arrivals) -> Option<Arrivals> {
    Some(arrivals).filter(|arrivals| *arrivals != Arrivals::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_loop_has_no_more_workers_than_clients() {
        let load = LoadSpec::default();
        assert_eq!((load.clients(), load.servers(), load.concurrency()), (1, 1, 1));
        let closed = LoadSpec { connections: Some(2), workers: Some(4), ..LoadSpec::default() };
        assert_eq!((closed.is_closed(), closed.servers(), closed.concurrency()), (true, 4, 2));
        let open = LoadSpec { rate: "9/s".parse().ok(), ..closed.clone() };
        assert_eq!((open.is_closed(), open.concurrency()), (false, 4));
        let at_once = LoadSpec { arrivals: Some(Arrivals::AtOnce), ..closed };
        assert_eq!((at_once.is_closed(), at_once.concurrency()), (false, 4));
    }

    #[test]
    fn steady_arrivals_alone_have_a_jitter() {
        let jitter = Some(Nanos::from_micros(200));
        let due = |arrivals| LoadSpec { arrivals, jitter, ..LoadSpec::default() }.due();
        assert_eq!(due(None), Arrivals::Steady { jitter });
        assert_eq!(due(Some(Arrivals::Poisson)), Arrivals::Poisson);
        let own = Arrivals::Steady { jitter };
        assert_eq!(LoadSpec { arrivals: Some(own), ..LoadSpec::default() }.due(), own);
    }
}
