//! What servers call the locks that they wait for.

use std::borrow::Cow;

/// What a server calls what it waited for, where that is a lock.
pub(super) fn lock(wait: u32) -> Option<Cow<'static, str>> {
    let name = match wait >> 24 {
        0 => LOCKS.get(wait as usize).copied().flatten(),
        1 => Some("LWLock"),
        3 => HEAVY_LOCKS.get((wait & 0xffff) as usize).copied(),
        4 => Some("buffer pin"),
        8 => Some("another process"),
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

/// What MySQL and MariaDB call the waits of `enum wait` that are for locks.
const LOCKS: [Option<&str>; 12] = [
    None,
    None,
    None,
    Some("row lock"),
    Some("global lock"),
    Some("metadata lock"),
    Some("table lock"),
    Some("user lock"),
    Some("binlog"),
    Some("group commit"),
    None,
    None,
];

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
}
