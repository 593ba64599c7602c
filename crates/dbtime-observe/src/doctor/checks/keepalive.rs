//! TCP's keep-alive, against what a network forgets.

use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse, mended};

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame = FindingFrame::of_machine(
    "keepalive",
    "net.ipv4.tcp_keepalive_time",
    "at most 240 s where connections pass a load balancer or a firewall",
);

/// The shortest of the usual ones: Azure's load balancer forgets after 4 minutes, Amazon's after
/// 350 s. Unit: seconds.
const MOST_S: u64 = 240;

fn find(tree: &MachineTree, planned: &PlannedUse) -> CheckResult {
    let present = tree.number("proc/sys/net/ipv4/tcp_keepalive_time")?;
    let value = format!("{present} s");
    if present <= MOST_S {
        return Ok(FRAME.good(value, "no connection of this kind is forgotten on its way"));
    }
    if !planned.is_remote {
        return Ok(FRAME.good(value, "no server of another machine is named by --target"));
    }
    let finding = FRAME.note(
        value,
        "what stands between may forget a connection that rests, and its next statement waits for \
         minutes",
        "not measured here; Azure's load balancer forgets after 240 s, Amazon's network load \
         balancer after 350 s (their documents). A packet a connection and 240 s is the price",
    );
    let set = |seconds: u64| format!("sysctl -w net.ipv4.tcp_keepalive_time={seconds}");
    Ok(mended(finding, set(MOST_S), set(present)))
}
