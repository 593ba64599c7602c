//! What is known of the machine before a load starts: for its record, and for who waits.

use super::{driver, driver_rate};
use crate::request::{RecordDetail, RunRequest};
use dbtime_engines::drive::plan::RunStop;
use dbtime_model::doctor::{DoctorFinding, FindingGrade};
use dbtime_model::spec::{LoadSpec, RateChoice, ReconnectPolicy};
use dbtime_observe::doctor::{MachineTree, PlannedUse, machine_findings};

/// Checks that a load fails by, and not only its figures.
const OF_LOAD: [&str; 7] = [
    "ports",
    "threads",
    "smt",
    "driver_apart",
    "driver_rate",
    "max_connections",
    "prepared_statements",
];

/// What checks of machine, driver and server find for a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunOutlook {
    /// Checks that are bad or worth a note, by their names; `None`: no check was made.
    pub(crate) findings: Option<Vec<String>>,
    /// What the load will meet, in sentences without a full stop.
    pub(crate) warnings: Vec<String>,
}

impl RunOutlook {
    /// Looks at this machine for a run. Takes milliseconds, as nothing is watched; a high rate is
    /// tried for a third of a second.
    pub(crate) fn of(request: &RunRequest, stop: &RunStop) -> Self {
        if request.detail == RecordDetail::Load {
            return Self::default();
        }
        let mut outlook = Self::on(&MachineTree::of_machine(), request);
        let is_high = |rate: &f64| *rate >= driver_rate::WORTH_TRYING;
        if let Some(rate) = rate_tps(request).filter(is_high).filter(|_| request.target.is_server())
        {
            // This thread, and all that it starts, keeps to the CPUs of the driver already.
            let load = LoadSpec { client_cpus: None, ..request.spec.load.clone() };
            outlook.take(&[driver_rate::of_load(&load, rate, stop)]);
        }
        outlook
    }

    fn on(tree: &MachineTree, request: &RunRequest) -> Self {
        let planned = planned(request);
        let mut outlook = Self { findings: Some(Vec::new()), ..Self::default() };
        outlook.take(&machine_findings(tree, &planned));
        outlook.take(&[driver::apart(&planned)]);
        outlook
    }

    /// Takes what further checks have found. Returns what the load will meet by that.
    pub(crate) fn take(&mut self, found: &[DoctorFinding]) -> Vec<String> {
        let is_wrong = |finding: &&DoctorFinding| {
            matches!(finding.grade, FindingGrade::Note | FindingGrade::Bad)
        };
        let is_of_load = |finding: &&DoctorFinding| {
            finding.grade == FindingGrade::Bad && OF_LOAD.contains(&finding.id.as_str())
        };
        let wrong = found.iter().filter(is_wrong).map(|finding| finding.id.clone());
        // Of a run whose machine was not looked at they would be half of them.
        if let Some(findings) = &mut self.findings {
            findings.extend(wrong);
        }
        let warnings: Vec<String> = found.iter().filter(is_of_load).map(warning).collect();
        self.warnings.extend_from_slice(&warnings);
        warnings
    }
}

fn warning(finding: &DoctorFinding) -> String {
    let DoctorFinding { id, value, because, costs, .. } = finding;
    format!("{id}: {value}; {because}: {costs} (`dbtime doctor` has the remedy)")
}

/// What a run will need of the machine.
fn planned(request: &RunRequest) -> PlannedUse {
    let (load, target) = (&request.spec.load, &request.spec.target);
    let reconnects = target.reconnect == Some(ReconnectPolicy::EveryTransaction);
    PlannedUse {
        connections: request.target.is_server().then_some(load.servers().into()),
        connects_per_s: rate_tps(request).filter(|_| reconnects),
        data: None,
        server_cpus: target.server_cpus.clone(),
        client_cpus: load.client_cpus.clone(),
        is_remote: request.target.is_elsewhere(),
        is_over_socket: request.target.is_over_socket(),
    }
}

/// The highest rate that was given.
fn rate_tps(request: &RunRequest) -> Option<f64> {
    match &request.spec.load.rate {
        Some(RateChoice::Given(rate)) => Some(rate.highest()),
        Some(RateChoice::Auto(_)) | None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_load::workload::Workload;
    use std::fs;
    use std::path::Path;
    use std::slice::from_ref;

    fn request(url: &str) -> RunRequest {
        let workload = Workload::from_sql("SELECT 1").expect("a statement");
        let mut request = RunRequest::new(workload, url.parse().expect("a target"));
        request.spec.load.rate = "1000/s".parse().ok();
        request.spec.target.reconnect = Some(ReconnectPolicy::EveryTransaction);
        request
    }

    fn named(ids: &[&str]) -> Option<Vec<String>> {
        Some(ids.iter().map(|id| (*id).to_owned()).collect())
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
        assert_eq!(outlook.findings, named(&["ports", "aslr"]));
        let [warning] = &outlook.warnings[..] else { panic!("{outlook:?}") };
        assert!(warning.contains("470 connections a second"), "{warning}");
        assert!(warning.contains("would keep 60,000 ports"), "{warning}");
        let local = RunOutlook::on(&tree, &request("mysql://u@127.0.0.1/shop"));
        assert_eq!((local.findings, local.warnings.len()), (named(&["aslr"]), 0));
    }

    #[test]
    fn what_only_the_load_is_recorded_of_looks_at_nothing() {
        let mut request = request("null");
        request.load_only();
        let mut outlook = RunOutlook::of(&request, &RunStop::default());
        outlook.take(&[driver::apart(&PlannedUse::default())]);
        assert_eq!(outlook.findings, None, "which is not the same as that all is good");
    }

    #[test]
    fn what_driver_and_server_lack_is_known_before_the_load_too() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut request = request("mysql://u@127.0.0.1/shop");
        request.spec.target.server_cpus = "0-1".parse().ok();
        request.spec.load.client_cpus = "1".parse().ok();
        let tree = MachineTree::at(folder.path().to_path_buf());
        let mut outlook = RunOutlook::on(&tree, &request);
        assert_eq!(outlook.findings, named(&["driver_apart"]));
        assert!(outlook.warnings[0].contains("both have CPU 1"), "{outlook:?}");
        let mut found = driver::apart(&PlannedUse::default());
        (found.id, found.grade) = ("max_connections".to_owned(), FindingGrade::Bad);
        assert_eq!(outlook.take(from_ref(&found)).len(), 1);
        found.id = "name_resolve".to_owned();
        assert_eq!(outlook.take(from_ref(&found)).len(), 0, "the load does not fail by it");
        let all = ["driver_apart", "max_connections", "name_resolve"];
        assert_eq!(outlook.findings, named(&all));
    }
}
