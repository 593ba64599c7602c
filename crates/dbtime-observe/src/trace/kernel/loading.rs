//! The kernel's side on its way into the kernel. What a kernel refuses is found out by trying, and
//! left out where the rest can do without.

use super::kernel_features::{KernelFeatures, THREAD_WALK};
use super::refusal::{self, kernel_error, refusal_error};
use super::stream::CaptureConfig;
use super::sum_layout::SUM_TABLES;
use crate::kernel_layout::capture::SettingsRecord;
use crate::trace::error::TraceError;
use crate::trace::privilege::rights::{KERNEL, missing};
use libbpf_rs::{
    Iter, Link, Map, MapCore, Object, ObjectBuilder, OpenObject, ProgramMut, ProgramType,
};
use rustix::fs::{MemfdFlags, memfd_create};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Seek};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use zerocopy::IntoBytes;

/// The programs, as `bpf/build.sh` built them for this kind of machine.
#[cfg(target_arch = "x86_64")]
const OBJECT: &[u8] = include_bytes!("../../../bpf/built/capture.x86_64.bpf.o");
#[cfg(target_arch = "aarch64")]
const OBJECT: &[u8] = include_bytes!("../../../bpf/built/capture.aarch64.bpf.o");

/// Where responses went takes both.
pub(crate) const THREADS: [&str; 2] = ["on_switch", "on_waking"];

/// Which waits a timer ended takes both: where only its beginning is told of, every wait would be.
pub(crate) const TIMERS: [&str; 2] = ["on_timer", "on_timer_end"];

/// What the scheduler's programs tell.
const PARTS: &str = "where responses went";

/// Features of programs that no probe runs: what a report lacks without each.
const FEATURES: [(&str, &str); 13] = [
    ("on_switch", PARTS),
    ("on_waking", PARTS),
    (SAMPLER, "stacks on a CPU"),
    ("on_timer", "which waits for locks a timer ended"),
    ("on_timer_end", "which waits for locks a timer ended"),
    ("on_bytes", "how long requests lay in sockets"),
    ("on_readable", "how long requests lay in sockets"),
    ("on_state", "connections in TLS that ended, and ports of servers that start later"),
    ("on_exec", "servers that start later"),
    ("on_fork", "clients of PostgreSQL that come later"),
    ("on_exit", "processes of PostgreSQL that ended"),
    ("iter_close", "requests of a pool of threads before their connections' next"),
    ("iter_snapshot", "what connections are at"),
];

/// The program of a sampled CPU.
pub(crate) const SAMPLER: &str = "on_sample";

/// Tables of stacks.
const STACK_TABLES: [&str; 2] = ["stacks", "scratch_stack"];

/// The table that the walk over threads fills.
const WALKED: &str = "serving";

/// Tables that are filled beside a run.
const DRIVER_TABLES: [&str; 2] = ["client_ends", "client_names"];

/// A feature that this kernel or server does not give, and why.
pub(crate) type UnavailableFeature = (&'static str, String);

/// Programs that the kernel refused, and why.
pub(crate) type LoadRefusal = BTreeMap<String, String>;

/// Opens the programs and has the kernel load those that are for a kernel like it; what it refuses
/// and what is not needed is left out. `change` is made before.
///
/// # Errors
/// The kernel refuses what is needed, for want of a right or because it lacks something.
pub(crate) fn load(
    config: &CaptureConfig,
    change: impl Fn(&mut OpenObject),
) -> Result<(Object, LoadRefusal), TraceError> {
    let kernel = KernelFeatures::find()?;
    let mut refused = LoadRefusal::new();
    loop {
        refusal::capture_log();
        let follows_threads = !lacks_parts(&refused);
        let mut open = open(config, &config.settings(follows_threads, kernel.finds_threads))?;
        change(&mut open);
        for mut program in open.progs_mut() {
            let name = program.name().to_string_lossy();
            let is_of_use = kernel.takes(&name) && (name != SAMPLER || config.stacks);
            if !is_of_use || refused.contains_key(&*name) {
                program.set_autoload(false);
            }
        }
        let error = match open.load() {
            Ok(object) => return Ok((object, refused)),
            Err(error) => error,
        };
        let Some((program, why)) =
            refusal::refused_program().filter(|_| missing(&KERNEL).is_empty())
        else {
            return Err(refusal_error(error));
        };
        if kernel.needs(&program) || refused.contains_key(&program) {
            return Err(kernel.without(&program, refusal_error(error)));
        }
        refused.extend(with_partners(program).into_iter().map(|one| (one, why.clone())));
    }
}

/// Whether no program tells where responses went.
pub(crate) fn lacks_parts(refused: &LoadRefusal) -> bool {
    THREADS.iter().any(|one| refused.contains_key(*one))
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
pub(crate) fn tables(config: &CaptureConfig, loaded: &[OwnedFd]) -> Result<Object, TraceError> {
    refusal::capture_log();
    // What the programs were told is in one of the tables already.
    let mut open = open(config, &SettingsRecord::default())?;
    for mut program in open.progs_mut() {
        program.set_autoload(false);
    }
    let mut loaded = loaded.iter();
    for mut map in open.maps_mut() {
        let table = loaded.next().ok_or_else(|| lacks("table"))?;
        map.reuse_fd(table.as_fd()).map_err(kernel_error)?;
    }
    open.load().map_err(refusal_error)
}

pub(crate) fn map<'a>(object: &'a Object, name: &str) -> Result<Map<'a>, TraceError> {
    let found = object.maps().find(|map| map.name() == name);
    found.ok_or_else(|| lacks(&format!("map `{name}`")))
}

pub(super) fn program<'a>(
    object: &'a mut Object,
    name: &str,
) -> Result<ProgramMut<'a>, TraceError> {
    let found = object.progs_mut().find(|program| program.name() == name);
    found.ok_or_else(|| lacks(&format!("program `{name}`")))
}

fn lacks(what: &str) -> TraceError {
    TraceError::Kernel(format!("it lacks the {what}"))
}

fn open(config: &CaptureConfig, settings: &SettingsRecord) -> Result<OpenObject, TraceError> {
    let mut open = ObjectBuilder::default().open_memory(OBJECT).map_err(kernel_error)?;
    for mut map in open.maps_mut() {
        let name = map.name().to_string_lossy().into_owned();
        if name == "stream" {
            map.set_max_entries(config.buffer).map_err(kernel_error)?;
        } else if has_no_rows(config, &name) || name == WALKED && settings.finds_threads > 0 {
            // Room that is not used takes memory and time all the same.
            map.set_max_entries(1).map_err(kernel_error)?;
        }
    }
    // The library puts the object's name before it.
    let is_constants = |name: &std::ffi::OsStr| name.to_string_lossy().ends_with(".rodata");
    let constants = open.maps_mut().find(|map| is_constants(map.name()));
    let mut constants = constants.ok_or_else(|| lacks("map `.rodata`"))?;
    constants.set_initial_value(settings.as_bytes()).map_err(kernel_error)?;
    Ok(open)
}

/// Whether nothing is written to this table.
fn has_no_rows(config: &CaptureConfig, table: &str) -> bool {
    SUM_TABLES.contains(&table) && !config.adds_up
        || DRIVER_TABLES.contains(&table) && config.driver.is_none()
        || STACK_TABLES.contains(&table) && !config.stacks
}

/// Attaches the programs that are told of what goes on in the kernel, each under its name.
///
/// # Errors
/// The kernel refuses.
pub(crate) fn attach(
    object: &mut Object,
    refused: &LoadRefusal,
) -> Result<Vec<(String, Link)>, TraceError> {
    let mut links = Vec::new();
    for program in object.progs_mut().filter(|one| one.prog_type() == ProgramType::Tracing) {
        let name = program.name().to_string_lossy().into_owned();
        let is_event = !program.section().to_string_lossy().starts_with("iter/");
        // What was not loaded has no place to be attached to.
        if is_event && program.autoload() && !refused.contains_key(&name) {
            links.push((name, program.attach().map_err(refusal_error)?));
        }
    }
    Ok(links)
}

/// How many events no program was run for, as far as that loses anything: the kernel leaves a
/// program out where another thread is within it on the same CPU.
///
/// # Errors
/// The kernel does not tell.
pub(crate) fn missed_events(object: &Object) -> Result<u64, TraceError> {
    let kernel = KernelFeatures::find()?;
    let is_lossy = |one: &libbpf_rs::Program<'_>| {
        one.autoload() && kernel.loses_without(&one.name().to_string_lossy())
    };
    object.progs().filter(is_lossy).map(|one| missed_runs(one.as_fd())).sum()
}

/// How often the kernel has left a program out.
fn missed_runs(program: BorrowedFd<'_>) -> Result<u64, TraceError> {
    let fields = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", program.as_raw_fd()));
    let fields = fields.map_err(kernel_error)?;
    let missed = fields.lines().find_map(|line| line.strip_prefix("recursion_misses:"));
    let missed = missed.and_then(|missed| missed.trim().parse().ok());
    missed.ok_or_else(|| kernel_error("it does not tell how often it has left programs out"))
}

/// Runs an iterator over all connections, and where it takes that, the one over all threads before
/// it; returns a file with its output, where there is any.
///
/// # Errors
/// The kernel does not let it.
pub(crate) fn walk(object: &mut Object, name: &str) -> Result<Option<File>, TraceError> {
    if program(object, THREAD_WALK)?.autoload() {
        iterate(object, THREAD_WALK)?;
    }
    iterate(object, name)
}

fn iterate(object: &mut Object, name: &str) -> Result<Option<File>, TraceError> {
    let link = program(object, name)?.attach().map_err(refusal_error)?;
    let mut walk = Iter::new(&link).map_err(kernel_error)?;
    let mut output =
        File::from(memfd_create("dbtime-walk", MemfdFlags::CLOEXEC).map_err(kernel_error)?);
    let length = io::copy(&mut walk, &mut output).map_err(kernel_error)?;
    output.rewind().map_err(kernel_error)?;
    Ok((length > 0).then_some(output))
}

/// The features that a report lacks without these programs.
pub(crate) fn unavailable_features(refused: &LoadRefusal) -> Vec<UnavailableFeature> {
    let mut features = Vec::<UnavailableFeature>::new();
    for (program, what) in FEATURES {
        let Some(why) = refused.get(program) else { continue };
        if !features.iter().any(|(known, _)| *known == what) {
            features.push((what, why.clone()));
        }
    }
    features
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::sync::{Mutex, MutexGuard, PoisonError};
    use std::time::{Duration, Instant};

    fn is_permitted() -> bool {
        let is_permitted = missing(&KERNEL).is_empty();
        if !is_permitted {
            assert!(std::env::var_os("CI").is_none(), "eBPF has to be permitted here");
            // The test harness would hide what is printed.
            let _ = io::stderr().write_all(b"NOT TESTED: no eBPF here\n");
        }
        is_permitted
    }

    /// What the library says is heard by one at a time.
    fn one_at_a_time() -> MutexGuard<'static, ()> {
        static ONE: Mutex<()> = Mutex::new(());
        ONE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has programs be what may not do what they do; `None` where the kernel permits no eBPF.
    fn loaded_without(names: &[&str]) -> Option<Result<LoadRefusal, TraceError>> {
        let change = |open: &mut OpenObject| {
            for mut program in open.progs_mut() {
                if names.contains(&&*program.name().to_string_lossy()) {
                    program.set_prog_type(ProgramType::SocketFilter);
                }
            }
        };
        if !is_permitted() {
            return None;
        }
        let _one = one_at_a_time();
        let config = CaptureConfig { is_on: true, buffer: 64 << 10, ..CaptureConfig::default() };
        Some(load(&config, change).map(|(_, refused)| refused))
    }

    /// Settings are constants to the verifier: each leaves other code to be looked at.
    fn all_configs() -> impl Iterator<Item = CaptureConfig> {
        [0, 3, 4, 7].into_iter().map(|bits| CaptureConfig {
            is_on: bits & 1 > 0,
            adds_up: bits & 2 > 0,
            stacks: bits & 4 > 0,
            driver: (bits & 4 > 0).then_some(1),
            follows_unix: bits & 1 > 0,
            follows_new: bits & 2 > 0,
            user: (bits & 4 > 0).then(|| "u".to_owned()),
            buffer: 64 << 10,
            ..CaptureConfig::default()
        })
    }

    #[test]
    fn every_program_is_taken_by_this_kernel() {
        if is_permitted() {
            let _one = one_at_a_time();
            for config in all_configs() {
                let (_, refused) = load(&config, |_| {}).expect("it is loaded");
                assert_eq!(refused, LoadRefusal::new(), "{config:?}");
            }
        }
    }

    /// Prints how many instructions the verifier went through and how long loading took, of which
    /// `scripts/kernels/test.sh` makes a table.
    #[test]
    fn each_program_is_taken_alone() {
        if !is_permitted() {
            return;
        }
        let _one = one_at_a_time();
        let config = all_configs().last().expect("there are some");
        let (object, _) = load(&config, |_| {}).expect("it is loaded");
        let loaded = object.progs().filter(libbpf_rs::Program::autoload);
        let names: Vec<_> = loaded.map(|one| one.name().to_owned()).collect();
        drop(object);
        let without = time_to_load(&config, "").0;
        for name in names {
            let name = name.to_string_lossy();
            let (time, object) = time_to_load(&config, &name);
            let took = time.saturating_sub(without).as_secs_f64() * 1e3;
            let line = format!("verified {name} {} {took:.1}\n", instructions(&name));
            let _ = io::stderr().write_all(line.as_bytes());
            drop(object);
        }
    }

    /// How long it takes to load this program alone.
    fn time_to_load(config: &CaptureConfig, name: &str) -> (Duration, Object) {
        let kernel = KernelFeatures::find().expect("it has enough");
        let mut open = open(config, &config.settings(true, kernel.finds_threads)).expect("opened");
        for mut program in open.progs_mut() {
            let is_it = program.name() == name;
            program.set_autoload(is_it);
        }
        let begun = Instant::now();
        let object = open.load().expect("it is loaded");
        (begun.elapsed(), object)
    }

    /// Of a program that is loaded now. The kernel keeps the beginning of its name.
    fn instructions(name: &str) -> u32 {
        let known = libbpf_rs::query::ProgInfoIter::default();
        let is_it = |known: &str| !known.is_empty() && name.starts_with(known);
        let found = known.filter(|one| is_it(&one.name.to_string_lossy()));
        found.map(|one| one.verified_insns).max().expect("it is known")
    }

    #[test]
    fn what_a_kernel_refuses_is_left_out_and_named() {
        let Some(refused) = loaded_without(&["on_waking", "on_tls_write", "iter_snapshot"]) else {
            return;
        };
        let refused = refused.expect("the rest is there");
        let names: Vec<&str> = refused.keys().map(String::as_str).collect();
        assert_eq!(names, ["iter_snapshot", "on_switch", "on_tls_write", "on_waking"]);
        assert!(refused["on_waking"].contains("on_waking"), "{refused:?}");
        let features = unavailable_features(&refused);
        let what: Vec<&str> = features.iter().map(|(what, _)| *what).collect();
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
