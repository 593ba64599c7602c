//! Whose locks a statement has waited for, below that statement.

use super::requests::connection_name;
use crate::format::{clean, counted, us};
use dbtime_model::Nanos;
use dbtime_model::units::count_sum;
use std::collections::BTreeSet;

/// Holders that are shown of a statement, and connections of a holder.
const MAX_HOLDERS: usize = 3;
const MAX_CONNECTIONS: usize = 4;

/// How locks were let go.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LockRelease {
    /// By this statement.
    Statement(String),
    /// By the server, as a client had gone.
    ClientLeft,
    /// Somehow: the statement is not known.
    Unknown,
    /// Not as far as is known: a timer ended the wait, perhaps behind a release that the waiter was
    /// awake for, or the holder is not watched.
    Nobody,
}

/// Waits of a statement for a lock that was let go in one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementLocks {
    /// The statement that waited.
    pub statement: String,
    /// What the server calls the lock.
    pub lock: String,
    /// How it was let go.
    pub release: LockRelease,
    /// Who let it go: connections by their names, in the order in which they waited for longest.
    pub connections: Vec<String>,
    /// The same, for a recording may have more than can be compared with each other.
    known: BTreeSet<String>,
    /// How often.
    pub count: u64,
    /// For how long in all.
    pub length: Nanos,
    /// The longest.
    pub longest: Nanos,
}

impl StatementLocks {
    /// None yet.
    pub fn new(statement: String, lock: String, release: LockRelease) -> Self {
        let (connections, known) = (Vec::new(), BTreeSet::new());
        let (length, longest) = (Nanos::ZERO, Nanos::ZERO);
        Self { statement, lock, release, connections, known, count: 0, length, longest }
    }

    /// Adds some waits.
    pub fn add(&mut self, count: u64, length: Nanos, longest: Nanos) {
        self.count = self.count.saturating_add(count);
        self.length += length;
        self.longest = self.longest.max(longest);
    }

    /// One that let go, by the server's number where that is known, or by dbtime's own.
    pub fn add_connection(&mut self, server_id: Option<u64>, own: u64) {
        let name = connection_name(server_id, own);
        if self.known.insert(name.clone()) {
            self.connections.push(name);
        }
    }

    /// Which lock it was, and who released it.
    pub(crate) fn released(&self) -> String {
        let lock = clean(&self.lock);
        let release = match &self.release {
            LockRelease::Statement(text) => format!("{lock} released by {}", clean(text)),
            LockRelease::ClientLeft => format!("{lock} released as a client left"),
            LockRelease::Unknown => format!("{lock} released"),
            LockRelease::Nobody => format!("{lock} whose holder is not known"),
        };
        release + &self.who()
    }

    fn line(&self) -> String {
        format!(
            "{}: {}, {}, {} at most",
            self.released(),
            us(self.length.as_micros()),
            counted(self.count, "time"),
            us(self.longest.as_micros()),
        )
    }

    fn who(&self) -> String {
        let (shown, rest) = self.connections.split_at(self.connections.len().min(MAX_CONNECTIONS));
        let more = if rest.is_empty() { String::new() } else { format!(", {} more", rest.len()) };
        match self.connections.len() {
            0 => String::new(),
            1 => format!(" (connection {})", shown[0]),
            _ => format!(" (connections {}{more})", shown.join(", ")),
        }
    }
}

/// The lines of a statement; `all` has those first that were waited for longest.
pub(crate) fn lock_lines(statement: &str, all: &[StatementLocks]) -> Vec<String> {
    let own: Vec<&StatementLocks> = all.iter().filter(|one| one.statement == statement).collect();
    let (shown, rest) = own.split_at(own.len().min(MAX_HOLDERS));
    let mut lines: Vec<String> = shown.iter().map(|one| one.line()).collect();
    if !rest.is_empty() {
        lines.push(further_locks(rest.iter().copied()));
    }
    lines
}

/// What those come to that are not shown.
pub(crate) fn further_locks<'a>(rest: impl Iterator<Item = &'a StatementLocks> + Clone) -> String {
    let times = count_sum(rest.clone().map(|one| one.count));
    let length = us(rest.map(|one| one.length).sum::<Nanos>().as_micros());
    format!("further locks: {length}, {}", counted(times, "time"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locks(release: LockRelease, connections: u64, millis: u64) -> StatementLocks {
        let mut locks = StatementLocks::new("UPDATE t".into(), "row lock".into(), release);
        locks.add(2, Nanos(millis * 1_000_000), Nanos(millis * 600_000));
        (0..connections)
            .for_each(|own| locks.add_connection((own % 2 == 0).then_some(40 + own), own));
        locks
    }

    #[test]
    fn a_statement_has_those_that_were_waited_for_longest() {
        let all = [
            locks(LockRelease::Statement("COMMIT\u{1b}".into()), 6, 1550),
            locks(LockRelease::ClientLeft, 1, 100),
            locks(LockRelease::Nobody, 0, 50),
            locks(LockRelease::Unknown, 1, 20),
            locks(LockRelease::Unknown, 1, 10),
        ];
        let lines = lock_lines("UPDATE t", &all);
        let expected = [
            "row lock released by COMMIT\u{fffd} (connections 40, #1, 42, #3, 2 more): 1.55 s, 2 \
             times, 930 ms at most",
            "row lock released as a client left (connection 40): 100 ms, 2 times, 60.0 ms at most",
            "row lock whose holder is not known: 50.0 ms, 2 times, 30.0 ms at most",
            "further locks: 30.0 ms, 4 times",
        ];
        assert_eq!(lines, expected);
        assert!(lock_lines("SELECT ?", &all).is_empty());
        let mut most = vec![locks(LockRelease::Unknown, 0, 1); 5];
        most.iter_mut().for_each(|one| one.add(u64::MAX, Nanos(u64::MAX), Nanos(u64::MAX)));
        assert!(lock_lines("UPDATE t", &most)[3].ends_with("1.84e19 times"));
    }
}
