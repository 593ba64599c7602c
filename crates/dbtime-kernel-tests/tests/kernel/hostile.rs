//! Bytes that nobody means well: random ones, and what servers and clients say with some of it
//! changed. Programs stay within what is theirs (the simulated kernel and the sanitizers look),
//! come to an end, and account for everything.

use super::conversation::{Conversation, ConversationTurn};
use super::server::WatchedServer;
use super::{mysql, postgres};
use dbtime_model::WireProtocol;
use dbtime_observe::trace::CaptureConfig;
use dbtime_observe::trace::fuzzing::connections;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// What happens to a server's connection.
#[derive(Clone, Debug)]
enum HostileAct {
    Reads(Vec<u8>),
    Sends(Vec<u8>),
    FindsNothing,
    FindsTheEnd,
    /// Bytes come, and so many are not read yet.
    ComeIn(u32),
    /// The read of memory with this number from here on fails.
    Fails(u64),
    /// The stream has room again, or no longer.
    Fills(bool),
    MakesPortal,
    Looks,
    Sweeps,
    Passes(u64),
}

/// Pieces of what is said in earnest, some bytes of it changed.
fn pieces(protocol: WireProtocol) -> impl Strategy<Value = Vec<u8>> {
    let conversation = earnest(protocol);
    let turns: Vec<Vec<u8>> = conversation.turns.iter().map(|turn| turn.bytes().to_vec()).collect();
    let changes = vec((any::<prop::sample::Index>(), any::<u8>()), 0..3);
    let ends = (any::<prop::sample::Index>(), any::<prop::sample::Index>());
    (select(turns), changes, ends, any::<bool>()).prop_map(
        |(mut bytes, changes, ends, is_whole)| {
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            let (from, to) = (ends.0.index(bytes.len()), ends.1.index(bytes.len()));
            if is_whole { bytes } else { bytes[from.min(to)..=from.max(to)].to_vec() }
        },
    )
}

pub(crate) fn earnest(protocol: WireProtocol) -> Conversation {
    match protocol {
        WireProtocol::Mysql => mysql::everything(),
        WireProtocol::Postgres => postgres::everything(),
    }
}

/// Any bytes, and such as say that they are very long.
fn noise() -> impl Strategy<Value = Vec<u8>> {
    let long = (any::<u64>(), 1..3000_usize).prop_map(|(seed, length)| long_noise(seed, length));
    prop_oneof![vec(any::<u8>(), 1..40), long]
}

/// Each byte by a strategy of its own would take longer than all that is done with them: these come
/// from one number, by a congruential generator (Knuth's MMIX).
fn long_noise(seed: u64, length: usize) -> Vec<u8> {
    const BYTES: [u8; 8] = [0xff, 0, 1, b'P', b'B', b'Q', b'Z', 0x7f];
    let mut state = seed;
    let draw = || {
        let product = state.wrapping_mul(6_364_136_223_846_793_005);
        state = product.wrapping_add(1_442_695_040_888_963_407);
        BYTES[(state >> 61) as usize]
    };
    std::iter::repeat_with(draw).take(length).collect()
}

fn acts(protocol: WireProtocol) -> impl Strategy<Value = HostileAct> {
    let bytes = || prop_oneof![4 => pieces(protocol), 1 => noise()];
    prop_oneof![
        12 => bytes().prop_map(HostileAct::Reads),
        12 => bytes().prop_map(HostileAct::Sends),
        2 => Just(HostileAct::FindsNothing),
        1 => Just(HostileAct::FindsTheEnd),
        1 => (0..3u32).prop_map(HostileAct::ComeIn),
        2 => (1..20u64).prop_map(HostileAct::Fails),
        1 => any::<bool>().prop_map(HostileAct::Fills),
        1 => Just(HostileAct::MakesPortal),
        1 => Just(HostileAct::Looks),
        1 => Just(HostileAct::Sweeps),
        2 => (0..1_000_000u64).prop_map(HostileAct::Passes),
    ]
}

fn streams() -> impl Strategy<Value = CaptureConfig> {
    (any::<bool>(), any::<bool>(), select(vec![None, Some("app"), Some("other")])).prop_map(
        |(is_on, adds_up, user)| {
            let user = user.map(str::to_owned);
            CaptureConfig { is_on, adds_up, user, step: 100, ..CaptureConfig::default() }
        },
    )
}

impl HostileAct {
    fn happen(self, server: &mut WatchedServer) {
        match self {
            Self::Reads(bytes) => server.reads(&bytes),
            Self::Sends(bytes) => server.sends(&bytes),
            Self::FindsNothing => server.finds_nothing(),
            Self::FindsTheEnd => server.finds_the_end(),
            Self::ComeIn(unread) => {
                server.capture.data_ready(&mut server.machine, server.socket, unread);
            }
            Self::Fails(number) => server.machine.fail_read(number),
            Self::Fills(is_full) => server.machine.fill_ring(is_full),
            Self::MakesPortal => server.capture.portal(&mut server.machine, server.task),
            Self::Looks => {
                let before = server.machine.records();
                server.capture.walk_threads(&mut server.machine);
                server.capture.snapshot(&mut server.machine, server.socket);
                let said = server.machine.records().concat();
                assert_eq!(connections(&said).is_empty(), said.is_empty());
                server.keep(before);
            }
            Self::Sweeps => server.capture.close_answered(&mut server.machine, server.socket),
            Self::Passes(time) => server.passes(time),
        }
    }
}

/// Whoever begins well is believed longer.
fn begin(server: &mut WatchedServer, protocol: WireProtocol) {
    for turn in &earnest(protocol).turns[..3] {
        match turn {
            ConversationTurn::Client(bytes) => server.reads(bytes),
            ConversationTurn::Server(bytes) => server.sends(bytes),
        }
    }
}

fn survive(
    protocol: WireProtocol,
    (stream, begins_well): (&CaptureConfig, bool),
    acts: Vec<HostileAct>,
) -> Result<(), TestCaseError> {
    let mut server = WatchedServer::new(protocol, stream);
    if begins_well {
        begin(&mut server, protocol);
    }
    acts.into_iter().for_each(|act| act.happen(&mut server));
    server.machine.fail_read(0);
    server.machine.fill_ring(false);
    server.ends();
    let (requests, logins) = server.records();
    let ledger = server.ledger();
    prop_assert_eq!(ledger.vanished(), 0, "{:?}", ledger);
    let handed_over = if stream.is_on { ledger.streamed } else { 0 };
    prop_assert_eq!(ledger.streamed, handed_over);
    // Each record is a request or a login of this version.
    if stream.is_on {
        prop_assert_eq!(requests as u64, ledger.streamed, "{} logins", logins);
    }
    for (_, totals) in server.statements() {
        prop_assert!(totals.count > 0 || totals.response.0 == 0, "{:?}", totals);
    }
    Ok(())
}

/// A request is under way, its connection's framing is lost, and what comes next looks like TLS.
#[test]
fn a_request_whose_connection_turns_to_tls_is_counted() {
    let mut server = WatchedServer::new(WireProtocol::Postgres, &CaptureConfig::default());
    let reads: [&[u8]; 3] = [b"Q\0\0\0\x0bCOMMIT\0", b"ZP\xff\xff\xff", &[20, 3, 0, 0, 0]];
    reads.into_iter().for_each(|read| HostileAct::Reads(read.to_vec()).happen(&mut server));
    server.ends();
    let ledger = server.ledger();
    assert_eq!((ledger.started, ledger.aborted, ledger.vanished()), (1, 1, 0), "{ledger:?}");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1500,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_is_said_to_mysql(
        stream in streams(),
        begins_well in any::<bool>(),
        acts in vec(acts(WireProtocol::Mysql), 1..60),
    ) {
        survive(WireProtocol::Mysql, (&stream, begins_well), acts)?;
    }

    #[test]
    fn whatever_is_said_to_postgresql(
        stream in streams(),
        begins_well in any::<bool>(),
        acts in vec(acts(WireProtocol::Postgres), 1..60),
    ) {
        survive(WireProtocol::Postgres, (&stream, begins_well), acts)?;
    }
}
