//! On which CPUs a server runs: that they exist, and that it got them.

use super::processes::status_line;
use crate::error::LabError;
use dbtime_machine::CpuList;
use std::fs;

/// The CPUs that are there and switched on.
const ONLINE: &str = "/sys/devices/system/cpu/online";

/// Refuses CPUs that this machine does not have or has switched off; `flag` asked for them.
///
/// Errors: [`LabError::Usage`], naming the CPUs and those that there are.
pub fn check_online(cpus: &CpuList, flag: &str) -> Result<(), LabError> {
    let Ok(text) = fs::read_to_string(ONLINE) else { return Ok(()) };
    let Ok(online) = text.parse::<CpuList>() else { return Ok(()) };
    let missing: Vec<String> = cpus.missing_from(&online).map(|cpu| cpu.to_string()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let (noun, verb) = if missing.len() == 1 { ("CPU", "is") } else { ("CPUs", "are") };
    Err(LabError::Usage(format!(
        "{flag} {cpus}: {noun} {} {verb} not there or switched off; this machine has {online}",
        missing.join(", ")
    )))
}

/// Refuses a process that got other CPUs than it was given: a control group may take some away.
pub(super) fn verify(pid: u32, cpus: &CpuList) -> Result<(), LabError> {
    // A process that has ended is told by its log.
    let Some(text) = status_line(pid, "Cpus_allowed_list") else { return Ok(()) };
    match text.parse::<CpuList>() {
        Ok(allowed) if allowed == *cpus => Ok(()),
        _ => Err(LabError::Target(format!(
            "--server-cpus {cpus}: the server may only run on {text}; name CPUs that this \
             container or control group has"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_that_are_not_there_are_named() {
        let error = check_online(&"0,1022-1023".parse().expect("a list"), "--server-cpus");
        let error = error.expect_err("no such machine").to_string();
        assert!(error.starts_with("--server-cpus 0,1022-1023: CPUs 1022, 1023 are not"), "{error}");
        check_online(&"0".parse().expect("a list"), "--server-cpus").expect("every machine has it");
    }
}
