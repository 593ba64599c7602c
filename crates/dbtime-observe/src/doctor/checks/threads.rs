//! Threads and processes: whether there may be one for each connection.

use super::super::control_groups::group_files;
use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse, mended};
use dbtime_model::doctor::DoctorFinding;
use dbtime_model::shell::quoted;
use dbtime_model::units::count;
use rustix::thread::CapabilitySet;

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame = FindingFrame::of_machine(
    "threads",
    "kernel.threads-max, kernel.pid_max, pids.max and pids.current of the control groups of \
     dbtime, Max processes in /proc/self/limits",
    "one for each connection, and 64 more",
);

/// What driver and server have besides.
const BESIDES: u64 = 64;

/// The most that the kernel has numbers for (proc(5), `pid_max`).
const MOST: u64 = 1 << 22;

/// A limit.
struct ThreadLimit {
    /// How many there may be.
    most: u64,
    /// How many of them there are, as far as that is counted.
    used: u64,
    /// Whose it is.
    place: String,
    /// The command that raises it to another number.
    raise: Box<dyn Fn(u64) -> String>,
    /// The command that brings back the present one.
    undo: String,
}

impl ThreadLimit {
    fn room(&self) -> u64 {
        self.most.saturating_sub(self.used)
    }

    fn value(&self) -> String {
        let used = match self.used {
            0 => String::new(),
            used => format!(", {} of them there", count(used)),
        };
        format!("{} threads and processes{used}", count(self.most))
    }
}

fn find(tree: &MachineTree, planned: &PlannedUse) -> CheckResult {
    let mut limits = vec![of_kernel(tree, "threads-max")?];
    limits.extend(of_kernel(tree, "pid_max"));
    limits.extend(of_groups(tree));
    limits.extend(of_user(tree));
    let tightest = limits.iter().min_by_key(|limit| limit.room()).ok_or("there is no limit")?;
    // A server elsewhere has its threads there.
    let connections = planned.connections.filter(|_| !planned.is_remote);
    let needed = connections.unwrap_or(0).saturating_add(BESIDES);
    if tightest.room() >= needed {
        return Ok(FRAME.good(tightest.value(), "there may be one for each connection"));
    }
    Ok(too_few(tightest, needed))
}

/// That a limit leaves room for fewer than are needed.
fn too_few(limit: &ThreadLimit, needed: u64) -> DoctorFinding {
    let because = format!("{} may be needed, and {} has less", count(needed), limit.place);
    let finding = FRAME.bad(
        limit.value(),
        because,
        "connections fail, or the driver's threads cannot start: EAGAIN of clone(2). Fewer \
         --workers, or a server with a pool of threads, need none. The remedy has no price but \
         that a program which starts threads without end is stopped later",
    );
    let wide = needed.saturating_add(limit.used);
    match wide <= MOST {
        true => mended(finding, (limit.raise)(wide), limit.undo.as_str()),
        false => finding,
    }
}

fn of_kernel(tree: &MachineTree, name: &str) -> Result<ThreadLimit, String> {
    let most = tree.number(&format!("proc/sys/kernel/{name}"))?;
    let place = format!("kernel.{name}");
    let name = place.clone();
    let set = move |most: u64| format!("sysctl -w {name}={most}");
    Ok(ThreadLimit { most, used: 0, place, undo: set(most), raise: Box::new(set) })
}

/// Those of the process's control groups.
fn of_groups(tree: &MachineTree) -> Vec<ThreadLimit> {
    let files = group_files(tree, "pids", ["pids.max"; 2]).unwrap_or_default();
    let limit = |path: String| {
        let most = tree.number(&path).ok()?;
        let used = path.strip_suffix("max").map(|path| tree.number(&format!("{path}current")));
        let used = used.and_then(Result::ok).unwrap_or(0);
        let place = format!("/{path}");
        // A group may have any name, and the command may be run as root.
        let file = quoted(&place).into_owned();
        let set = move |most: u64| format!("echo {most} > {file}");
        Some(ThreadLimit { most, used, place, undo: set(most), raise: Box::new(set) })
    };
    files.into_iter().filter_map(limit).collect()
}

/// That of the user, which binds neither root nor one with its rights (getrlimit(2)).
fn of_user(tree: &MachineTree) -> Option<ThreadLimit> {
    let status = tree.text("proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let rights = line.and_then(|line| u64::from_str_radix(line.trim(), 16).ok()).unwrap_or(0);
    let freed = CapabilitySet::SYS_RESOURCE | CapabilitySet::SYS_ADMIN;
    if CapabilitySet::from_bits_retain(rights).intersects(freed) {
        return None;
    }
    let limits = tree.text("proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max processes"))?;
    let mut words = line.split_whitespace();
    let most: u64 = words.next()?.parse().ok()?;
    // `None`: without limit.
    let hard: Option<u64> = match words.next()? {
        "unlimited" => None,
        word => Some(word.parse().ok()?),
    };
    let set = move |soft: u64| {
        let hard = hard.map_or("unlimited".to_owned(), |hard| hard.max(soft).to_string());
        format!("# as root, in the shell of dbtime: prlimit --pid $$ --nproc={soft}:{hard}")
    };
    let place = "the limit of this user (ulimit -u)".to_owned();
    Some(ThreadLimit { most, used: 0, place, undo: set(most), raise: Box::new(set) })
}
