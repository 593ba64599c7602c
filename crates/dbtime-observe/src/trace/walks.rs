//! Walks over all connections, by iterators of the kernel's side.

use super::capture::{lacks, map};
use super::layout::{Glance, RawRequest};
use super::refusal::{kernel, refused};
use super::sessions::Sessions;
use super::{TraceError, locks};
use dbtime_model::MonoNanos;
use dbtime_model::traced::RequestParts;
use dbtime_model::traced_live::{Activity, LiveConnection};
use libbpf_rs::{Iter, MapHandle, Object};
use std::io::Read;
use std::os::fd::AsFd;

/// Walks all connections; returns what there is to say of them.
///
/// # Errors
/// The kernel does not let it.
pub(super) fn walk(object: &mut Object, name: &str) -> Result<Vec<u8>, TraceError> {
    let handle = MapHandle::try_from(&map(object, "connections")?).map_err(kernel)?;
    let mut programs = object.progs_mut();
    let program = programs.find(|program| program.name() == name);
    let program = program.ok_or_else(|| lacks(&format!("program `{name}`")))?;
    let link = program.attach_iter(handle.as_fd()).map_err(refused)?;
    let mut said = Vec::new();
    Iter::new(&link).and_then(|mut iter| Ok(iter.read_to_end(&mut said)?)).map_err(kernel)?;
    Ok(said)
}

/// What `look` has said: glances, each followed by its request.
pub(super) fn connections(mut said: &[u8], sessions: &mut Sessions) -> Vec<LiveConnection> {
    let mut found = Vec::new();
    while let Some((glance, rest)) = Glance::read(said) {
        let Some((raw, rest)) = RawRequest::split(rest) else { break };
        found.push(LiveConnection {
            at: MonoNanos(glance.now),
            activity: activity(&glance),
            request: sessions.glimpse(&raw),
        });
        said = rest;
    }
    found
}

fn activity(glance: &Glance) -> Activity {
    let parts = RequestParts::default().named();
    match parts.get(glance.part as usize) {
        _ if !glance.is_at_work => Activity::Idle,
        None => Activity::AtWork,
        Some(("lock", _)) => {
            locks::lock(glance.wait).map_or(Activity::In("lock"), Activity::Waiting)
        }
        Some((name, _)) => Activity::In(name),
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::tests::written;
    use super::*;
    use proptest::prelude::*;

    fn glance(is_at_work: u8, part: u8, wait: u8) -> Vec<u8> {
        let mut bytes = vec![0; 24];
        (bytes[0], bytes[8], bytes[12], bytes[16]) = (99, is_at_work, part, wait);
        bytes
    }

    #[test]
    fn every_connection_is_told_of() {
        let request = |number, text: &[u8]| written(number, 3, text, |_| {});
        let said = [
            [glance(1, 0, 0), request(1, b"SELECT 1")].concat(),
            [glance(0, 10, 0), request(2, b"")].concat(),
            [glance(1, 3, 3), request(3, b"UPDATE t")].concat(),
            [glance(1, 3, 0), request(4, b"")].concat(),
            [glance(1, 10, 0), request(5, b"")].concat(),
        ]
        .concat();
        let found = connections(&said, &mut Sessions::default());
        let activities: Vec<&Activity> = found.iter().map(|one| &one.activity).collect();
        let expected = [
            Activity::In("cpu"),
            Activity::Idle,
            Activity::Waiting("row lock".into()),
            Activity::In("lock"),
            Activity::AtWork,
        ];
        assert_eq!(activities, expected.iter().collect::<Vec<_>>());
        assert_eq!((found[0].at, &*found[2].request.text), (MonoNanos(99), "UPDATE t"));
        assert_eq!(connections(&said[..said.len() - 1], &mut Sessions::default()).len(), 4);
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_odd(bytes in proptest::collection::vec(any::<u8>(), 0..700)) {
            connections(&bytes, &mut Sessions::default());
        }
    }
}
