//! How a run talks to a server.

use crate::drive::plan::LoadPlan;
use crate::socket::{ReconnectPolicy, SimulatedNetwork};
use dbtime_load::pipelining::Pipelining;
use dbtime_model::Nanos;
pub use dbtime_model::spec::StatementProtocol;
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

impl fmt::Display for ServerOptions {
    /// How statements go to the server, for the record: `prepared`, `text, pipelined`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pipelined = if self.pipeline { ", pipelined" } else { "" };
        write!(f, "{}{pipelined}", self.protocol)
    }
}
