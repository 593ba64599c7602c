//! The command line as a process: what it prints, how it exits, what it leaves on disk.

mod arrivals;
mod budget;
mod counters;
mod disk_full;
mod documents;
mod driver_faults;
mod explain;
mod given_server;
mod help;
mod interrupt;
mod jobs;
mod json;
mod left_behind;
mod limits;
#[cfg(feature = "trace")]
mod lock_client;
mod locks;
mod network;
mod nothing_left;
mod null_server;
mod other_services;
mod own_workload;
mod package;
mod pgbench;
mod pipelining;
mod progress;
mod ps;
#[cfg(feature = "trace")]
mod ps_exact;
#[cfg(feature = "trace")]
mod raw_client;
#[cfg(feature = "trace")]
mod raw_postgres;
mod records;
mod regressions;
mod relay;
mod reports;
mod sandbox;
mod scripts;
mod server_faults;
mod servers;
mod simulated_network;
mod snapshots;
mod spec;
mod stdout;
mod study;
mod study_folder;
mod sweep;
mod sysbench;
mod targets;
mod thread_limits;
mod tls;
#[cfg(feature = "trace")]
mod top;
#[cfg(feature = "trace")]
mod trace;
mod usage;
mod usage_command;
#[cfg(feature = "versions")]
mod versions;
mod watched_run;
mod worker;
mod workloads;
#[cfg(feature = "trace")]
mod written_trace;
