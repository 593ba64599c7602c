//! What sessions were at before the watching began, as their server lists it, and which of it still
//! goes on by its later lists.

use dbtime_model::lock_picture::ServerSession;
use dbtime_model::traced_live::LiveConnection;
use dbtime_model::traced_prior::{PriorActivity, PriorSession, PriorSource, PriorWork};
use dbtime_model::{MonoNanos, Nanos};
use std::collections::HashSet;

/// Some servers count whole seconds.
const TOLERANCE: Nanos = Nanos::from_secs(2);

/// What a server has listed.
#[derive(Debug)]
pub(super) struct PriorListing {
    /// The server's process.
    server: u32,
    /// When the first list was requested, and the last.
    first: MonoNanos,
    last: MonoNanos,
    /// Those that were at something in the first and have been ever since.
    left: Vec<ServerSession>,
    /// How many sessions the last list had.
    in_all: usize,
    /// Whether one was seen to have all of them.
    is_whole: bool,
}

impl PriorListing {
    /// Takes the first list; `None` where it does not say what sessions are at.
    pub(super) fn begin(
        server: u32,
        at: MonoNanos,
        mut sessions: Vec<ServerSession>,
    ) -> Option<Self> {
        let in_all = keep_visible(&mut sessions);
        // Without the right to see any, or where PostgreSQL does not keep account of it.
        if in_all == 0 || sessions.iter().any(|one| one.state == "disabled") {
            return None;
        }
        sessions.retain(|one| activity(one).is_some());
        Some(Self { server, first: at, last: at, left: sessions, in_all, is_whole: false })
    }

    /// Takes another. Who is at something else by now has sent a request for it, and is watched.
    pub(super) fn update(&mut self, at: MonoNanos, mut sessions: Vec<ServerSession>) {
        let known: HashSet<u64> = self.left.iter().map(|one| one.id).collect();
        let watched_for = at - self.first;
        self.in_all = keep_visible(&mut sessions);
        sessions.retain(|one| {
            let is_old = length(one).is_none_or(|length| length + TOLERANCE >= watched_for);
            known.contains(&one.id) && is_old && activity(one).is_some()
        });
        (self.last, self.left) = (at, sessions);
    }

    /// Whether nobody is left.
    pub(super) fn is_over(&self) -> bool {
        self.left.is_empty()
    }

    /// Whether somebody who is left waits for a lock: the kernel has not seen that begin.
    pub(super) fn has_waiters(&self) -> bool {
        self.left.iter().any(|one| matches!(activity(one), Some(PriorActivity::Waiting(_))))
    }

    /// Has those that are left, at some moment, in the place of what is guessed of them.
    pub(super) fn complete(
        &mut self,
        work: &mut PriorWork,
        at: MonoNanos,
        seen: &[LiveConnection],
    ) {
        let listed = self.sessions(at, seen);
        let in_all = if self.is_whole { usize::MAX } else { self.in_all };
        self.is_whole |= work.replace(self.server, listed, in_all);
    }

    /// Those that are left, at some moment, without those that are seen to be connected: they have
    /// sent a request since.
    fn sessions(&self, at: MonoNanos, seen: &[LiveConnection]) -> Vec<PriorSession> {
        let is_seen = |one: &ServerSession| seen.iter().any(|other| self.is_same(one, other));
        let left = self.left.iter().filter(|one| !is_seen(one));
        left.filter_map(|one| self.session(one, at)).collect()
    }

    fn is_same(&self, one: &ServerSession, other: &LiveConnection) -> bool {
        let (id, thread) = (other.request.server_id(), other.request.thread);
        // A number is one of its server's own; threads are the machine's.
        match other.server {
            Some(server) if server != self.server => false,
            Some(_) => id == Some(one.id) || (id.is_none() && one.thread == Some(thread)),
            None => one.thread == Some(thread),
        }
    }

    fn session(&self, one: &ServerSession, at: MonoNanos) -> Option<PriorSession> {
        Some(PriorSession {
            server: self.server,
            thread: one.thread,
            id: one.id,
            user: one.user.clone(),
            database: one.database.clone(),
            activity: activity(one)?,
            length: length(one).map(|length| length + (at - self.last)),
            statement: one.statement.clone(),
            source: PriorSource::List,
        })
    }
}

/// Leaves those of which it is seen what they are at, and says how many they are: a login may not
/// see all, and who comes or goes has no state.
fn keep_visible(sessions: &mut Vec<ServerSession>) -> usize {
    sessions.retain(|one| !one.state.is_empty());
    sessions.len()
}

/// How long a session has been at what it is at, or in its transaction.
fn length(session: &ServerSession) -> Option<Nanos> {
    match activity(session)? {
        PriorActivity::InTransaction => session.in_transaction.or(session.in_state),
        PriorActivity::AtWork(_) | PriorActivity::Waiting(_) => session.in_state,
    }
}

/// What a session is at; `None`: nothing.
fn activity(session: &ServerSession) -> Option<PriorActivity> {
    let state = session.state.as_str();
    match state.strip_prefix("Waiting for ") {
        _ if matches!(state, "" | "idle" | "disabled") => None,
        _ if state.starts_with("idle") => Some(PriorActivity::InTransaction),
        _ if state == "User lock" => Some(PriorActivity::Waiting("user lock".into())),
        // PostgreSQL's have the name of the lock alone.
        Some(lock) if lock.ends_with("lock") || !lock.contains(' ') => {
            Some(PriorActivity::Waiting(lock.to_owned().into()))
        }
        _ => Some(PriorActivity::AtWork(state.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::super::reader_messages::tests::request;
    use super::*;
    use dbtime_model::traced::TracedRequest;
    use dbtime_model::traced_live::ConnectionActivity;
    use dbtime_model::traced_prior::PriorClients;

    const BEGIN: MonoNanos = MonoNanos(50_000_000_000);

    fn session(id: u64, state: &str, seconds: u64) -> ServerSession {
        let in_state = Some(Nanos::from_secs(seconds));
        ServerSession { id, state: state.to_owned(), in_state, ..ServerSession::default() }
    }

    fn activities(listing: &PriorListing) -> Vec<(u64, PriorActivity)> {
        let sessions = listing.sessions(BEGIN + Nanos::from_secs(9), &[]);
        sessions.into_iter().map(|one| (one.id, one.activity)).collect()
    }

    fn waiting(lock: &'static str) -> PriorActivity {
        PriorActivity::Waiting(lock.into())
    }

    #[test]
    fn states_say_what_sessions_are_at() {
        let sessions = vec![
            session(1, "idle", 5),
            session(2, "idle in transaction", 5),
            session(3, "Waiting for table metadata lock", 5),
            session(4, "Waiting for transactionid", 5),
            session(5, "Waiting for handler commit", 5),
            session(6, "active", 5),
            session(7, "idle in transaction (aborted)", 5),
        ];
        let listing = PriorListing::begin(7, BEGIN, sessions).expect("it says what they are at");
        let at_work = |what: &str| PriorActivity::AtWork(what.to_owned());
        let expected = [
            (2, PriorActivity::InTransaction),
            (3, waiting("table metadata lock")),
            (4, waiting("transactionid")),
            (5, at_work("Waiting for handler commit")),
            (6, at_work("active")),
            (7, PriorActivity::InTransaction),
        ];
        assert_eq!(activities(&listing), expected);
        assert!(PriorListing::begin(7, BEGIN, vec![session(1, "", 5)]).is_none());
        // Somebody who connects just then takes nothing away.
        let sessions = vec![session(1, "", 0), session(2, "active", 5)];
        let listing = PriorListing::begin(7, BEGIN, sessions).expect("it says what one is at");
        assert_eq!(activities(&listing), [(2, at_work("active"))]);
    }

    #[test]
    fn a_list_that_has_not_all_leaves_the_others_to_guesses() {
        let sessions = vec![session(1, "Updating", 5), session(2, "idle", 5)];
        let mut listing = PriorListing::begin(7, BEGIN, sessions).expect("it says it");
        let mut completed = |connected, at_work| {
            let clients = vec![PriorClients { server: 7, connected, at_work: Some(at_work) }];
            let mut work = PriorWork { clients, ..PriorWork::default() };
            listing.complete(&mut work, BEGIN, &[]);
            (work.sessions.len(), work.clients.first().and_then(|clients| clients.at_work))
        };
        assert_eq!(completed(5, 3), (1, Some(2)));
        assert_eq!(completed(2, 1), (1, None));
        assert_eq!(completed(6, 4), (1, None), "those have come since");
    }

    #[test]
    fn the_same_number_at_another_server_is_somebody_else() {
        let (id, listed) = (request().server_id().expect("it has one"), request().thread);
        let session = ServerSession { thread: Some(listed), ..session(id, "active", 5) };
        let listing = PriorListing::begin(7, BEGIN, vec![session]).expect("it says it");
        let is_seen = |server, thread| {
            let (activity, request) = (ConnectionActivity::Idle, request());
            let request = TracedRequest { thread, ..request };
            let one = LiveConnection { at: BEGIN, server, request, activity };
            listing.sessions(BEGIN, &[one]).is_empty()
        };
        assert!(is_seen(Some(7), listed + 1) && !is_seen(Some(8), listed));
        // Which server it is of is not known yet: threads are the machine's.
        assert!(is_seen(None, listed) && !is_seen(None, listed + 1));
    }

    #[test]
    fn who_turns_to_something_else_is_left_to_the_watching() {
        let at_work = |id| session(id, "Updating", 5);
        let mut listing = PriorListing::begin(7, BEGIN, (1..5).map(at_work).collect()).expect("so");
        let later = BEGIN + Nanos::from_secs(60);
        // The second is idle, the third began anew, the fourth has gone, and the fifth has come.
        let now = vec![
            session(1, "Updating", 64),
            session(2, "idle", 3),
            session(3, "Updating", 9),
            session(5, "Updating", 64),
        ];
        listing.update(later, now);
        assert_eq!(activities(&listing).iter().map(|(id, _)| *id).collect::<Vec<_>>(), [1]);
        let one = &listing.sessions(later + Nanos::from_secs(2), &[])[0];
        assert_eq!(one.length, Some(Nanos::from_secs(66)));
        listing.update(later, Vec::new());
        assert!(listing.is_over());
    }
}
