//! The command line as a process: what it prints, how it exits, what it leaves on disk.

mod arrivals;
mod budget;
mod disk_full;
mod documents;
mod help;
mod interrupt;
mod json;
mod limits;
mod locks;
mod null_server;
mod own_workload;
mod records;
mod regressions;
mod reports;
mod sandbox;
mod sweep;
mod targets;
mod usage;
mod workloads;
