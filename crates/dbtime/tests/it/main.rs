//! The command line as a process: what it prints, how it exits, what it leaves on disk.

mod arrivals;
mod budget;
mod counters;
mod disk_full;
mod documents;
mod driver_faults;
mod given_server;
mod help;
mod interrupt;
mod json;
mod left_behind;
mod limits;
mod locks;
mod network;
mod nothing_left;
mod null_server;
mod own_workload;
mod pgbench;
mod pipelining;
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
mod stdout;
mod sweep;
mod sysbench;
mod targets;
mod tls;
#[cfg(feature = "trace")]
mod top;
#[cfg(feature = "trace")]
mod trace;
mod usage;
mod usage_command;
#[cfg(feature = "versions")]
mod versions;
mod worker;
mod workloads;
#[cfg(feature = "trace")]
mod written_trace;
