//! The arguments of `dbtime run`, as they were given.

use super::run_flags::{self, FlagClass, RunFlag};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use dbtime_model::spec::WorkloadLimit;
use std::ffi::OsString;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  dbtime run
      atm on a temporary SQLite database, at half of its flat-out rate
  dbtime run point-select --workers 1 --time 10s
      closed loop: one worker flat out
  dbtime run atm --connections 150 --think exp:10ms
      closed loop: 150 clients with a think time of 10 ms on average
  dbtime run atm --rate 500/s --jitter 200us --workers 4 --limit 'p90<=5ms'
      open loop: a steady rate; exit code 1 if the limit fails
  dbtime run report-scan --transactions 80 --sweep \\
      'arrivals=at-once workers=40,10,4; workers=4 rate=auto:500%,auto:250%,auto:95%'
      latency against throughput, as one table
  dbtime run point-select --target mariadb --rate auto:50% --repeat 3 \\
      --sweep connections=1,2,4,8,16,32,64,128,256,512,1024,2048
      one rate over more and more connections, with the server's CPU time
  dbtime run --query 'SELECT 1' --connections 1 --transactions 100 --target mariadb
      one request a hundred times on a private MariaDB: response, server CPU, counters
  dbtime run point-select --rate 1000/s --connections 64 --target postgres://app@db1/shop
      64 connections to a running PostgreSQL, loaded before by `dbtime init`";

/// What describes a run and may be a file.
const READ_FILES: [&str; 2] = ["workload", "script"];

/// What was given: the flags that describe a run as they are, all others as what they mean.
#[derive(Clone, Debug)]
pub(crate) struct RunArgs {
    /// What describes the run, by name, in the order of the help; a switch has `true`.
    pub(crate) described: Vec<(&'static str, OsString)>,
    /// The names of all other flags that were given.
    pub(crate) others: Vec<&'static str>,
    pub(crate) spec: Option<PathBuf>,
    pub(crate) print_spec: bool,
    pub(crate) password_file: Option<PathBuf>,
    pub(crate) sweep: Vec<String>,
    pub(crate) find_rate: Option<WorkloadLimit>,
    pub(crate) repeat: Option<u32>,
    pub(crate) strict: bool,
    pub(crate) snapshots: Option<PathBuf>,
    pub(crate) out: Option<PathBuf>,
    pub(crate) no_record: bool,
    pub(crate) markdown: Option<PathBuf>,
    pub(crate) junit: Option<PathBuf>,
    pub(crate) json: bool,
    pub(crate) events: bool,
    pub(crate) flat_out_rate: bool,
    pub(crate) slices_from_stdin: bool,
    pub(crate) parent: bool,
    pub(crate) details: bool,
    pub(crate) histogram: bool,
    pub(crate) server_threads: bool,
    pub(crate) quiet: bool,
}

impl RunArgs {
    /// Whether a flag that describes the run was given.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.described.iter().any(|(given, _)| *given == name)
    }

    /// The files that may be read for the run, of which some may be no files but names.
    pub(crate) fn read_files(&self) -> Vec<PathBuf> {
        let is_file = |(name, _): &&(&'static str, OsString)| READ_FILES.contains(name);
        let described = self.described.iter().filter(is_file);
        let described = described.map(|(_, value)| PathBuf::from(value));
        let others = [&self.spec, &self.password_file].into_iter().flatten().cloned();
        described.chain(others).collect()
    }
}

impl Args for RunArgs {
    fn augment_args(command: Command) -> Command {
        let args = run_flags::all().map(RunFlag::arg);
        command.args(args).after_help(EXAMPLES).args_override_self(true)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for RunArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let path = |name: &str| matches.get_one::<PathBuf>(name).cloned();
        Ok(Self {
            described: described(matches),
            others: others(matches),
            spec: path("spec"),
            print_spec: matches.get_flag("print-spec"),
            password_file: path("password-file"),
            sweep: matches.get_many::<String>("sweep").into_iter().flatten().cloned().collect(),
            find_rate: matches.get_one::<WorkloadLimit>("find-rate").cloned(),
            repeat: matches.get_one::<u32>("repeat").copied(),
            strict: matches.get_flag("strict"),
            snapshots: path("snapshots"),
            out: path("out"),
            no_record: matches.get_flag("no-record"),
            markdown: path("markdown"),
            junit: path("junit"),
            json: matches.get_flag("json"),
            events: matches.get_flag("events"),
            flat_out_rate: matches.get_flag("flat-out-rate"),
            slices_from_stdin: matches.get_flag("slices-from-stdin"),
            parent: matches.get_flag("parent"),
            details: matches.get_flag("details"),
            histogram: matches.get_flag("histogram"),
            server_threads: matches.get_flag("server-threads"),
            quiet: matches.get_flag("quiet"),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The run that `study ab` varies. Flags that it does not take are read, so that they are refused
/// with a reason, and not shown.
#[derive(Clone, Debug)]
pub(crate) struct ComparedRunArgs(pub(crate) RunArgs);

impl Args for ComparedRunArgs {
    fn augment_args(command: Command) -> Command {
        command.args(run_flags::all().map(arg_of_pair)).args_override_self(true)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ComparedRunArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        RunArgs::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

/// A flag as `study ab` has it.
fn arg_of_pair(flag: &'static RunFlag) -> Arg {
    let arg = flag.arg().hide(!flag.is_of_pair());
    match flag.name {
        "time" => arg.help(
            "Length of the measured window of each run [default: 10s, or until --transactions have \
             ended]",
        ),
        "rate" => arg.help(
            "Rate of an open loop: 500/s, 0s:100/s,30s:500/s, ramp:100/s..2000/s [default: a \
             closed loop]",
        ),
        "statements" => arg.help(
            "Record the driver's side of each statement, for a later join with a trace from \
             another host (dbtime join); needs a server",
        ),
        "out" => arg.help("New folder for the study [default: dbtime-runs/TIME-ab]"),
        "json" => arg.help("Print the result as one JSON document and nothing else"),
        _ => arg,
    }
}

/// The flags that stand on the command line, of a run or all others.
fn given(matches: &ArgMatches, is_of_run: bool) -> impl Iterator<Item = &'static RunFlag> {
    run_flags::all().filter(move |flag| {
        let source = matches.value_source(flag.name);
        (flag.class == FlagClass::Run) == is_of_run && source == Some(ValueSource::CommandLine)
    })
}

fn described(matches: &ArgMatches) -> Vec<(&'static str, OsString)> {
    let mut described = Vec::new();
    for flag in given(matches, true) {
        if flag.is_switch() {
            described.push((flag.name, "true".into()));
            continue;
        }
        let values = matches.get_raw(flag.name).into_iter().flatten();
        described.extend(values.map(|value| (flag.name, value.to_owned())));
    }
    described
}

fn others(matches: &ArgMatches) -> Vec<&'static str> {
    given(matches, false).map(|flag| flag.name).collect()
}
