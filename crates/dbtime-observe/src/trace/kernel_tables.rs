//! Tables that the kernel's programs look into: which servers are watched, and how.

use super::TraceError;
use super::layout;
use super::loading::map;
use super::probes::Known;
use super::refusal::kernel;
use super::servers::{TracedServer, is_here};
use dbtime_model::WireProtocol;
use libbpf_rs::{MapCore, MapFlags, Object};

/// How often a thread left a request that it had answered and that is not known to be over.
pub(super) fn departures(object: &Object) -> Result<u64, TraceError> {
    let counts = map(object, "departures")?.lookup(&0u32.to_ne_bytes(), MapFlags::ANY);
    let count = counts.map_err(kernel)?;
    Ok(count.and_then(|count| count.first_chunk().copied()).map_or(0, u64::from_ne_bytes))
}

/// Tells the kernel's side of a server's processes and ports.
pub(super) fn name(
    object: &Object,
    server: &TracedServer,
    known: &Known,
) -> Result<(), TraceError> {
    let row =
        |is_child| layout::server(server.protocol, known.wait_event, known.hears_tls, is_child);
    // Those that have ended meanwhile would never be forgotten.
    for process in server.processes.iter().copied().filter(|process| is_here(*process)) {
        let row = row(process != server.process);
        write(object, "servers", &process.to_ne_bytes(), &row)?;
    }
    for port in &server.ports {
        write(object, "ports", &port.to_ne_bytes(), &[1])?;
    }
    Ok(())
}

/// Tells the kernel's side what programs of servers are called.
pub(super) fn name_programs(object: &Object) -> Result<(), TraceError> {
    let protocols = [WireProtocol::Mysql, WireProtocol::Postgres];
    for program in protocols.into_iter().flat_map(WireProtocol::programs) {
        let mut name = [0; 16];
        name[..program.len()].copy_from_slice(program.as_bytes());
        write(object, "programs", &name, &[1])?;
    }
    Ok(())
}

pub(super) fn write(
    object: &Object,
    name: &str,
    key: &[u8],
    value: &[u8],
) -> Result<(), TraceError> {
    map(object, name)?.update(key, value, MapFlags::ANY).map_err(kernel)
}
