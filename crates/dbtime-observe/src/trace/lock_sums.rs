//! Whose locks statements have waited for, added up. Where requests are not handed on one by one,
//! those are that have waited for a lock for a millisecond or more, or have let one go.

use super::blockers::is_in_vain;
use super::layout::{RELEASED, RawRequest};
use dbtime_model::Nanos;
use dbtime_model::traced::{Protocol, TracedRequest};
use dbtime_model::traced_totals::{LockHolder, LockWaitTotals, StatementName};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// `LOCK_WORTH`: shorter waits are not added up.
const WORTH: Nanos = Nanos(1_000_000);

/// Requests that let locks go and are remembered.
const MOST_RELEASES: usize = 4096;

/// Rows; further waits share one for each lock.
const MOST_ROWS: usize = 4096;

/// How often requests are taken before a wait goes without its holder's statement.
const ROUNDS: u8 = 3;

/// A statement: by its text where that came with it, else by the kernel's number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum LockStatement {
    Text(Arc<str>),
    Shape(u64),
    Unknown,
}

impl LockStatement {
    fn of(raw: &RawRequest<'_>, request: &TracedRequest) -> Self {
        match raw.shape {
            0 if request.text.is_empty() => Self::Unknown,
            0 => Self::Text(Arc::clone(&request.text)),
            shape => Self::Shape(shape),
        }
    }

    fn name(&self, texts: &impl Fn(u64) -> Option<Arc<str>>) -> StatementName {
        let text = match self {
            Self::Text(text) => Some(Arc::clone(text)),
            Self::Shape(shape) => texts(*shape),
            Self::Unknown => None,
        };
        text.map_or(StatementName::Other, StatementName::Text)
    }
}

/// Which waits share a row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct LockRow {
    waiter: LockStatement,
    lock: Option<Cow<'static, str>>,
    holder: Option<RowHolder>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct RowHolder {
    connection: u64,
    server_id: Option<u64>,
    has_left: bool,
    statement: LockStatement,
}

#[derive(Clone, Copy, Debug, Default)]
struct LockSum {
    count: u64,
    length: Nanos,
    longest: Nanos,
}

/// A wait whose holder's request may still come.
#[derive(Debug)]
struct OpenWait {
    row: LockRow,
    length: Nanos,
    /// The holder's connection, and when its request had begun.
    release: (u64, u64),
    rounds: u8,
}

/// The sums.
#[derive(Debug, Default)]
pub(super) struct LockSums {
    releases: FxHashMap<(u64, u64), (LockStatement, Option<u64>)>,
    in_order: VecDeque<(u64, u64)>,
    open: Vec<OpenWait>,
    rows: HashMap<LockRow, LockSum>,
}

impl LockSums {
    /// Takes a request in.
    pub(super) fn take(&mut self, raw: &RawRequest<'_>, request: &TracedRequest) {
        if raw.flags & RELEASED != 0 {
            self.remember(raw, request);
        }
        let Some(blocker) = &request.blocker else { return };
        if blocker.length < WORTH {
            return;
        }
        let is_in_vain = request.error.as_ref().is_some_and(is_in_vain);
        let holder = blocker.connection.filter(|_| !is_in_vain).map(|connection| RowHolder {
            connection,
            // PostgreSQL's processes have one thread each.
            server_id: match request.protocol {
                Protocol::Postgres => blocker.thread.map(u64::from),
                Protocol::Mysql => None,
            },
            has_left: blocker.has_left,
            statement: LockStatement::Unknown,
        });
        let release = (blocker.connection.unwrap_or_default(), raw.blocker_start);
        let waiter = LockStatement::of(raw, request);
        let row = LockRow { waiter, lock: blocker.lock.clone(), holder };
        self.open.push(OpenWait { row, length: blocker.length, release, rounds: 0 });
    }

    fn remember(&mut self, raw: &RawRequest<'_>, request: &TracedRequest) {
        if self.in_order.len() >= MOST_RELEASES
            && let Some(oldest) = self.in_order.pop_front()
        {
            self.releases.remove(&oldest);
        }
        let key = (raw.connection, raw.start);
        self.in_order.push_back(key);
        self.releases.insert(key, (LockStatement::of(raw, request), request.server_id()));
    }

    /// Adds the waits up whose holders are known, or have been waited for for long enough.
    pub(super) fn settle(&mut self, is_end: bool, server_id: impl Fn(u64) -> Option<u64>) {
        for mut wait in std::mem::take(&mut self.open) {
            let release = self.releases.get(&wait.release);
            wait.rounds += 1;
            if let Some(holder) = &mut wait.row.holder {
                if release.is_none() && wait.rounds < ROUNDS && !is_end {
                    self.open.push(wait);
                    continue;
                }
                if let Some((statement, _)) = release.filter(|_| !holder.has_left) {
                    holder.statement = statement.clone();
                }
                let known = release.and_then(|(_, id)| *id).or(holder.server_id);
                holder.server_id = known.or_else(|| server_id(holder.connection));
            }
            self.add(wait);
        }
    }

    fn add(&mut self, wait: OpenWait) {
        let is_full = self.rows.len() >= MOST_ROWS && !self.rows.contains_key(&wait.row);
        let row = match is_full {
            true => LockRow { waiter: LockStatement::Unknown, holder: None, ..wait.row },
            false => wait.row,
        };
        let sum = self.rows.entry(row).or_default();
        sum.count += 1;
        sum.length += wait.length;
        sum.longest = sum.longest.max(wait.length);
    }

    /// The sums so far, longest first; `texts` knows what the kernel's numbers stand for.
    pub(super) fn totals(&self, texts: impl Fn(u64) -> Option<Arc<str>>) -> Vec<LockWaitTotals> {
        let total = |(row, sum): (&LockRow, &LockSum)| LockWaitTotals {
            statement: row.waiter.name(&texts),
            lock: row.lock.clone(),
            holder: row.holder.as_ref().map(|holder| LockHolder {
                connection: holder.connection,
                server_id: holder.server_id,
                has_left: holder.has_left,
                statement: holder.statement.name(&texts),
            }),
            count: sum.count,
            length: sum.length,
            longest: sum.longest,
        };
        let mut totals: Vec<LockWaitTotals> = self.rows.iter().map(total).collect();
        totals.sort_by_key(|total| std::cmp::Reverse(total.length));
        totals
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::tests::{blocked_by, written};
    use super::super::sessions::Sessions;
    use super::*;

    const LONG: u64 = 2_000_000;

    /// Takes a statement of a connection that had waited so long for another; `flags` are its own.
    fn take(
        sums: &mut LockSums,
        (connection, text): (u64, &str),
        blocker: Option<(u64, u64)>,
        flags: u16,
    ) {
        let mut waits = blocker.map_or(vec![], |(length, holder)| blocked_by(length, holder));
        waits.get_mut(24).into_iter().for_each(|start| *start = 1);
        let request = written(connection, 3, text.as_bytes(), |head| {
            head[68..70].copy_from_slice(&flags.to_le_bytes());
        });
        let bytes = [waits, request].concat();
        let raw = RawRequest::read(&bytes).expect("a request");
        sums.take(&raw, &Sessions::default().glimpse(&raw));
    }

    #[test]
    fn waits_are_added_up_by_who_let_go() {
        let mut sums = LockSums::default();
        take(&mut sums, (2, "UPDATE t"), Some((LONG, 1)), 0);
        take(&mut sums, (1, "COMMIT"), None, RELEASED);
        take(&mut sums, (3, "UPDATE t"), Some((2 * LONG, 1)), 0);
        take(&mut sums, (3, "UPDATE t"), Some((LONG / 4, 1)), 0);
        take(&mut sums, (3, "DELETE"), Some((LONG, 9)), 0);
        sums.settle(false, |connection| Some(100 + connection));
        // That of the ninth connection may still come.
        assert_eq!(sums.totals(|_| None).len(), 1);
        sums.settle(true, |connection| Some(100 + connection));
        let totals = sums.totals(|_| None);
        let [update, delete] = &totals[..] else { panic!("{totals:?}") };
        let text = |text: &str| StatementName::Text(text.into());
        assert_eq!((&update.statement, update.count), (&text("UPDATE t"), 2));
        assert_eq!((update.length, update.longest), (Nanos(3 * LONG), Nanos(2 * LONG)));
        let holder = update.holder.as_ref().expect("one let go");
        assert_eq!((&holder.statement, holder.server_id), (&text("COMMIT"), Some(101)));
        let holder = delete.holder.as_ref().expect("one let go");
        assert_eq!((&holder.statement, holder.connection), (&StatementName::Other, 9));
    }

    #[test]
    fn there_is_an_end_to_what_is_kept() {
        let mut sums = LockSums::default();
        for number in 1..=MOST_ROWS as u64 + 100 {
            take(&mut sums, (number, &format!("UPDATE t{number}")), Some((LONG, 1)), RELEASED);
        }
        sums.settle(true, |_| None);
        assert!(sums.rows.len() <= MOST_ROWS + 1 && sums.releases.len() <= MOST_RELEASES);
        let all: u64 = sums.totals(|_| None).iter().map(|total| total.count).sum();
        assert_eq!(all, MOST_ROWS as u64 + 100);
    }
}
