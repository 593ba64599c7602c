//! TCP's slow start after a pause.

use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse, mended};

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame = FindingFrame::of_machine(
    "slow_start",
    "net.ipv4.tcp_slow_start_after_idle",
    "0 where connections rest between large answers from another machine",
);

fn find(tree: &MachineTree, planned: &PlannedUse) -> CheckResult {
    let value = tree.number("proc/sys/net/ipv4/tcp_slow_start_after_idle")?;
    if value > 1 {
        return Err("net.ipv4.tcp_slow_start_after_idle is neither 0 nor 1".to_owned());
    }
    if value == 0 {
        return Ok(FRAME.good("0", "a connection that has rested is as fast as before"));
    }
    if !planned.is_remote {
        return Ok(FRAME.good("1", "no server of another machine is named by --target"));
    }
    let finding = FRAME.note(
        "1",
        "a connection that has rested begins with ten packets again, so that large answers take \
         further round trips",
        "a round trip for each doubling beyond about 14 kB: RFC 6928, \
         Documentation/networking/ip-sysctl.rst of the kernel. Without it a rested connection may \
         overrun a network that has filled up meanwhile",
    );
    let set = |value: u32| format!("sysctl -w net.ipv4.tcp_slow_start_after_idle={value}");
    Ok(mended(finding, set(0), set(1)))
}
