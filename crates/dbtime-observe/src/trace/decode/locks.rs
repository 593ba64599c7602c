//! What servers call the locks that they wait for.

use crate::kernel_layout::numbers::*;
use crate::trace::probes::tranches::Tranches;
use std::borrow::Cow;
use std::sync::Arc;

/// What servers call their locks, as far as each has names of its own.
#[derive(Debug, Default)]
pub(crate) struct LockNames {
    /// By the servers' processes.
    tranches: Vec<(u32, Arc<Tranches>)>,
}

impl LockNames {
    /// A server calls its lightweight locks so.
    pub(crate) fn add(&mut self, server: u32, tranches: Arc<Tranches>) {
        self.forget(server);
        self.tranches.push((server, tranches));
    }

    /// A server has ended.
    pub(crate) fn forget(&mut self, server: u32) {
        self.tranches.retain(|(known, _)| *known != server);
    }

    /// What a server calls what it waited for, where that is a lock. Of one that is not known it is
    /// what all call it.
    pub(crate) fn lock(&self, server: Option<u32>, wait: u32) -> Option<Cow<'static, str>> {
        // The tranche of a lightweight lock stands in the lower half.
        let own = (wait >> 24 == CLASS_LWLOCK).then(|| self.tranche(server, wait & 0xffff));
        own.flatten().map(|name| Cow::Owned(name.to_owned())).or_else(|| lock(wait))
    }

    fn tranche(&self, server: Option<u32>, number: u32) -> Option<&str> {
        let is_it = |known: u32| server.is_none_or(|server| server == known);
        let these = self.tranches.iter().filter(|(known, _)| is_it(*known));
        let mut names = these.map(|(_, tranches)| tranches.name(number));
        let first = names.next()??;
        names.all(|name| name == Some(first)).then_some(first)
    }
}

/// What every server calls what it waited for.
fn lock(wait: u32) -> Option<Cow<'static, str>> {
    let name = match wait >> 24 {
        0 => mysql_lock(wait),
        CLASS_LWLOCK => Some("LWLock"),
        CLASS_LOCK => HEAVY_LOCKS.get((wait & 0xffff) as usize).copied(),
        CLASS_BUFFER => Some("BufferPin"),
        CLASS_IPC => Some("another process"),
        _ => None,
    };
    name.map(Cow::Borrowed)
}

/// PostgreSQL's `LockTagType` (storage/lock.h), by the names in its `pg_locks`.
const HEAVY_LOCKS: [&str; 12] = [
    "relation",
    "extend",
    "frozenid",
    "page",
    "tuple",
    "transactionid",
    "virtualxid",
    "spectoken",
    "object",
    "userlock",
    "advisory",
    "applytransaction",
];

/// What MySQL and MariaDB call a wait that is for a lock.
fn mysql_lock(wait: u32) -> Option<&'static str> {
    match wait {
        WAIT_ROW_LOCK => Some("row lock"),
        WAIT_GLOBAL_LOCK => Some("global lock"),
        WAIT_METADATA_LOCK => Some("metadata lock"),
        WAIT_TABLE_LOCK => Some("table lock"),
        WAIT_USER_LOCK => Some("user lock"),
        WAIT_BINLOG => Some("binlog"),
        WAIT_GROUP_COMMIT => Some("group commit"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_have_names_and_other_waits_none() {
        assert_eq!(
            [0x0300_0005, 0x0100_002a, 0x0600_0000, 3, 77].map(|w| lock(w).unwrap_or_default()),
            ["transactionid", "LWLock", "", "row lock", ""]
        );
        // Bits above the kind of a lock, and kinds that are not known.
        assert_eq!([0x03ff_0000, 0x0300_00ff, 1].map(lock), [Some("relation".into()), None, None]);
    }

    #[test]
    fn servers_of_several_versions_name_their_own() {
        let mut names = LockNames::default();
        let tranches = |names: &[&str]| Arc::new(names.iter().copied().collect::<Tranches>());
        let of = |names: &LockNames, server, number| {
            names.lock(server, CLASS_LWLOCK << 24 | number).expect("it is a lock").into_owned()
        };
        assert_eq!(of(&names, Some(15), 1), "LWLock");
        names.add(15, tranches(&["Both", "WALWrite", "Old"]));
        assert_eq!(
            [0, 1, 3].map(|number| of(&names, None, number)),
            ["Both", "WALWrite", "LWLock"]
        );
        names.add(17, tranches(&["Both", "WALInsert"]));
        assert_eq!(
            [15, 17, 9].map(|s| of(&names, Some(s), 1)),
            ["WALWrite", "WALInsert", "LWLock"]
        );
        assert_eq!([0, 1, 2].map(|number| of(&names, None, number)), ["Both", "LWLock", "LWLock"]);
        assert_eq!(names.lock(Some(15), 0x0300_0004).as_deref(), Some("tuple"));
        names.forget(15);
        assert_eq!(
            (of(&names, None, 1), of(&names, Some(15), 1).as_str()),
            ("WALInsert".to_owned(), "LWLock")
        );
    }
}
