//! Sessions from before the watching, and which of them still go on with what they were at then.

use super::glimpse::{BackendGlimpse, ClientThreads};
use super::title::{BackendTitle, TitleActivity, backend_title};
use crate::trace::servers::TracedServer;
use dbtime_model::traced_live::LiveConnection;
use dbtime_model::traced_prior::{PriorActivity, PriorClients, PriorSession, PriorSource};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// What PostgreSQL calls a wait for its client.
const CLASS_CLIENT: u32 = 6;

/// The first of these waits: for what the client sends next.
const CLIENT_READ: u32 = CLASS_CLIENT << 24;

/// What is left of it. Whoever has been seen without anything to do, or with a request, is not
/// looked at any more: it is watched.
#[derive(Debug, Default)]
pub(crate) struct PriorSessions {
    /// By server, PostgreSQL: its processes.
    pub(crate) backends: HashMap<u32, Vec<u32>>,
    /// Servers of the other kind, by process, and the sockets of clients that are at work.
    at_work: HashMap<u32, (TracedServer, HashSet<u64>)>,
    /// Connections of each process that have sent something since, when they were looked at last.
    seen: HashMap<u32, usize>,
}

impl PriorSessions {
    /// Takes in who has sent something since the watching began.
    pub(crate) fn see(&mut self, connections: &[LiveConnection]) {
        self.seen.clear();
        for one in connections {
            *self.seen.entry(one.request.process).or_default() += 1;
        }
        let seen = &self.seen;
        self.backends.values_mut().for_each(|all| all.retain(|one| !seen.contains_key(one)));
    }

    /// A server has ended.
    pub(crate) fn forget(&mut self, server: u32) {
        self.backends.remove(&server);
        self.at_work.remove(&server);
    }

    /// Takes in what these processes of a server are at. `lock` is what the server calls a wait, if
    /// it is one for a lock.
    pub(crate) fn take_backends(
        &mut self,
        server: u32,
        seen: impl IntoIterator<Item = (u32, Option<BackendGlimpse>)>,
        lock: impl Fn(u32) -> Option<Cow<'static, str>>,
    ) -> (Vec<PriorSession>, Option<PriorClients>) {
        let (mut sessions, mut unknown, mut left) = (Vec::new(), 0, Vec::new());
        for (process, glimpse) in seen {
            let Some(glimpse) = glimpse else { continue };
            let Some(title) = backend_title(&glimpse.title) else { continue };
            match activity(&title.activity, glimpse.wait, &lock) {
                Some(Some(activity)) => {
                    left.push(process);
                    let id = glimpse.inner.unwrap_or(process);
                    let found = session(server, process, &title, activity);
                    sessions.push(PriorSession { id: id.into(), ..found });
                }
                Some(None) => {}
                None => {
                    left.push(process);
                    unknown += 1;
                }
            }
        }
        self.backends.insert(server, left);
        let clients = PriorClients { server, connected: unknown, at_work: None };
        (sessions, (unknown > 0).then_some(clients))
    }

    /// Takes in what the threads of a server of the other kind are at, when the watching begins.
    pub(crate) fn begin(&mut self, server: &TracedServer, threads: &ClientThreads) {
        let at_work = threads.clients.difference(&threads.idle).copied().collect();
        self.at_work.insert(server.process, (server.clone(), at_work));
    }

    /// The same later; `None`: nobody is left.
    pub(crate) fn take_threads(
        &mut self,
        server: u32,
        threads: &ClientThreads,
    ) -> Option<PriorClients> {
        let (_, at_work) = self.at_work.get_mut(&server)?;
        at_work.retain(|one| threads.clients.contains(one) && !threads.idle.contains(one));
        let connected = threads.clients.len();
        // Of so many sockets no request was seen.
        let silent = connected.saturating_sub(self.seen.get(&server).copied().unwrap_or_default());
        let number = at_work.len().min(silent);
        if at_work.is_empty() {
            self.at_work.remove(&server);
        }
        let at_work = (!threads.has_pool).then_some(number);
        (number > 0).then_some(PriorClients { server, connected, at_work })
    }

    /// The servers whose threads are to be looked at.
    pub(crate) fn threaded(&self) -> Vec<TracedServer> {
        self.at_work.values().map(|(server, _)| server.clone()).collect()
    }
}

/// What a process is at: `Some(None)`: nothing, `None`: nobody knows.
fn activity(
    title: &TitleActivity<'_>,
    wait: Option<u32>,
    lock: impl Fn(u32) -> Option<Cow<'static, str>>,
) -> Option<Option<PriorActivity>> {
    if let Some(name) = wait.and_then(lock) {
        return Some(Some(PriorActivity::Waiting(name)));
    }
    match title {
        TitleActivity::InTransaction => Some(Some(PriorActivity::InTransaction)),
        TitleActivity::Idle => Some(None),
        // It takes rows in. Other commands wait for no client: their title is an old one.
        TitleActivity::AtWork(command) if wait == Some(CLIENT_READ) && *command != "COPY" => {
            Some(None)
        }
        TitleActivity::AtWork(command) => Some(Some(PriorActivity::AtWork((*command).to_owned()))),
        // Where it writes down what it waits for, that was no lock any more.
        TitleActivity::Waiting(command) if wait.is_some() => {
            Some(Some(PriorActivity::AtWork((*command).to_owned())))
        }
        TitleActivity::Waiting(_) => Some(Some(PriorActivity::Waiting("lock".into()))),
        TitleActivity::Unknown if wait == Some(CLIENT_READ) => Some(None),
        TitleActivity::Unknown => None,
    }
}

fn session(
    server: u32,
    process: u32,
    title: &BackendTitle<'_>,
    activity: PriorActivity,
) -> PriorSession {
    let (user, database) = title.names.unwrap_or_default();
    PriorSession {
        server,
        thread: Some(process),
        id: process.into(),
        user: user.to_owned(),
        database: database.to_owned(),
        activity,
        length: None,
        statement: String::new(),
        source: PriorSource::Title,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::WireProtocol;

    const LOCK: u32 = 0x0300_0005;

    fn glimpse(activity: &str, wait: Option<u32>) -> Option<BackendGlimpse> {
        let title = format!("postgres: app shop [local] {activity}");
        Some(BackendGlimpse { title, inner: None, wait })
    }

    /// What becomes of one process with this title and this wait.
    fn seen(activity: &str, wait: Option<u32>) -> (Vec<PriorActivity>, Option<PriorClients>) {
        let lock = |wait: u32| (wait == LOCK).then_some(Cow::Borrowed("transactionid"));
        let glimpses = [(11, glimpse(activity, wait))];
        let (sessions, clients) = PriorSessions::default().take_backends(7, glimpses, lock);
        (sessions.into_iter().map(|one| one.activity).collect(), clients)
    }

    #[test]
    fn a_process_is_at_what_its_title_and_its_memory_say() {
        let at_work = |command: &str| vec![PriorActivity::AtWork(command.to_owned())];
        assert_eq!(seen("UPDATE", None).0, at_work("UPDATE"));
        assert_eq!(seen("UPDATE waiting", Some(0)).0, at_work("UPDATE"));
        assert_eq!(seen("COPY", Some(CLIENT_READ)).0, at_work("COPY"));
        assert_eq!(seen("SET", Some(CLIENT_READ)), (Vec::new(), None), "an old title");
        assert_eq!(seen("", Some(CLIENT_READ)), (Vec::new(), None));
        assert_eq!(seen("idle", None), (Vec::new(), None));
        let waiting = |lock: &'static str| vec![PriorActivity::Waiting(lock.into())];
        assert_eq!(seen("UPDATE", Some(LOCK)).0, waiting("transactionid"));
        assert_eq!(seen("UPDATE waiting", None).0, waiting("lock"));
        let idle = "idle in transaction";
        assert_eq!(seen(idle, Some(CLIENT_READ)).0, [PriorActivity::InTransaction]);
        let unknown = PriorClients { server: 7, connected: 1, at_work: None };
        assert_eq!(seen("", None), (Vec::new(), Some(unknown)));
    }

    #[test]
    fn a_session_in_a_container_has_the_number_that_its_server_calls_it() {
        let outside = glimpse("SELECT", None).expect("one");
        let inside = BackendGlimpse { inner: Some(57), ..glimpse("SELECT", None).expect("one") };
        let seen = [(11, Some(outside)), (4711, Some(inside))];
        let (sessions, _) = PriorSessions::default().take_backends(7, seen, |_| None);
        let numbers: Vec<_> = sessions.iter().map(|one| (one.id, one.thread)).collect();
        assert_eq!(numbers, [(11, Some(11)), (57, Some(4711))]);
    }

    #[test]
    fn whoever_was_without_work_is_watched_from_then_on() {
        let mut prior = PriorSessions::default();
        let mut look = |glimpses: Vec<(u32, Option<BackendGlimpse>)>| {
            let (sessions, _) = prior.take_backends(7, glimpses, |_| None);
            (sessions.len(), prior.backends[&7].clone())
        };
        let at_work = || glimpse("SELECT", None);
        let first = vec![(1, at_work()), (2, glimpse("idle", None)), (3, None), (4, at_work())];
        assert_eq!(look(first), (2, vec![1, 4]));
        assert_eq!(look(vec![(1, glimpse("idle", None)), (4, at_work())]), (1, vec![4]));
    }

    fn server() -> TracedServer {
        TracedServer {
            process: 7,
            program: "mariadbd".to_owned(),
            protocol: WireProtocol::Mysql,
            processes: vec![7],
            ports: Vec::new(),
            inner_process: None,
            place: None,
        }
    }

    fn threads(clients: &[u64], idle: &[u64]) -> ClientThreads {
        let set = |numbers: &[u64]| numbers.iter().copied().collect();
        ClientThreads { clients: set(clients), idle: set(idle), has_pool: false }
    }

    #[test]
    fn clients_are_at_work_until_their_threads_wait_for_them_or_they_are_seen() {
        let mut prior = PriorSessions::default();
        prior.begin(&server(), &threads(&[1, 2, 3, 4], &[1]));
        let mut at_work = |now: &ClientThreads, seen: usize| {
            prior.seen.insert(7, seen);
            prior.take_threads(7, now).map(|clients| (clients.connected, clients.at_work))
        };
        assert_eq!(at_work(&threads(&[1, 2, 3, 4], &[1]), 0), Some((4, Some(3))));
        assert_eq!(at_work(&threads(&[1, 2, 3, 4], &[2]), 0), Some((4, Some(2))));
        // The first one, and one of the others: which of them is not known.
        assert_eq!(at_work(&threads(&[1, 2, 3, 4], &[1]), 3), Some((4, Some(1))));
        assert_eq!(
            at_work(&threads(&[1, 2, 3], &[]), 2),
            Some((3, Some(1))),
            "the fourth has gone"
        );
        assert_eq!(at_work(&threads(&[1, 2, 3], &[3]), 2), None);
        assert_eq!(at_work(&threads(&[1, 2, 3], &[]), 0), None, "nobody is left");
    }

    #[test]
    fn of_a_pool_of_threads_nothing_is_known() {
        let mut prior = PriorSessions::default();
        let pool = ClientThreads { has_pool: true, ..threads(&[1, 2], &[]) };
        prior.begin(&server(), &pool);
        let expected = PriorClients { server: 7, connected: 2, at_work: None };
        assert_eq!(prior.take_threads(7, &pool), Some(expected));
    }
}
