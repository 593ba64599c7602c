//! The target of a run, as written down.

use super::flag_value::{pair, read, switch, variable, with_unit};
use super::{BitRate, CpuList, ReconnectPolicy, StatementProtocol, duration_text, of_flag};
use crate::Nanos;
use serde::{Deserialize, Serialize};

/// Against what. `server_env` takes a `NAME` alone as `script_set` does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TargetSpec {
    /// As `--target` takes it, without password.
    pub url: String,
    /// `prepared` (default) or `text`.
    #[serde(deserialize_with = "of_flag::protocol")]
    pub protocol: Option<StatementProtocol>,
    /// Whether statements go ahead of earlier answers.
    pub pipeline: bool,
    /// `lost` (default) or `every-transaction`.
    #[serde(deserialize_with = "of_flag::reconnect")]
    pub reconnect: Option<ReconnectPolicy>,
    /// Limit on a statement.
    #[serde(with = "duration_text")]
    pub statement_timeout: Option<Nanos>,
    /// Delay of each request.
    #[serde(with = "duration_text")]
    pub network_delay: Option<Nanos>,
    /// Limit of the network in each direction.
    pub network_rate: Option<BitRate>,
    /// Settings of the private server, `NAME=VALUE`.
    pub server_set: Vec<String>,
    /// Its environment, `NAME=VALUE`; `NAME` alone as in `script_set`.
    pub server_env: Vec<String>,
    /// Its CPUs, such as `0,2-3`.
    #[serde(deserialize_with = "of_flag::server_cpus")]
    pub server_cpus: Option<CpuList>,
    /// Parent of its data folder.
    pub server_data: Option<String>,
}

impl Default for TargetSpec {
    fn default() -> Self {
        Self {
            url: "sqlite".to_owned(),
            protocol: None,
            pipeline: false,
            reconnect: None,
            statement_timeout: None,
            network_delay: None,
            network_rate: None,
            server_set: Vec::new(),
            server_env: Vec::new(),
            server_cpus: None,
            server_data: None,
        }
    }
}

impl TargetSpec {
    /// Whether it has the flag, which is set then.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<bool, String> {
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
