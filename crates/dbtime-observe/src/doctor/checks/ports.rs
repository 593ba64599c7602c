//! Local ports: how many connections a second this machine can make.

use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse, mended};
use dbtime_machine::ports::{LocalPorts, ports_in};
use dbtime_model::units::count;

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame = FindingFrame::of_machine(
    "ports",
    "net.ipv4.ip_local_port_range, net.ipv4.tcp_tw_reuse, tw in /proc/net/sockstat",
    "more local ports than connections are made in the minute for which one is kept",
);

/// For how long a closed connection keeps its port (tcp(7), TIME_WAIT). Unit: seconds.
const KEPT_S: u64 = 60;

/// Where that is known from.
const COSTS: &str = "connections fail with EADDRNOTAVAIL: Documentation/networking/ip-sysctl.rst \
                     of the kernel. A port of a server in the range may be taken before it starts";

fn find(tree: &MachineTree, planned: &PlannedUse) -> CheckResult {
    let range = tree.text("proc/sys/net/ipv4/ip_local_port_range")?;
    let ports = ports_in(|path| tree.text(path.trim_start_matches('/')).unwrap_or_default());
    if ports.all == 0 || ports.all > 65_536 {
        return Err("net.ipv4.ip_local_port_range is no range of ports".to_owned());
    }
    let value = format!(
        "{} ports: {} connections a second, {} ports kept by closed ones",
        count(ports.all),
        count(ports.all / KEPT_S),
        count(ports.time_wait)
    );
    let Some(because) = shortage(&ports, planned) else {
        return Ok(FRAME.good(value, "they are enough for what is planned"));
    };
    // What stands behind them has not been read as numbers.
    let ends: Vec<&str> = range.split_whitespace().take(2).collect();
    let undo = format!("sysctl -w net.ipv4.ip_local_port_range='{}'", ends.join(" "));
    let fix = "sysctl -w net.ipv4.ip_local_port_range='10240 65535'";
    let finding = match planned.connects_per_s.is_some() || planned.connections.is_some() {
        true => FRAME.bad(value, because, COSTS),
        false => FRAME.mind(value, because, COSTS),
    };
    Ok(mended(finding, fix, undo))
}

/// What there are too few for; `None`: nothing.
fn shortage(ports: &LocalPorts, planned: &PlannedUse) -> Option<String> {
    if let Some(connections) = planned.connections.filter(|planned| *planned > ports.all) {
        return Some(format!("{} connections are planned at once", count(connections)));
    }
    if ports.reuse.holds_for(!planned.is_remote) {
        return None;
    }
    let kept = planned.connects_per_s.map(|per_s| per_s * KEPT_S as f64);
    if let Some(kept) = kept.filter(|kept| *kept > ports.all as f64) {
        let kept = count(kept as u64);
        return Some(format!("closed connections of the planned load would keep {kept} ports"));
    }
    let is_used_up = ports.time_wait.saturating_mul(5) > 4 * ports.all;
    is_used_up.then(|| "closed connections keep four of five ports and more".to_owned())
}
