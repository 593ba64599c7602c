//! What is asked of a run, after the command line and before any machine is touched.

use crate::data_snapshot::SnapshotRequest;
use crate::targets::Target;
use dbtime_engines::server::ServerOptions;
use dbtime_engines::server::secret::ServerSecret;
use dbtime_load::arrivals::Arrivals;
use dbtime_load::queue::Backlog;
use dbtime_load::think::ThinkTime;
use dbtime_load::workload::Workload;
use dbtime_machine::CpuList;
use dbtime_model::Nanos;
use dbtime_model::record::AutoRate;
use dbtime_model::spec::{BudgetChoice, RateChoice, RunSpec, WorkloadLimit};
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
    pub load: LoadRequest,
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
    /// Whether the server is traced.
    pub trace: bool,
    /// Whether the driver's side of each statement is recorded, to be joined with a trace later.
    pub statements: bool,
    /// Whether stacks of its threads are traced with it.
    pub stacks: bool,
    /// Requirements beyond those of the workload; they apply to every operation.
    pub limits: Vec<WorkloadLimit>,
    /// Seed of everything random.
    pub seed: u64,
    /// Seed of the rows that the run loads; `None`: the same.
    pub data_seed: Option<u64>,
    /// The folder of snapshots that data are restored from, and kept in where they were loaded;
    /// `None`: they are loaded.
    pub snapshots: Option<PathBuf>,
    /// What the record is to tell.
    pub detail: RecordDetail,
    /// Where the record goes; `None`: nowhere.
    pub out: Option<PathBuf>,
    /// The command that repeats the run, without passwords.
    pub command: String,
    /// Its written form, for the record; `None` where it has none, as for other tools' commands.
    pub spec: Option<RunSpec>,
    /// Is told what people have to know while the run waits and shows nothing.
    pub note: fn(&str),
}

impl RunRequest {
    /// Measures what is driven and nothing else, because nobody reads more.
    pub fn load_only(&mut self) {
        (self.detail, self.budget) = (RecordDetail::Load, BudgetChoice::Off);
    }

    /// What the rows are drawn from that the run loads.
    pub(crate) fn rows_seed(&self) -> u64 {
        self.data_seed.unwrap_or(self.seed)
    }

    /// The snapshot of its data, where one is wanted and there are any.
    pub(crate) fn snapshot(&self) -> Option<SnapshotRequest> {
        let folder = self.snapshots.clone().filter(|_| !self.workload.tables.is_empty())?;
        Some(SnapshotRequest {
            folder,
            workload: self.workload.name.clone(),
            source: self.workload.source.clone(),
            scale: self.scale.unwrap_or(1),
            seed: self.rows_seed(),
        })
    }

    /// A closed loop of one client, with everything else as it is when nobody says otherwise. Its
    /// caller says how long: by time or by transactions.
    pub fn new(workload: Workload, target: Target) -> Self {
        Self {
            workload_given: workload.name.clone(),
            workload,
            scale: None,
            target,
            load: LoadRequest {
                rate: None,
                flat_out: None,
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
            trace: false,
            statements: false,
            stacks: false,
            limits: Vec::new(),
            seed: 1,
            data_seed: None,
            snapshots: None,
            detail: RecordDetail::Full,
            out: None,
            command: String::new(),
            spec: None,
            note: |_| (),
        }
    }
}

/// What the record of a run is to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordDetail {
    /// Everything.
    Full,
    /// What was driven, and nothing of machine and server: nobody reads more, so that neither is
    /// looked at.
    Load,
}

/// How a private server is started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrivateOptions {
    /// Settings by name.
    pub settings: Vec<(String, String)>,
    /// Environment variables. Nobody knows of all of them whether they are secrets.
    pub environment: Vec<(String, ServerSecret)>,
    /// CPUs that it keeps to.
    pub cpus: Option<CpuList>,
    /// The folder that its data folder is made in.
    pub data: Option<PathBuf>,
}

impl PrivateOptions {
    /// The flag of the first option that was given.
    pub(crate) fn given(&self) -> Option<&'static str> {
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
pub struct LoadRequest {
    /// `None`: a closed loop.
    pub rate: Option<RateChoice>,
    /// What a share is of, where it was measured before: see [`crate::flat_out_rate`].
    pub flat_out: Option<AutoRate>,
    /// How arrivals fall around the rate of an open loop.
    pub arrivals: Arrivals,
    /// Clients of a closed loop, connections of an open one.
    pub connections: u32,
    /// Size of the worker pool; `None`: one worker or connection per client.
    pub workers: Option<u32>,
    /// Replaces the think times of the workload; closed loop only.
    pub think: Option<ThinkTime>,
    /// What happens to what nobody is free for.
    pub backlog: Backlog,
    /// Shards of an event loop; `None`: chosen by what carries most.
    pub shards: Option<u32>,
}
