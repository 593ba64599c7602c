//! The kernel's side on its way into the kernel. What a kernel refuses is found out by trying, and
//! left out where the rest can do without.

use super::refusal::{self, kernel, refused};
use super::stream::CaptureConfig;
use crate::trace::TraceError;
use crate::trace::decode::sums;
use crate::trace::privilege::helper::ProbeSites;
use crate::trace::privilege::rights::{KERNEL, missing};
use libbpf_rs::{
    Iter, Link, Map, MapCore, Object, ObjectBuilder, OpenObject, ProgramMut, ProgramType,
    UprobeMultiOpts,
};
use rustix::fs::{MemfdFlags, memfd_create};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Seek};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::PathBuf;
use zerocopy::IntoBytes;

/// The programs, as `bpf/build.sh` built them for this kind of machine.
#[cfg(target_arch = "x86_64")]
const OBJECT: &[u8] = include_bytes!("../../../bpf/built/capture.x86_64.bpf.o");
#[cfg(target_arch = "aarch64")]
const OBJECT: &[u8] = include_bytes!("../../../bpf/built/capture.aarch64.bpf.o");

/// Without these nothing is seen.
const NEEDED: [&str; 3] = ["on_receive", "on_send", "iter_final"];

/// Where responses went takes both.
pub(crate) const THREADS: [&str; 2] = ["on_switch", "on_waking"];

/// Which waits a timer ended takes both: where only its beginning is told of, every wait would be.
pub(crate) const TIMERS: [&str; 2] = ["on_timer", "on_timer_end"];

/// What is lost without programs that no probe runs.
const LOST: [(&str, &str); 11] = [
    ("on_switch", "where responses went"),
    ("on_waking", "where responses went"),
    ("on_timer", "which waits for locks a timer ended"),
    ("on_timer_end", "which waits for locks a timer ended"),
    ("on_bytes", "how long requests lay in sockets"),
    ("on_state", "connections in TLS that ended, and ports of servers that start later"),
    ("on_exec", "servers that start later"),
    ("on_fork", "clients of PostgreSQL that come later"),
    ("on_exit", "processes of PostgreSQL that ended"),
    ("iter_close", "requests of a pool of threads before their connections' next"),
    ("iter_snapshot", "what connections are at"),
];

/// What is not measured without a probe, and why there is none.
pub(crate) type LeftOut = (&'static str, String);

/// Programs that the kernel refused, and why.
pub(crate) type LoadRefusal = BTreeMap<String, String>;

/// Opens the programs and has the kernel load them; those that it refuses and that are not needed
/// are left out. `change` is made before.
///
/// # Errors
/// The kernel refuses what is needed, for want of a right or because it lacks something.
pub(crate) fn load(
    wanted: &CaptureConfig,
    change: impl Fn(&mut OpenObject),
) -> Result<(Object, LoadRefusal), TraceError> {
    let mut left_out = LoadRefusal::new();
    loop {
        refusal::listen();
        let mut open = open(wanted, !THREADS.iter().any(|one| left_out.contains_key(*one)))?;
        change(&mut open);
        for mut program in open.progs_mut() {
            if left_out.contains_key(&*program.name().to_string_lossy()) {
                program.set_autoload(false);
            }
        }
        let error = match open.load() {
            Ok(object) => return Ok((object, left_out)),
            Err(error) => error,
        };
        let Some((program, why)) = refusal::program().filter(|_| missing(&KERNEL).is_empty())
        else {
            return Err(refused(error));
        };
        if NEEDED.contains(&&*program) || left_out.contains_key(&program) {
            return Err(refused(error));
        }
        left_out.extend(with_partners(program).into_iter().map(|one| (one, why.clone())));
    }
}

/// Programs that are of no use without this one, and itself.
fn with_partners(program: String) -> Vec<String> {
    let partners = [THREADS, TIMERS].into_iter().find(|all| all.contains(&&*program));
    partners.map_or_else(|| vec![program], |all| all.map(str::to_owned).to_vec())
}

/// The tables of what another process has loaded, in the order of the object file: without the
/// programs, which stay there. It takes CAP_BPF, for the library tries a program of its own.
///
/// # Errors
/// They are not those of this object file.
pub(crate) fn tables(wanted: &CaptureConfig, loaded: &[OwnedFd]) -> Result<Object, TraceError> {
    refusal::listen();
    let mut open = open(wanted, true)?;
    for mut program in open.progs_mut() {
        program.set_autoload(false);
    }
    let mut loaded = loaded.iter();
    for mut map in open.maps_mut() {
        let table = loaded.next().ok_or_else(|| lacks("table"))?;
        map.reuse_fd(table.as_fd()).map_err(kernel)?;
    }
    open.load().map_err(refused)
}

pub(crate) fn map<'a>(object: &'a Object, name: &str) -> Result<Map<'a>, TraceError> {
    let found = object.maps().find(|map| map.name() == name);
    found.ok_or_else(|| lacks(&format!("map `{name}`")))
}

fn program<'a>(object: &'a mut Object, name: &str) -> Result<ProgramMut<'a>, TraceError> {
    let found = object.progs_mut().find(|program| program.name() == name);
    found.ok_or_else(|| lacks(&format!("program `{name}`")))
}

fn lacks(what: &str) -> TraceError {
    TraceError::Kernel(format!("it lacks the {what}"))
}

fn open(wanted: &CaptureConfig, follows_threads: bool) -> Result<OpenObject, TraceError> {
    let mut open = ObjectBuilder::default().open_memory(OBJECT).map_err(kernel)?;
    for mut map in open.maps_mut() {
        let name = map.name().to_string_lossy().into_owned();
        if name == "stream" {
            map.set_max_entries(wanted.buffer).map_err(kernel)?;
        } else if sums::TABLES.contains(&name.as_str()) && !wanted.adds_up {
            // Room that is not used takes memory and time all the same.
            map.set_max_entries(1).map_err(kernel)?;
        }
    }
    // The library puts the object's name before it.
    let is_constants = |name: &std::ffi::OsStr| name.to_string_lossy().ends_with(".rodata");
    let constants = open.maps_mut().find(|map| is_constants(map.name()));
    let mut constants = constants.ok_or_else(|| lacks("map `.rodata`"))?;
    constants.set_initial_value(wanted.settings(follows_threads).as_bytes()).map_err(kernel)?;
    Ok(open)
}

/// Attaches the programs that are told of what goes on in the kernel, each under its name.
///
/// # Errors
/// The kernel refuses.
pub(crate) fn attach(
    object: &mut Object,
    left_out: &LoadRefusal,
) -> Result<Vec<(String, Link)>, TraceError> {
    let mut links = Vec::new();
    for program in object.progs_mut().filter(|one| one.prog_type() == ProgramType::Tracing) {
        let name = program.name().to_string_lossy().into_owned();
        let is_told = program.section().to_string_lossy().starts_with("tp_btf/");
        if is_told && !left_out.contains_key(&name) {
            links.push((name, program.attach().map_err(refused)?));
        }
    }
    Ok(links)
}

/// Attaches a program to places in a file, in every process that runs it.
///
/// # Errors
/// The kernel refuses, for people.
pub(crate) fn attach_places(
    object: &mut Object,
    places: &ProbeSites,
    file: &File,
) -> Result<Link, String> {
    let program = program(object, &places.program).map_err(|error| error.to_string())?;
    let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    let wanted = UprobeMultiOpts {
        offsets: places.offsets.clone(),
        cookies: places.cookies.clone(),
        retprobe: places.at_return,
        ..UprobeMultiOpts::default()
    };
    program.attach_uprobe_multi_with_opts(-1, path, "", wanted).map_err(|error| error.to_string())
}

/// Walks over all connections with a program; a file with what it has said, where that is
/// anything.
///
/// # Errors
/// The kernel does not let it.
pub(crate) fn walk(object: &mut Object, name: &str) -> Result<Option<File>, TraceError> {
    let link = program(object, name)?.attach().map_err(refused)?;
    let mut walk = Iter::new(&link).map_err(kernel)?;
    let mut said = File::from(memfd_create("said", MemfdFlags::CLOEXEC).map_err(kernel)?);
    let length = io::copy(&mut walk, &mut said).map_err(kernel)?;
    said.rewind().map_err(kernel)?;
    Ok((length > 0).then_some(said))
}

/// What is not there without them.
pub(crate) fn lost(left_out: &LoadRefusal) -> Vec<LeftOut> {
    let mut lost = Vec::<LeftOut>::new();
    for (program, what) in LOST {
        let Some(why) = left_out.get(program) else { continue };
        if !lost.iter().any(|(known, _)| *known == what) {
            lost.push((what, why.clone()));
        }
    }
    lost
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::sync::Mutex;

    /// Has programs be what may not do what they do; `None` where the kernel permits no eBPF.
    fn loaded_without(names: &[&str]) -> Option<Result<LoadRefusal, TraceError>> {
        let change = |open: &mut OpenObject| {
            for mut program in open.progs_mut() {
                if names.contains(&&*program.name().to_string_lossy()) {
                    program.set_prog_type(ProgramType::SocketFilter);
                }
            }
        };
        if !missing(&KERNEL).is_empty() {
            assert!(std::env::var_os("CI").is_none(), "eBPF has to be permitted here");
            // The test harness would hide what is printed.
            let _ = io::stderr().write_all(b"NOT TESTED: no eBPF here\n");
            return None;
        }
        // What the library says is heard by one at a time.
        static ONE: Mutex<()> = Mutex::new(());
        let _one = ONE.lock();
        let stream = CaptureConfig { is_on: true, buffer: 64 << 10, ..CaptureConfig::default() };
        Some(load(&stream, change).map(|(_, left_out)| left_out))
    }

    #[test]
    fn what_a_kernel_refuses_is_left_out_and_named() {
        let Some(left_out) = loaded_without(&["on_waking", "on_tls_write", "iter_snapshot"]) else {
            return;
        };
        let left_out = left_out.expect("the rest is there");
        let names: Vec<&str> = left_out.keys().map(String::as_str).collect();
        assert_eq!(names, ["iter_snapshot", "on_switch", "on_tls_write", "on_waking"]);
        assert!(left_out["on_waking"].contains("on_waking"), "{left_out:?}");
        let lost = lost(&left_out);
        let what: Vec<&str> = lost.iter().map(|(what, _)| *what).collect();
        assert_eq!(what, ["where responses went", "what connections are at"]);
    }

    #[test]
    fn what_is_of_no_use_alone_goes_with_its_partner() {
        assert_eq!(with_partners("on_timer_end".to_owned()), TIMERS);
        assert_eq!(with_partners("iter_snapshot".to_owned()), ["iter_snapshot"]);
    }

    #[test]
    fn what_is_needed_is_not_left_out() {
        let Some(refused) = loaded_without(&["on_send"]) else { return };
        let refused = refused.expect_err("it is needed").to_string();
        assert!(refused.contains("on_send"), "{refused}");
    }
}
