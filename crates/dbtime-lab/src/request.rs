//! What is asked of a run, after the command line and before any machine is touched.

use crate::targets::Target;
use dbtime_engines::server::ServerOptions;
use dbtime_load::arrivals::{Arrivals, Rate};
use dbtime_load::queue::Backlog;
use dbtime_load::think::Think;
use dbtime_load::workload::{Limit, Workload};
use dbtime_model::record::AutoRate;
use dbtime_model::{CpuList, Nanos};
use std::path::PathBuf;

/// One run.
#[derive(Clone, Debug)]
pub struct RunRequest {
    /// What is run.
    pub workload: Workload,
    /// How the command line named it: a shipped name or a path.
    pub workload_given: String,
    /// How many times its base size; `None`: as it was loaded, or 1 where the run loads it.
    pub scale: Option<u64>,
    /// Against what.
    pub target: Target,
    /// How the load is made.
    pub load: Load,
    /// How a server is talked to.
    pub server: ServerOptions,
    /// How a private server is started.
    pub private: PrivateOptions,
    /// CPUs that this process keeps to; `None`: all it may use.
    pub client_cpus: Option<CpuList>,
    /// Load before the window.
    pub warmup: Nanos,
    /// Length of the window; `None` with `transactions`.
    pub time: Option<Nanos>,
    /// How many transactions are offered.
    pub transactions: Option<u64>,
    /// How long what is under way is waited for after the window, while nothing that waits is
    /// begun any more; `None`: both are served for a few seconds.
    pub rundown: Option<Nanos>,
    /// Which transactions have their parts measured.
    pub budget: BudgetChoice,
    /// Requirements beyond those of the workload; they apply to every operation.
    pub limits: Vec<Limit>,
    /// Seed of everything random.
    pub seed: u64,
    /// Where the record goes; `None`: nowhere.
    pub out: Option<PathBuf>,
    /// The command that repeats the run, without passwords.
    pub command: String,
}

impl RunRequest {
    /// A closed loop of one client, with everything else as it is when nobody says otherwise. Its
    /// caller says how long: by time or by transactions.
    pub fn new(workload: Workload, target: Target) -> Self {
        Self {
            workload_given: workload.name.clone(),
            workload,
            scale: None,
            target,
            load: Load {
                rate: None,
                arrivals: Arrivals::default(),
                connections: 1,
                workers: None,
                think: None,
                backlog: Backlog::Wait,
                shards: None,
            },
            server: ServerOptions::default(),
            private: PrivateOptions::default(),
            client_cpus: None,
            warmup: Nanos::ZERO,
            time: None,
            transactions: None,
            rundown: None,
            budget: BudgetChoice::Auto,
            limits: Vec::new(),
            seed: 1,
            out: None,
            command: String::new(),
        }
    }
}

/// How a private server is started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrivateOptions {
    /// Settings by name.
    pub settings: Vec<(String, String)>,
    /// Environment variables.
    pub environment: Vec<(String, String)>,
    /// CPUs that it keeps to.
    pub cpus: Option<CpuList>,
    /// The folder that its data folder is made in.
    pub data: Option<PathBuf>,
}

impl PrivateOptions {
    /// The flag of the first option that was given.
    pub fn given(&self) -> Option<&'static str> {
        let Self { settings, environment, cpus, data } = self;
        [
            ("--server-set", !settings.is_empty()),
            ("--server-env", !environment.is_empty()),
            ("--server-cpus", cpus.is_some()),
            ("--server-data", data.is_some()),
        ]
        .into_iter()
        .find_map(|(flag, is_given)| is_given.then_some(flag))
    }
}

/// How the load is made.
#[derive(Clone, Debug)]
pub struct Load {
    /// `None`: a closed loop.
    pub rate: Option<RateChoice>,
    /// How arrivals fall around the rate of an open loop.
    pub arrivals: Arrivals,
    /// Clients of a closed loop, connections of an open one.
    pub connections: u32,
    /// Size of the worker pool; `None`: one worker or connection per client.
    pub workers: Option<u32>,
    /// Replaces the think times of the workload; closed loop only.
    pub think: Option<Think>,
    /// What happens to what nobody is free for.
    pub backlog: Backlog,
    /// Shards of an event loop; `None`: chosen by what carries most.
    pub shards: Option<u32>,
}

/// The rate of an open loop.
#[derive(Clone, Debug, PartialEq)]
pub enum RateChoice {
    /// As given.
    Given(Rate),
    /// This share of the flat-out rate, which is measured first. Unit: percent.
    Auto(f64),
    /// The share that it says of the flat-out rate that was measured before: see
    /// [`crate::find_rate`].
    Found(AutoRate),
}

/// Which transactions have their parts measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetChoice {
    /// One in so many that measuring costs about 1 % of the service time.
    Auto,
    /// One in so many.
    Every(u32),
    /// None.
    Off,
}
