//! The kernel's side on its way into the kernel. What a kernel refuses is found out by trying, and
//! left out where the rest can do without.

use super::kernel_features::{KernelFeatures, STAND_INS, THREAD_WALK};
use super::refusal::{self, kernel_error, refusal_error};
use super::stream::CaptureConfig;
use super::sum_layout::SUM_TABLES;
use crate::kernel_layout::capture::SettingsRecord;
use crate::trace::error::TraceError;
use crate::trace::privilege::rights::{KERNEL, missing};
use crate::trace::probes::server_probes::POOL;
use dbtime_model::traced_live::LiveConnection;
use libbpf_rs::{
    Iter, Link, Map, MapCore, Object, ObjectBuilder, OpenObject, ProgramMut, ProgramType,
};
use rustix::fs::{MemfdFlags, memfd_create};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Seek};
use std::os::fd::{AsFd, OwnedFd};
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

/// Features of programs that no probe runs: what a report lacks where one of them is refused.
const FEATURES: [(&[&str], &str); 12] = [
    (&THREADS, "the parts of responses"),
    (&[SAMPLER], "stacks on a CPU"),
    (&TIMERS, "which waits for locks a timer ended"),
    (&["on_bytes", "on_readable"], "how long requests lay in sockets"),
    (&["on_state"], "connections in TLS that ended, and ports of servers that start later"),
    (&["on_exec"], "servers that start later"),
    (&["on_fork"], "clients of PostgreSQL that come later"),
    (&["on_exit"], "processes of PostgreSQL that ended"),
    (&["iter_close"], POOL),
    (&[CONNECTION_WALK], LiveConnection::ACTIVITIES),
    (&STAND_INS[0].1, "what threads read beside one that was pre-empted"),
    (&STAND_INS[1].1, "what threads sent beside one that was pre-empted"),
];

/// The walk over connections that shows what each is at.
pub(crate) const CONNECTION_WALK: &str = "iter_snapshot";

/// The program of a sampled CPU.
pub(crate) const SAMPLER: &str = "on_sample";

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
    kernel: KernelFeatures,
    config: &CaptureConfig,
    change: impl Fn(&mut OpenObject),
) -> Result<(Object, LoadRefusal), TraceError> {
    let mut refused = LoadRefusal::new();
    loop {
        refusal::capture_log();
        let follows_threads = !lacks_parts(&refused);
        let mut open = open(config, &config.settings(follows_threads, kernel))?;
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
            // What lacks a feature may have all that these programs take.
            let refusal = |why| match KernelFeatures::find() {
                Ok(kernel) => kernel.without(&name, refusal_error(why)),
                Err(_) => refusal_error(why),
            };
            let link = program.attach().map_err(refusal)?;
            links.push((name, link));
        }
    }
    Ok(links)
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
    let why = |programs: &[&str]| programs.iter().find_map(|one| refused.get(*one)).cloned();
    FEATURES.into_iter().filter_map(|(programs, what)| Some((what, why(programs)?))).collect()
}

#[cfg(test)]
mod tests;
