//! How a run talks to a server.

use crate::drive::plan::LoadPlan;
use crate::socket::{ReconnectPolicy, SimulatedNetwork};
use dbtime_load::pipelining::Pipelining;
use dbtime_model::Nanos;
pub use dbtime_model::spec::StatementProtocol;
use dbtime_model::spec::{BitRate, TargetSpec};
use std::fmt;

/// How much longer than its limit a statement may take before its connection is given up: the
/// server, which is told of the limit, ends it by itself.
pub(crate) const STATEMENT_GRACE: Nanos = Nanos::from_secs(1);

/// How a run talks to a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerOptions {
    /// How statements go to the server.
    pub protocol: StatementProtocol,
    /// When connections are made anew.
    pub reconnect: ReconnectPolicy,
    /// How long a statement may take: the server is told where it can be, and the connection is
    /// given up where it does not keep to it.
    pub statement_timeout: Option<Nanos>,
    /// The network to the server.
    pub network: SimulatedNetwork,
    /// Whether statements of a transaction are sent before those ahead of them are answered.
    pub pipeline: bool,
}

impl ServerOptions {
    /// The plan for a server that takes statements ahead as far as `pipelining`, if that is wanted.
    pub(crate) fn pipelined(&self, plan: &LoadPlan, pipelining: Pipelining) -> LoadPlan {
        let pipelining = if self.pipeline { pipelining } else { Pipelining::Off };
        LoadPlan { pipelining, ..plan.clone() }
    }
}

impl From<&TargetSpec> for ServerOptions {
    /// What is left out has its default, and a network that holds nothing back is none.
    fn from(target: &TargetSpec) -> Self {
        Self {
            protocol: target.protocol.unwrap_or_default(),
            reconnect: target.reconnect.unwrap_or_default(),
            statement_timeout: target.statement_timeout,
            network: SimulatedNetwork {
                delay: target.network_delay.filter(|delay| *delay > Nanos::ZERO),
                rate: target.network_rate.filter(|rate| *rate > BitRate(0)),
            },
            pipeline: target.pipeline,
        }
    }
}

impl fmt::Display for ServerOptions {
    /// How statements go to the server, for the record: `prepared`, `text, pipelined`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pipelined = if self.pipeline { ", pipelined" } else { "" };
        write!(f, "{}{pipelined}", self.protocol)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_that_holds_nothing_back_is_none() {
        let target = TargetSpec {
            network_delay: Some(Nanos::ZERO),
            network_rate: Some(BitRate(0)),
            ..TargetSpec::default()
        };
        assert_eq!(ServerOptions::from(&target), ServerOptions::default());
        let network_delay = Some(Nanos::from_millis(1));
        let delayed = ServerOptions::from(&TargetSpec { network_delay, ..target });
        assert_eq!((delayed.network.delay, delayed.network.rate), (network_delay, None));
    }
}
