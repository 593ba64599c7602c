//! Connections from before the watching, by the list of its sessions that a server gave: the
//! greetings with their ids had been sent before, and clients had said who they are.

use crate::trace::kernel::layout::RawRequest;
use dbtime_model::MonoNanos;
use dbtime_model::lock_picture::ServerSession;
use dbtime_model::traced::SessionLogin;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Sessions that no connection was found for so far.
#[derive(Debug, Default)]
pub(crate) struct ListedSessions {
    /// The server's.
    process: u32,
    /// When the list was listed_at for.
    listed_at: u64,
    /// Where each connection has a thread of its own.
    by_thread: FxHashMap<u32, ServerSession>,
    /// By the client's port; `None`: of several hosts.
    by_port: FxHashMap<u16, Option<ServerSession>>,
    /// By what the server calls it, where that is always seen.
    by_id: FxHashMap<u64, ServerSession>,
}

impl ListedSessions {
    pub(crate) fn new(process: u32, listed_at: MonoNanos, sessions: Vec<ServerSession>) -> Self {
        let mut listed = Self { process, listed_at: listed_at.0, ..Self::default() };
        for session in sessions {
            if let Some(port) = port_of(&session) {
                let is_new = !listed.by_port.contains_key(&port);
                listed.by_port.insert(port, is_new.then(|| session.clone()));
            }
            if let Some(thread) = session.thread {
                listed.by_thread.insert(thread, session);
            }
        }
        listed
    }

    /// The same of PostgreSQL, whose sessions are its processes.
    pub(crate) fn of_processes(
        process: u32,
        listed_at: MonoNanos,
        sessions: Vec<ServerSession>,
    ) -> Self {
        let by_id = sessions.into_iter().map(|session| (session.id, session)).collect();
        Self { process, listed_at: listed_at.0, by_id, ..Self::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_thread.is_empty() && self.by_port.is_empty() && self.by_id.is_empty()
    }

    /// Whose a connection of a `server` is that was there when the list was made: of a request that
    /// was over before, only where the connection `is_there` still, for its thread may have been
    /// another's by then. `known` is what was seen of it.
    pub(crate) fn find(
        &mut self,
        raw: &RawRequest<'_>,
        server: Option<u32>,
        is_there: bool,
        known: Option<&Arc<SessionLogin>>,
    ) -> Option<SessionLogin> {
        if server != Some(self.process) {
            return None;
        }
        if let Some(known) = known.filter(|known| known.id.is_some()) {
            // The one in the list has left its thread to this one.
            if let Some(session) = self.by_thread.get(&raw.record.tid).cloned() {
                self.forget(&session);
            }
            return self.named(known);
        }
        if !(is_there || raw.record.end >= self.listed_at) {
            return None;
        }
        let client = known.and_then(|known| known.client);
        let by_port = client.and_then(|client| self.by_port.get(&client.port())?.clone());
        let session = by_port.or_else(|| self.by_thread.get(&raw.record.tid).cloned())?;
        self.forget(&session);
        let seen = known.filter(|known| !known.user.is_empty());
        let (user, database) = seen.map_or((session.user, session.database), |seen| {
            (seen.user.clone(), seen.database.clone())
        });
        let client_cookie = known.and_then(|known| known.client_cookie);
        Some(SessionLogin { user, database, id: Some(session.id), client, client_cookie })
    }

    /// Whose a connection is with a known number, unless its client has said so since: then the one
    /// in the list has left that number to it.
    fn named(&mut self, known: &SessionLogin) -> Option<SessionLogin> {
        let ServerSession { user, database, .. } = self.by_id.remove(&known.id?)?;
        known.user.is_empty().then(|| SessionLogin { user, database, ..known.clone() })
    }

    /// Its thread and its port may be another's from now on.
    fn forget(&mut self, session: &ServerSession) {
        if let Some(thread) = session.thread {
            self.by_thread.remove(&thread);
        }
        if let Some(port) = port_of(session) {
            self.by_port.remove(&port);
        }
    }
}

/// Where its client is, by TCP.
fn port_of(session: &ServerSession) -> Option<u16> {
    session.address.rsplit_once(':').and_then(|(_, port)| port.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::kernel::layout::tests::written;

    fn session(id: u64, address: &str, thread: Option<u32>) -> ServerSession {
        let user = "app".to_owned();
        ServerSession { id, user, address: address.to_owned(), thread, ..ServerSession::default() }
    }

    /// Finds the session of a request of a thread, which ended at 9.
    fn find(listed: &mut ListedSessions, thread: u32, known: Option<SessionLogin>) -> Option<u64> {
        let bytes = written(7, 3, b"SELECT 1", |record| record.tid = thread);
        let raw = RawRequest::read(&bytes).expect("a request");
        let process = raw.record.tgid;
        listed.process = if listed.process == 0 { process } else { listed.process };
        let known = known.map(Arc::new);
        listed.find(&raw, Some(process), false, known.as_ref()).and_then(|login| login.id)
    }

    fn login(id: Option<u64>, client: Option<&str>) -> SessionLogin {
        let client = client.map(|client| client.parse().expect("an address"));
        SessionLogin { id, client, ..SessionLogin::default() }
    }

    #[test]
    fn a_connection_is_known_by_its_thread_or_its_port_and_once() {
        let sessions = vec![
            session(1, "localhost", Some(11)),
            session(2, "10.0.0.1:4000", Some(12)),
            session(3, "a:5000", None),
            session(4, "b:5000", None),
            session(5, "localhost", Some(13)),
        ];
        let mut listed = ListedSessions::new(0, MonoNanos(9), sessions);
        assert_eq!(find(&mut listed, 11, None), Some(1));
        assert_eq!(find(&mut listed, 11, None), None, "the next on that thread is another one");
        let of_port = login(None, Some("10.0.0.1:4000"));
        assert_eq!(find(&mut listed, 99, Some(of_port)), Some(2));
        assert_eq!(find(&mut listed, 12, None), None, "it is known by its port already");
        let of_two = login(None, Some("10.0.0.1:5000"));
        assert_eq!(find(&mut listed, 99, Some(of_two)), None);
        assert_eq!(find(&mut listed, 13, Some(login(Some(8), None))), None);
        assert_eq!(find(&mut listed, 13, None), None, "it had left its thread to a new one");
        assert_eq!(listed.by_port.len(), 1, "of two hosts");
    }

    #[test]
    fn nothing_is_left_to_look_for_once_all_are_known() {
        let sessions = vec![session(1, "a:4000", Some(11)), session(2, "a:4001", Some(12))];
        let mut listed = ListedSessions::new(0, MonoNanos(9), sessions);
        assert_eq!(find(&mut listed, 11, None), Some(1));
        let of_port = login(None, Some("10.0.0.1:4000"));
        assert_eq!(find(&mut listed, 99, Some(of_port)), None, "its port may be another's by now");
        assert_eq!(find(&mut listed, 12, Some(login(Some(8), None))), None);
        assert!(listed.is_empty());
    }

    #[test]
    fn a_number_that_is_seen_has_the_user_and_the_database_of_the_list_once() {
        let listed_as = |id, user: &str, database: &str| ServerSession {
            user: user.to_owned(),
            database: database.to_owned(),
            ..session(id, "local", Some(11))
        };
        let sessions = (11..15).map(|id| listed_as(id, "app", "shop")).collect();
        let mut listed = ListedSessions::of_processes(7, MonoNanos(9), sessions);
        let bytes = written(7, 3, b"SELECT 1", |record| record.tid = 11);
        let raw = RawRequest::read(&bytes).expect("a request");
        let mut of = |server, id, user: &str| {
            let seen = SessionLogin { user: user.to_owned(), ..login(Some(id), None) };
            let found = listed.find(&raw, Some(server), false, Some(&Arc::new(seen)));
            found.map(|login| (login.user, login.database, login.id))
        };
        let app = ("app".to_owned(), "shop".to_owned(), Some(11));
        assert_eq!(of(8, 11, ""), None, "another server has a process of that number");
        assert_eq!(of(7, 11, ""), Some(app));
        assert_eq!(of(7, 11, ""), None, "it is another one by now");
        assert_eq!(of(7, 12, "other"), None, "its client has said who it is");
        assert_eq!(of(7, 12, ""), None, "the one in the list had gone");
        assert_eq!(of(7, 99, ""), None);
        assert!(!listed.is_empty());
    }

    #[test]
    fn what_was_over_before_and_what_is_another_servers_is_nobodys() {
        let sessions = || vec![session(1, "localhost", Some(11))];
        let mut late = ListedSessions::new(0, MonoNanos(10), sessions());
        assert_eq!(find(&mut late, 11, None), None);
        let mut others = ListedSessions::new(u32::MAX, MonoNanos(9), sessions());
        assert_eq!(find(&mut others, 11, None), None);
    }
}
