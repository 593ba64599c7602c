//! What is known of the machine before a load starts: for its record, and for who waits.

use crate::request::{RecordDetail, RunRequest};
use dbtime_model::doctor::{DoctorFinding, FindingGrade};
use dbtime_model::spec::{RateChoice, ReconnectPolicy};
use dbtime_observe::doctor::{MachineTree, PlannedUse, machine_findings};

/// Checks that a load fails by, and not only its figures.
const OF_LOAD: [&str; 3] = ["ports", "threads", "smt"];

/// What checks of the machine find for a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunOutlook {
    /// Checks that are not good, by their names.
    pub(crate) findings: Vec<String>,
    /// What the load will meet, in sentences without a full stop.
    pub(crate) warnings: Vec<String>,
}

impl RunOutlook {
    /// Looks at this machine for a run. Takes milliseconds: nothing is watched.
    pub(crate) fn of(request: &RunRequest) -> Self {
        match request.detail {
            RecordDetail::Full => Self::on(&MachineTree::of_machine(), request),
            RecordDetail::Load => Self::default(),
        }
    }

    fn on(tree: &MachineTree, request: &RunRequest) -> Self {
        let found = machine_findings(tree, &planned(request));
        let is_wrong = |finding: &&DoctorFinding| {
            matches!(finding.grade, FindingGrade::Mind | FindingGrade::Bad)
        };
        let is_of_load = |finding: &&DoctorFinding| {
            finding.grade == FindingGrade::Bad && OF_LOAD.contains(&finding.id.as_str())
        };
        Self {
            findings: found.iter().filter(is_wrong).map(|finding| finding.id.clone()).collect(),
            warnings: found.iter().filter(is_of_load).map(warning).collect(),
        }
    }
}

fn warning(finding: &DoctorFinding) -> String {
    let DoctorFinding { id, value, because, costs, .. } = finding;
    format!("{id}: {value}; {because}: {costs} (`dbtime doctor` has the remedy)")
}

/// What a run will need of the machine.
fn planned(request: &RunRequest) -> PlannedUse {
    let (load, target) = (&request.spec.load, &request.spec.target);
    let rate_tps = match &load.rate {
        Some(RateChoice::Given(rate)) => Some(rate.highest()),
        Some(RateChoice::Auto(_)) | None => None,
    };
    let reconnects = target.reconnect == Some(ReconnectPolicy::EveryTransaction);
    PlannedUse {
        connections: request.target.is_server().then_some(load.servers().into()),
        connects_per_s: rate_tps.filter(|_| reconnects),
        data: None,
        server_cpus: target.server_cpus.clone(),
        client_cpus: load.client_cpus.clone(),
        is_remote: request.target.is_elsewhere(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_load::workload::Workload;
    use std::fs;
    use std::path::Path;

    fn request(url: &str) -> RunRequest {
        let workload = Workload::from_sql("SELECT 1").expect("a statement");
        let mut request = RunRequest::new(workload, url.parse().expect("a target"));
        request.spec.load.rate = "1000/s".parse().ok();
        request.spec.target.reconnect = Some(ReconnectPolicy::EveryTransaction);
        request
    }

    fn write(root: &Path, path: &str, text: &str) {
        let place = root.join(path);
        fs::create_dir_all(place.parent().expect("a folder")).expect("made");
        fs::write(place, text).expect("written");
    }

    #[test]
    fn a_rate_of_connections_that_ports_do_not_carry_is_known_before_the_load() {
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path(), "proc/sys/net/ipv4/ip_local_port_range", "32768 60999\n");
        write(folder.path(), "proc/sys/net/ipv4/tcp_tw_reuse", "2\n");
        write(folder.path(), "proc/sys/kernel/randomize_va_space", "0\n");
        let tree = MachineTree::at(folder.path().to_path_buf());
        let outlook = RunOutlook::on(&tree, &request("mysql://u@192.0.2.1/shop"));
        assert_eq!(outlook.findings, ["ports", "aslr"]);
        let [warning] = &outlook.warnings[..] else { panic!("{outlook:?}") };
        assert!(warning.contains("470 connections a second"), "{warning}");
        assert!(warning.contains("would keep 60,000 ports"), "{warning}");
        let local = RunOutlook::on(&tree, &request("mysql://u@127.0.0.1/shop"));
        assert_eq!((local.findings, local.warnings.len()), (vec!["aslr".to_owned()], 0));
    }

    #[test]
    fn what_only_the_load_is_recorded_of_looks_at_nothing() {
        let mut request = request("null");
        request.load_only();
        assert!(RunOutlook::of(&request).findings.is_empty());
    }
}
