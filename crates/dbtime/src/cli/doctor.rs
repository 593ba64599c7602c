//! Flags of `dbtime doctor`.

use super::number::whole;
use super::{DETAILS, DocumentArgs};
use clap::Args;
use dbtime_lab::doctor::DoctorPurpose;
use dbtime_machine::CpuList;
use dbtime_model::Nanos;
use dbtime_model::spec::with_unit;
use dbtime_model::units::parse_rate;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  dbtime doctor
      this machine, in two seconds
  dbtime doctor --data /var/tmp --connections 200 --time 60s --details
      with the disk under a folder, and for so many connections and so long a run
  dbtime doctor --for study --noise
      with the smallest difference that runs can show here
  dbtime doctor --strict --json
      for a job that is to fail where something is bad
  dbtime doctor --fix-script
      the remedies as a script, which dbtime does not run";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DoctorArgs {
    /// Database: sqlite:PATH, mysql://USER@HOST/DATABASE, postgres://USER@HOST/DATABASE.
    #[arg(long, value_name = "URL")]
    pub(crate) target: Option<String>,

    /// Purpose: run, study (adds what makes runs drift apart) or production (leaves out what
    /// spoils figures alone).
    #[arg(long = "for", value_name = "WHAT", default_value = "run", value_parser = purpose)]
    pub(crate) purpose: DoctorPurpose,

    /// Make eight runs of three seconds, which show how small a difference can be seen: on a
    /// temporary SQLite database, or SELECT 1 on --target.
    #[arg(long)]
    pub(crate) noise: bool,

    /// Planned number of connections.
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1..=100_000, 16))]
    pub(crate) connections: Option<u64>,

    /// Planned new connections a second, such as 500/s; the driver itself is tried with it.
    #[arg(long, value_name = "RATE", value_parser = parse_rate)]
    pub(crate) rate: Option<f64>,

    /// Planned length of a run, such as 60s.
    #[arg(long, value_name = "TIME", value_parser = with_unit::<Nanos>)]
    pub(crate) time: Option<Nanos>,

    /// Planned number of statements that each connection has prepared.
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1..=100_000, 8))]
    pub(crate) statements: Option<u64>,

    /// Folder of the data; one file without a name is written and synced in it. Without a target it
    /// is the folder of temporary files, where private servers have their data.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,

    /// Planned CPUs of the driver, such as 0,2-3.
    #[arg(long, value_name = "CPUS")]
    pub(crate) client_cpus: Option<CpuList>,

    /// Planned CPUs of the server.
    #[arg(long, value_name = "CPUS")]
    pub(crate) server_cpus: Option<CpuList>,

    /// Exit with 1 where something is bad.
    #[arg(long)]
    pub(crate) strict: bool,

    /// Print the remedies as a shell script, with how to undo them; run nothing.
    #[arg(long, conflicts_with_all = ["json", "html", "markdown", "details"])]
    pub(crate) fix_script: bool,

    #[arg(long, help = DETAILS, conflicts_with = "json")]
    pub(crate) details: bool,

    #[command(flatten)]
    pub(crate) document: DocumentArgs,

    /// Print one JSON document and nothing else.
    #[arg(long)]
    pub(crate) json: bool,
}

fn purpose(text: &str) -> Result<DoctorPurpose, String> {
    match text {
        "run" => Ok(DoctorPurpose::Run),
        "study" => Ok(DoctorPurpose::Study),
        "production" => Ok(DoctorPurpose::Production),
        _ => Err("write run, study or production".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn purposes_are_read() {
        assert_eq!(purpose("study"), Ok(DoctorPurpose::Study));
        assert!(purpose("fun").is_err_and(|why| why.contains("production")));
    }
}
