//! The queues of connections that a server has not accepted yet.

use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse, mended};
use dbtime_model::doctor::DoctorFinding;
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

/// What bounds a queue, as sysctl(8) names it.
const QUEUES: [&str; 2] = ["net.core.somaxconn", "net.ipv4.tcp_max_syn_backlog"];

fn find(tree: &MachineTree, planned: &PlannedUse) -> CheckResult {
    let present = [
        tree.number("proc/sys/net/core/somaxconn")?,
        tree.number("proc/sys/net/ipv4/tcp_max_syn_backlog")?,
    ];
    let overflows = overflows_in(&tree.text("proc/net/netstat")?)
        .ok_or("/proc/net/netstat does not count ListenOverflows")?;
    let least = present[0].min(present[1]);
    let value = format!(
        "{} connections, {} overflows since the machine was started",
        count(least),
        count(overflows)
    );
    // A server of another machine has its queues there.
    let connections = planned.connections.filter(|_| !planned.is_remote);
    if let Some(planned) = connections.filter(|planned| *planned > least) {
        let because = format!("{} connections are planned at once", count(planned));
        return Ok(lengthened(FRAME.note(value, because, COSTS), present, planned));
    }
    if overflows > 0 {
        let because = "some server did not accept connections as fast as they came";
        return Ok(FRAME.note(value, because, COSTS));
    }
    Ok(FRAME.good(value, "no server's queue was full"))
}

/// The finding with what makes the queues longer that are too short; the others stay as they are.
fn lengthened(finding: DoctorFinding, present: [u64; 2], planned: u64) -> DoctorFinding {
    // More than any server's queue takes on Linux, and as tuned has it at least.
    let most = planned.clamp(2_048, 65_535);
    let short = QUEUES.into_iter().zip(present).filter(|(_, present)| *present < most);
    let short: Vec<(&str, u64)> = short.collect();
    let set = |value: &dyn Fn(u64) -> u64| {
        let set_one =
            |(name, present): &(&str, u64)| format!("sysctl -w {name}={}", value(*present));
        short.iter().map(set_one).collect::<Vec<_>>().join("; ")
    };
    mended(finding, set(&|_| most), set(&|present| present))
}

/// The count of it in two lines, the first of which has the names.
fn overflows_in(text: &str) -> Option<u64> {
    let mut lines = text.lines().filter(|line| line.starts_with("TcpExt:"));
    let (names, counts) = (lines.next()?, lines.next()?);
    let mut pairs = names.split_whitespace().zip(counts.split_whitespace());
    pairs.find(|(name, _)| *name == "ListenOverflows")?.1.parse().ok()
}
