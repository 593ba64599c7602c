//! Snapshots of all connections, as an iterator has written them.

use super::naming::ServerNaming;
use super::sessions::TracedSessions;
use crate::kernel_layout::capture::SnapshotRecord;
use crate::kernel_layout::split_record;
use crate::trace::kernel::fields::kernel_part;
use crate::trace::kernel::layout::RawRequest;
use dbtime_model::traced_live::{ConnectionActivity, LiveConnection};
use dbtime_model::{MonoNanos, Part};
use std::borrow::Cow;
use std::collections::HashSet;

/// Reads the output of `iter_snapshot`: snapshots, each followed by its request. A connection that
/// several processes have open is among them several times, and counts once.
pub(crate) fn connections(
    mut records: &[u8],
    sessions: &mut TracedSessions,
    naming: &mut ServerNaming,
) -> Vec<LiveConnection> {
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    while let Some((snapshot, rest)) = split_record::<SnapshotRecord>(records) {
        let Some((mut raw, rest)) = RawRequest::split(rest) else { break };
        records = rest;
        if !seen.insert(raw.record.connection) {
            continue;
        }
        naming.name(&mut raw);
        sessions.identify(&raw, naming, true);
        found.push(LiveConnection {
            at: MonoNanos(snapshot.now),
            server: naming.server(&raw),
            activity: activity(&snapshot, || naming.lock(&raw, snapshot.wait)),
            request: sessions.decode_unfinished(&raw),
        });
    }
    found
}

fn activity(
    snapshot: &SnapshotRecord,
    lock: impl FnOnce() -> Option<Cow<'static, str>>,
) -> ConnectionActivity {
    match kernel_part(snapshot.part as usize) {
        _ if snapshot.is_under_way == 0 => ConnectionActivity::Idle,
        None => ConnectionActivity::AtWork,
        Some(Part::Lock) => {
            lock().map_or(ConnectionActivity::In(Part::Lock), ConnectionActivity::Waiting)
        }
        Some(part) => ConnectionActivity::In(part),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel_layout::numbers::{PART_CPU, PART_LOCK, PARTS, WAIT_ROW_LOCK};
    use crate::trace::kernel::layout::tests::written;
    use proptest::prelude::*;
    use zerocopy::IntoBytes;

    fn snapshot(is_under_way: u32, part: usize, wait: u32) -> Vec<u8> {
        let part = part as u32;
        let snapshot = SnapshotRecord { now: 99, is_under_way, part, wait, reserved: 0 };
        snapshot.as_bytes().to_vec()
    }

    #[test]
    fn every_connection_is_in_a_snapshot() {
        let request = |number, text: &[u8]| written(number, 3, text, |_| {});
        let records = [
            [snapshot(1, PART_CPU, 0), request(1, b"SELECT 1")].concat(),
            [snapshot(0, PARTS, 0), request(2, b"")].concat(),
            [snapshot(1, PART_LOCK, WAIT_ROW_LOCK), request(3, b"UPDATE t")].concat(),
            [snapshot(1, PART_LOCK, 0), request(4, b"")].concat(),
            [snapshot(1, PARTS, 0), request(5, b"")].concat(),
            [snapshot(1, PART_LOCK, WAIT_ROW_LOCK), request(3, b"UPDATE t")].concat(),
        ]
        .concat();
        let found = connections(
            &records,
            &mut TracedSessions::keeping_literals(),
            &mut ServerNaming::default(),
        );
        let activities: Vec<&ConnectionActivity> = found.iter().map(|one| &one.activity).collect();
        let expected = [
            ConnectionActivity::In(Part::Cpu),
            ConnectionActivity::Idle,
            ConnectionActivity::Waiting("row lock".into()),
            ConnectionActivity::In(Part::Lock),
            ConnectionActivity::AtWork,
        ];
        assert_eq!(activities, expected.iter().collect::<Vec<_>>());
        assert_eq!((found[0].at, &*found[2].request.text), (MonoNanos(99), "UPDATE t"));
        let last = size_of::<SnapshotRecord>() + written(3, 3, b"UPDATE t", |_| {}).len();
        let cut = records.len() - last - 1;
        assert_eq!(
            connections(
                &records[..cut],
                &mut TracedSessions::keeping_literals(),
                &mut ServerNaming::default()
            )
            .len(),
            4
        );
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_odd(bytes in proptest::collection::vec(any::<u8>(), 0..700)) {
            let mut sessions = TracedSessions::keeping_literals();
            connections(&bytes, &mut sessions, &mut ServerNaming::default());
        }
    }
}
