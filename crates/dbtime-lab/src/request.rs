//! What is asked of a run: its written form, with what was looked up for it before any machine is
//! touched.

use crate::data_snapshot::SnapshotRequest;
use crate::error::LabError;
use crate::targets::Target;
use dbtime_engines::server::ServerOptions;
use dbtime_engines::server::secret::ServerSecret;
use dbtime_load::workload::Workload;
use dbtime_model::Nanos;
use dbtime_model::spec::{BudgetChoice, RunSpec, TargetSpec};
use std::path::PathBuf;

/// One run.
#[derive(Clone, Debug)]
pub struct RunRequest {
    /// Its written form.
    pub spec: RunSpec,
    /// Whether that is all of it, so that the record has it; of other tools' commands it is not.
    pub is_described: bool,
    /// What is run.
    pub workload: Workload,
    /// Against what, with its password.
    pub target: Target,
    /// Environment variables of a private server, with the values that the written form leaves out.
    /// Nobody knows of all of them whether they are secrets.
    pub environment: Vec<(String, ServerSecret)>,
    /// How long what is under way is waited for after the window, while nothing that waits is
    /// begun any more; `None`: both are served for a few seconds.
    pub rundown: Option<Nanos>,
    /// The folder of snapshots that data are restored from, and kept in where they were loaded;
    /// `None`: they are loaded.
    pub snapshots: Option<PathBuf>,
    /// What the record is to tell.
    pub detail: RecordDetail,
    /// Where the record goes; `None`: nowhere.
    pub out: Option<PathBuf>,
    /// The command that repeats the run, without passwords.
    pub command: String,
    /// Is told what people have to know while the run waits and shows nothing.
    pub note: fn(&str),
}

impl RunRequest {
    /// A closed loop of one client, with everything else as it is when nobody says otherwise. Its
    /// caller says how long: by time or by transactions.
    pub fn new(workload: Workload, target: Target) -> Self {
        Self {
            spec: RunSpec::default(),
            is_described: false,
            workload,
            target,
            environment: Vec::new(),
            rundown: None,
            snapshots: None,
            detail: RecordDetail::Full,
            out: None,
            command: String::new(),
            note: |_| (),
        }
    }

    /// Refuses what can be refused before a machine is touched. CPUs, files and servers are those
    /// of the machine that it is run on, and looked at there.
    ///
    /// Errors: [`LabError`], where the request itself is at fault.
    pub fn check(&self) -> Result<(), LabError> {
        self.target.check(self)
    }

    /// Measures what is driven and nothing else, because nobody reads more.
    pub fn load_only(&mut self) {
        (self.detail, self.spec.window.budget) = (RecordDetail::Load, Some(BudgetChoice::Off));
    }

    /// How the command line named the workload: a shipped name or a path.
    pub(crate) fn given_name(&self) -> &str {
        let given = &self.spec.workload;
        given.name.as_deref().or(given.script.as_deref()).unwrap_or(&self.workload.name)
    }

    /// How a server is talked to.
    pub(crate) fn server(&self) -> ServerOptions {
        ServerOptions::from(&self.spec.target)
    }

    /// Which transactions have their parts measured.
    pub(crate) fn budget(&self) -> BudgetChoice {
        self.spec.window.budget.unwrap_or_default()
    }

    /// Settings of a private server by name.
    pub(crate) fn server_settings(&self) -> Vec<(String, String)> {
        let settings = self.spec.target.server_set.iter();
        let settings = settings.filter_map(|setting| setting.split_once('='));
        settings.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    /// What the rows are drawn from that the run loads.
    pub(crate) fn rows_seed(&self) -> u64 {
        self.spec.workload.data_seed.unwrap_or(self.spec.seed)
    }

    /// The snapshot of its data, where one is wanted and there are any.
    pub(crate) fn snapshot(&self) -> Option<SnapshotRequest> {
        let folder = self.snapshots.clone().filter(|_| !self.workload.tables.is_empty())?;
        Some(SnapshotRequest {
            folder,
            workload: self.workload.name.clone(),
            source: self.workload.source.clone(),
            scale: self.spec.workload.scale.unwrap_or(1),
            seed: self.rows_seed(),
        })
    }
}

/// The first flag that is given and for a private server only.
pub(crate) fn private_flag(target: &TargetSpec) -> Option<&'static str> {
    let TargetSpec { server_set, server_env, server_cpus, server_data, .. } = target;
    [
        ("--server-set", !server_set.is_empty()),
        ("--server-env", !server_env.is_empty()),
        ("--server-cpus", server_cpus.is_some()),
        ("--server-data", server_data.is_some()),
    ]
    .into_iter()
    .find_map(|(flag, is_given)| is_given.then_some(flag))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn request(change: impl FnOnce(&mut RunSpec)) -> RunRequest {
        let workload = Workload::from_sql("SELECT 1").expect("a statement");
        let mut request = RunRequest::new(workload, "null".parse().expect("a target"));
        change(&mut request.spec);
        request
    }

    /// What is special to the spec of a run.
    type SpecChange = fn(&mut RunSpec);

    /// Why tpcb cannot be run on a target; empty: nothing stands against it.
    fn refusal(target: &str, change: SpecChange) -> String {
        let workload = Workload::find("tpcb").expect("shipped");
        let mut request = RunRequest::new(workload, target.parse().expect(target));
        change(&mut request.spec);
        request.check().map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn what_is_for_a_private_server_is_refused_of_others() {
        assert!(request(|_| ()).check().is_ok());
        let cpus = request(|spec| spec.target.server_cpus = "0".parse().ok());
        let why = cpus.check().expect_err("null has no server").to_string();
        assert!(why.starts_with("--server-cpus is for a private server"), "{why}");
        let restored = RunRequest { snapshots: Some("kept".into()), ..request(|_| ()) };
        let why = restored.check().expect_err("null has no data").to_string();
        assert!(why.starts_with("--snapshots is for data that the run loads"), "{why}");
    }

    /// What each kind of target refuses itself is known without a server and without a file.
    #[test]
    fn a_target_refuses_what_it_cannot_have() {
        assert_eq!(refusal("mariadb:/nowhere", |_| ()), "");
        let cases: [(&str, SpecChange, &str); 5] = [
            ("sqlite", |run| run.load.workers = Some(5000), "5000 workers are too many"),
            ("mysql://u@127.0.0.1:1/", |_| (), "names no database"),
            ("postgres", |run| run.workload.scale = Some(0), "must be at least 1"),
            ("mariadb", |run| run.target.server_set = vec!["port=0".into()], "a port is a number"),
            ("mysql", |run| run.target.server_set = vec!["user=x".into()], "sets this itself"),
        ];
        for (target, change, why) in cases {
            let found = refusal(target, change);
            assert!(found.contains(why), "{found}");
        }
    }

    #[test]
    fn a_setting_ends_its_name_at_the_first_sign() {
        let set = request(|spec| spec.target.server_set = vec!["a=b=c".to_owned()]);
        assert_eq!(set.server_settings(), [("a".to_owned(), "b=c".to_owned())]);
    }

    #[test]
    fn a_workload_is_called_as_it_was_given() {
        let own = request(|_| ());
        assert_eq!(own.given_name(), own.workload.name);
        let given = request(|spec| spec.workload.name = Some("./own.toml".to_owned()));
        assert_eq!(given.given_name(), "./own.toml");
    }
}
