//! Local ports: how many connections a second this machine can make.

use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse, mended};
use dbtime_machine::ports::{LocalPorts, PortReuse, ports_in};
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
                     of the kernel";

/// What the range is widened to, and how many ports that is.
const WIDE: &str = "10240 65535";
const WIDE_PORTS: u64 = 65_535 - 10_240 + 1;

/// What there are too few ports for.
enum PortShortage {
    /// Connections that are planned at once.
    AtOnce(u64),
    /// What closed connections of the planned load would keep.
    Kept(u64),
    /// Closed connections of now keep most of them; nothing that is planned.
    UsedUp,
}

fn find(tree: &MachineTree, planned: &PlannedUse) -> CheckResult {
    let range = tree.text("proc/sys/net/ipv4/ip_local_port_range")?;
    let ports = ports_in(|path| tree.text(path.trim_start_matches('/')).unwrap_or_default());
    if ports.all == 0 || ports.all > 65_536 {
        return Err("net.ipv4.ip_local_port_range is no range of ports".to_owned());
    }
    if planned.is_over_socket {
        return Ok(FRAME.good("a Unix socket", "connections over it take no port"));
    }
    let value = format!(
        "{} ports: {} connections a second, {} ports kept by closed ones",
        count(ports.all),
        count(ports.all / KEPT_S),
        count(ports.time_wait)
    );
    let Some(shortage) = shortage(&ports, planned) else {
        return Ok(FRAME.good(value, "they are enough for what is planned"));
    };
    let costs = costs_of(&shortage, &ports);
    let finding = match shortage {
        PortShortage::AtOnce(all) => {
            FRAME.bad(value, format!("{} connections are planned at once", count(all)), costs)
        }
        PortShortage::Kept(kept) => {
            let kept = count(kept);
            let because = format!("closed connections of the planned load would keep {kept} ports");
            FRAME.bad(value, because, costs)
        }
        PortShortage::UsedUp => {
            FRAME.note(value, "closed connections keep four of five ports and more", costs)
        }
    };
    let (fix, undo) = remedy(&shortage, &ports, &range);
    Ok(mended(finding, fix, undo))
}

/// What there are too few for; `None`: nothing.
fn shortage(ports: &LocalPorts, planned: &PlannedUse) -> Option<PortShortage> {
    if let Some(connections) = planned.connections.filter(|planned| *planned > ports.all) {
        return Some(PortShortage::AtOnce(connections));
    }
    if ports.reuse.holds_for(!planned.is_remote) {
        return None;
    }
    let kept = planned.connects_per_s.map(|per_s| per_s * KEPT_S as f64);
    if let Some(kept) = kept.filter(|kept| *kept > ports.all as f64) {
        return Some(PortShortage::Kept(kept as u64));
    }
    let is_used_up = ports.time_wait.saturating_mul(5) > 4 * ports.all;
    is_used_up.then_some(PortShortage::UsedUp)
}

/// What fails, and the price of the remedy, or why there is none.
fn costs_of(shortage: &PortShortage, ports: &LocalPorts) -> String {
    match shortage {
        PortShortage::AtOnce(connections) if *connections > WIDE_PORTS => format!(
            "{COSTS}. A wide range has {}: plan fewer connections, or take several addresses or a \
             Unix socket",
            count(WIDE_PORTS)
        ),
        PortShortage::AtOnce(_) => {
            format!("{COSTS}. A port of a server in the range may be taken before it starts")
        }
        _ if ports.reuse == PortReuse::Always => COSTS.to_owned(),
        _ => format!(
            "{COSTS}. With the remedy a port is used again after a second, which takes timestamps \
             of TCP at both ends"
        ),
    }
}

/// The command that mends it, and the one that undoes that; both empty where there is none.
fn remedy(shortage: &PortShortage, ports: &LocalPorts, range: &str) -> (String, String) {
    match shortage {
        PortShortage::AtOnce(connections) if *connections > WIDE_PORTS => Default::default(),
        PortShortage::AtOnce(_) => {
            // What stands behind them has not been read as numbers.
            let ends: Vec<&str> = range.split_whitespace().take(2).collect();
            let set = |range: &str| format!("sysctl -w net.ipv4.ip_local_port_range='{range}'");
            (set(WIDE), set(&ends.join(" ")))
        }
        PortShortage::Kept(_) | PortShortage::UsedUp => {
            let present = match ports.reuse {
                PortReuse::Never => 0,
                PortReuse::Loopback => 2,
                PortReuse::Always => return Default::default(),
            };
            let set = |value: u32| format!("sysctl -w net.ipv4.tcp_tw_reuse={value}");
            (set(1), set(present))
        }
    }
}
