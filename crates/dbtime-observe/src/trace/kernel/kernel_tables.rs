//! Tables that the kernel's programs look into: which servers are watched, and how.

use super::layout;
use super::loading::map;
use super::refusal::kernel_error;
use crate::kernel_layout::capture::ThreadName;
use crate::kernel_layout::{padded, read_record};
use crate::trace::error::TraceError;
use crate::trace::probes::server_probes::ProgramFacts;
use crate::trace::servers::{TracedServer, is_here};
use dbtime_model::WireProtocol;
use libbpf_rs::{MapCore, MapFlags, Object};
use zerocopy::{FromBytes, IntoBytes};

/// How often a thread left a request that it had answered and that is not known to be over.
pub(crate) fn departures(object: &Object) -> Result<u64, TraceError> {
    single(object, "departures")
}

/// What stands in a table of one row; the default where that is too short.
pub(crate) fn single<T: FromBytes + Default>(object: &Object, name: &str) -> Result<T, TraceError> {
    let row =
        map(object, name)?.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).map_err(kernel_error)?;
    Ok(row.as_deref().and_then(read_record).unwrap_or_default())
}

/// Tells the kernel's side of a server's processes and ports.
pub(crate) fn name(
    object: &Object,
    server: &TracedServer,
    known: &ProgramFacts,
) -> Result<(), TraceError> {
    let row = |is_child| {
        layout::server(server.protocol, known.wait_event, known.has_tls_probes, is_child)
    };
    // Those that have ended meanwhile would never be forgotten.
    for process in server.processes.iter().copied().filter(|process| is_here(*process)) {
        let row = row(process != server.process);
        write(object, "servers", process.as_bytes(), row.as_bytes())?;
    }
    for port in &server.ports {
        write(object, "ports", port.as_bytes(), &[1])?;
    }
    Ok(())
}

/// Tells the kernel's side what programs of servers are called.
pub(crate) fn write_program_names(object: &Object) -> Result<(), TraceError> {
    let protocols = [WireProtocol::Mysql, WireProtocol::Postgres];
    for program in protocols.into_iter().flat_map(WireProtocol::programs) {
        let name = ThreadName { text: padded(program) };
        write(object, "programs", name.as_bytes(), &[1])?;
    }
    Ok(())
}

pub(crate) fn write(
    object: &Object,
    name: &str,
    key: &[u8],
    value: &[u8],
) -> Result<(), TraceError> {
    map(object, name)?.update(key, value, MapFlags::ANY).map_err(kernel_error)
}
