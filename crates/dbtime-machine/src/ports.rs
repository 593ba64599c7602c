//! Local TCP ports, which bound how many connections can be made.

/// Local TCP ports: how many there are, and how many closed connections still hold one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LocalPorts {
    /// Ports the kernel gives to connections (`net.ipv4.ip_local_port_range`).
    pub all: u64,
    /// Closed connections in TIME_WAIT, machine-wide (`/proc/net/sockstat`).
    pub time_wait: u64,
    /// Whether their ports are used again before the minute is over (`net.ipv4.tcp_tw_reuse`).
    pub reuse: PortReuse,
}

/// Which ports in TIME_WAIT are used again after a second (kernel, `ip-sysctl.rst`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PortReuse {
    /// None.
    #[default]
    Never,
    /// Those of connections within this machine.
    Loopback,
    /// All.
    Always,
}

impl PortReuse {
    /// Whether it holds for connections within this machine, or to another one.
    pub fn holds_for(self, is_local: bool) -> bool {
        self == Self::Always || self == Self::Loopback && is_local
    }
}

/// The ports of this machine now; zero where the kernel does not show them.
pub fn local_ports() -> LocalPorts {
    ports_in(|path| std::fs::read_to_string(path).unwrap_or_default())
}

/// The ports by the kernel's files, which `read` has the texts of; empty: it is not there.
pub fn ports_in(read: impl Fn(&str) -> String) -> LocalPorts {
    let range = read("/proc/sys/net/ipv4/ip_local_port_range");
    let mut ends = range.split_whitespace().map_while(|text| text.parse::<u64>().ok());
    let length = |(low, high): (u64, u64)| high.saturating_add(1).saturating_sub(low);
    let all = ends.next().zip(ends.next()).map_or(0, length);
    let sockets = read("/proc/net/sockstat");
    let tcp = sockets.lines().find(|line| line.starts_with("TCP:")).unwrap_or_default();
    let mut words = tcp.split_whitespace().skip_while(|word| *word != "tw").skip(1);
    let time_wait = words.next().and_then(|text| text.parse().ok()).unwrap_or(0);
    let reuse = match read("/proc/sys/net/ipv4/tcp_tw_reuse").trim() {
        "1" => PortReuse::Always,
        "2" => PortReuse::Loopback,
        _ => PortReuse::Never,
    };
    LocalPorts { all, time_wait, reuse }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_has_ports() {
        let ports = local_ports();
        assert!((1..=65_536).contains(&ports.all), "{ports:?}");
    }

    #[test]
    fn what_is_used_again_depends_on_where_it_goes() {
        let holds = |reuse: PortReuse| [reuse.holds_for(true), reuse.holds_for(false)];
        assert_eq!(holds(PortReuse::Never), [false, false]);
        assert_eq!(holds(PortReuse::Loopback), [true, false]);
        assert_eq!(holds(PortReuse::Always), [true, true]);
    }
}
