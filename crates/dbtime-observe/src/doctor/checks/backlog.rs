//! The queues of connections that a server has not accepted yet.

use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse, mended};
use dbtime_model::units::count;

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame = FindingFrame::of_machine(
    "backlog",
    "net.core.somaxconn, net.ipv4.tcp_max_syn_backlog, ListenOverflows in /proc/net/netstat",
    "queues as long as connections are made at once, and none that overflowed",
);

/// Where that is known from.
const COSTS: &str = "1 s a connection, then 3 s: the kernel repeats a SYN after that (tcp(7), \
                     RFC 6298). A server's own back_log or listen_backlog bounds it too";

fn find(tree: &MachineTree, planned: &PlannedUse) -> CheckResult {
    let somaxconn = tree.number("proc/sys/net/core/somaxconn")?;
    let syn = tree.number("proc/sys/net/ipv4/tcp_max_syn_backlog")?;
    let overflows = overflows_in(&tree.text("proc/net/netstat")?)
        .ok_or("/proc/net/netstat does not count ListenOverflows")?;
    let least = somaxconn.min(syn);
    let value = format!(
        "{} connections, {} overflows since the machine was started",
        count(least),
        count(overflows)
    );
    if let Some(planned) = planned.connections.filter(|planned| *planned > least) {
        let because = format!("{} connections are planned at once", count(planned));
        // More than any server's queue takes on Linux, and as tuned has it at least.
        let most = planned.clamp(2_048, 65_535);
        let set = |name: &str, value: u64| format!("sysctl -w net.{name}={value}");
        let both = |one: u64, other: u64| {
            let [one, other] = [set("core.somaxconn", one), set("ipv4.tcp_max_syn_backlog", other)];
            format!("{one}; {other}")
        };
        let finding = FRAME.mind(value, because, COSTS);
        return Ok(mended(finding, both(most, most), both(somaxconn, syn)));
    }
    if overflows > 0 {
        let because = "some server did not accept connections as fast as they came";
        return Ok(FRAME.mind(value, because, COSTS));
    }
    Ok(FRAME.good(value, "no server's queue was full"))
}

/// The count of it in two lines, the first of which has the names.
fn overflows_in(text: &str) -> Option<u64> {
    let mut lines = text.lines().filter(|line| line.starts_with("TcpExt:"));
    let (names, counts) = (lines.next()?, lines.next()?);
    let mut pairs = names.split_whitespace().zip(counts.split_whitespace());
    pairs.find(|(name, _)| *name == "ListenOverflows")?.1.parse().ok()
}
