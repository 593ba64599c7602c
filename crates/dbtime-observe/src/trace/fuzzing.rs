//! What `fuzz/` reaches of the readers here: of records and walks of the kernel's side, whose bytes
//! are clients', and of program files and catalogs, which are whoever's. And what tests of the
//! kernel's programs need to tell them how to work, and to read what they have counted.

use super::decode::literals::LiteralFilter;
use super::decode::naming::ServerNaming;
use super::decode::request_decoder::RequestDecoder;
use super::decode::sessions::TracedSessions;
use super::decode::walks;
use super::kernel::kernel_features::KernelFeatures;
use super::kernel::layout::server;
use super::kernel::stream::CaptureConfig;
use super::kernel::sum_layout::{add_counts, row, totals};
use super::postgres_files::relations::{databases, relations, shared_relations};
use super::probes::cache::cache_places;
use super::probes::commits::commit_places;
use super::probes::constants::ProgramConstants;
use super::probes::imports::ProgramImports;
use super::probes::portals::portal_probe_site;
use super::probes::program::ServerProgram;
use super::probes::texts::text_probe_site;
use super::probes::tls::{has_tls, tls_library};
use super::probes::tranches::tranches;
use super::probes::wait_event::wait_variable;
use super::probes::waits::wait_places;
use dbtime_model::WireProtocol;
use dbtime_model::traced::TracedRequest;
use dbtime_model::traced_ledger::TraceLedger;
use dbtime_model::traced_live::LiveConnection;
use dbtime_model::traced_totals::TraceTotals;
use std::collections::HashMap;
use std::fs::File;
use zerocopy::IntoBytes;

/// Requests of these records, in the order in which they are shown.
pub fn requests<'a>(records: impl Iterator<Item = &'a [u8]>) -> Vec<TracedRequest> {
    let mut decoder = RequestDecoder { sessions: raw_sessions(), ..RequestDecoder::default() };
    records.for_each(|record| decoder.put(record));
    decoder.drain(true)
}

/// Texts are as they were sent.
fn raw_sessions() -> TracedSessions {
    TracedSessions::new(LiteralFilter::new(true, None), false)
}

/// Connections of the snapshots that an iterator has written.
pub fn connections(records: &[u8]) -> Vec<LiveConnection> {
    walks::connections(records, &mut raw_sessions(), &mut ServerNaming::default())
}

/// Reads catalogs of PostgreSQL's: a map of files, and behind its 80 bytes a table that lists
/// others. Returns the names that were found.
pub fn catalog(bytes: &[u8]) -> Vec<String> {
    let (map, list) = bytes.split_at(bytes.len().min(80));
    let lists = [relations(list, map), shared_relations(list, map), databases(list)];
    lists.into_iter().flat_map(HashMap::into_values).collect()
}

/// Looks for all places in a program file.
pub fn program(file: &[u8]) {
    let Ok(program) = ServerProgram::parse(file) else { return };
    let Ok(any) = File::open("/dev/null") else { return };
    for protocol in [WireProtocol::Mysql, WireProtocol::Postgres] {
        let _ = text_probe_site(protocol, &any, &program);
    }
    let _ = portal_probe_site(&any, &program);
    let _ = (wait_places(&program), cache_places(&program), wait_variable(&program));
    let _ = (has_tls(&program), tls_library(&program));
    let _ = ProgramImports::parse(file).and_then(|imports| commit_places(&program, &imports));
    let _ = ProgramConstants::parse(file).and_then(|constants| tranches(&program, &constants));
}

/// How the kernel's programs are told to work, as they take it, on a kernel that finds threads by
/// their numbers and pre-empts them within programs, or not.
pub fn settings(
    stream: &CaptureConfig,
    follows_threads: bool,
    (finds_threads, preempts_programs): (bool, bool),
) -> Vec<u8> {
    let kernel = KernelFeatures { finds_threads, preempts_programs, ..KernelFeatures::default() };
    stream.settings(follows_threads, kernel).as_bytes().to_vec()
}

/// A row of the table of servers: one without probes.
pub fn server_row(protocol: WireProtocol) -> Vec<u8> {
    server(protocol, 0, false, false).as_bytes().to_vec()
}

/// The same of a server whose TLS library has probes.
pub fn encrypting_server_row(protocol: WireProtocol) -> Vec<u8> {
    server(protocol, 0, true, false).as_bytes().to_vec()
}

/// What one processor has counted.
pub fn ledger(row: &[u8]) -> TraceLedger {
    let mut ledger = TraceLedger::default();
    add_counts(&mut ledger, row);
    ledger
}

/// What statements of a shape have come to, and the number of that shape.
pub fn statement(key: &[u8], sums: &[u8]) -> Option<(u64, TraceTotals)> {
    Some((row(key)?.0.shape, totals(sums)?))
}
