//! Who holds the locks that others wait for now: asked of the server, and of nobody while nobody
//! waits.

use super::prior_listing::PriorListing;
use super::trace_session::TraceSession;
use crate::error::LabError;
use crate::holders::{HolderLogin, LoginPlace};
use dbtime_engines::server::secret::ServerSecret;
use dbtime_machine::now;
use dbtime_model::lock_picture::{LockPicture, ServerSession};
use dbtime_model::traced_live::{ConnectionActivity, LiveConnection};
use dbtime_model::traced_prior::PriorWork;
use dbtime_model::{MonoNanos, Nanos, Part, WireProtocol};
use dbtime_observe::trace::{FingerprintCache, TracedServer};
use dbtime_sql::LexicalRules;
use std::sync::Arc;

/// How often it is looked whether somebody waits.
const CHECK_INTERVAL: Nanos = Nanos::from_secs(1);

/// A server is left alone for so many times as long as it took for its answer.
const REST_FACTOR: u64 = 5;

/// An answer that has not come by then is noted.
const LATE_AFTER: Nanos = Nanos::from_secs(2);

/// How often a server is asked for its sessions while some are at what they were at before the
/// watching began.
const LIST_INTERVAL: Nanos = Nanos::from_secs(5);

/// What the kernel knows of a connection.
struct KernelSession {
    /// What the server calls it, where that was seen, and it is known which server that is.
    id: Option<u64>,
    /// The thread that served it last.
    thread: u32,
    /// Its statement, or the last one.
    text: Arc<str>,
    /// When that was seen.
    at: MonoNanos,
    /// How long it had waited for a lock by then.
    lock_wait: Option<Nanos>,
}

/// Which server is asked, and when.
#[derive(Clone, Debug, Default)]
pub struct HolderOptions {
    /// The server's URL, with a password where it has one; `None`: none is.
    pub login: Option<ServerSecret>,
    /// How long somebody has to wait before it is.
    pub threshold: Nanos,
    /// Whether texts keep their literals.
    pub keeps_literals: bool,
}

/// A login, where there is one, and what it has brought.
pub struct HolderWatch {
    /// `None`: none was wanted, or it is lost.
    login: Option<HolderLogin>,
    /// Whether there is a login, or was.
    has_login: bool,
    picture: Option<LockPicture>,
    notes: Vec<String>,
    /// That the login is to a server that is not watched.
    apart_note: Option<String>,
    /// How long somebody has to wait before the server is asked.
    threshold: Nanos,
    keeps_literals: bool,
    fingerprints: FingerprintCache,
    /// What the kernel knows of each connection: servers forget statements, and count whole
    /// seconds.
    known: Vec<KernelSession>,
    /// When it is looked again whether somebody waits.
    due: MonoNanos,
    /// The server is left alone until then.
    rests_until: MonoNanos,
    /// Whether nothing was asked yet: the kernel does not know who waited before the watching.
    is_new: bool,
    /// Whether the server's silence was spoken of.
    is_late: bool,
    /// The process of the server that was logged in to, where it is known which one that is.
    server: Option<u32>,
    protocol: Option<WireProtocol>,
    /// What its sessions were at before the watching began.
    prior: Option<PriorListing>,
    /// When it is asked for them again.
    list_due: MonoNanos,
}

impl HolderWatch {
    /// Logs in, where that is wanted. To be called before the watching begins, with the rights of
    /// whoever has started dbtime.
    ///
    /// # Errors
    /// The server cannot be reached, or does not let in.
    pub(super) fn connect(options: &HolderOptions) -> Result<Self, LabError> {
        let login = options.login.as_ref().map(|url| HolderLogin::connect(url.reveal()));
        let login = login.transpose()?;
        Ok(Self {
            has_login: login.is_some(),
            picture: None,
            notes: Vec::new(),
            apart_note: None,
            login,
            threshold: options.threshold,
            keeps_literals: options.keeps_literals,
            fingerprints: FingerprintCache::default(),
            known: Vec::new(),
            due: now(),
            rests_until: now(),
            is_new: true,
            is_late: false,
            server: None,
            protocol: None,
            prior: None,
            list_due: now(),
        })
    }

    /// Has connections from before the watching called as the server calls them: where it is known
    /// which of the servers was asked. To be called once the watching has begun. A server that does
    /// not answer is watched all the same.
    ///
    /// # Errors
    /// Nothing is watched any more.
    pub(super) fn list_sessions(&mut self, session: &mut TraceSession) -> Result<(), LabError> {
        let Some(login) = &mut self.login else { return Ok(()) };
        let protocol = login.protocol();
        self.protocol = Some(protocol);
        let alike = session.servers().iter().filter(|server| server.protocol == protocol);
        let alike: Vec<u32> = alike.map(|server| server.process).collect();
        self.server = server_of_login(login.place(), &alike);
        if is_not_watched(login.place(), &alike) {
            let target = login.target();
            let note = format!(
                "{target}, which --login names, is none of the servers that are watched: who holds \
                 locks there is not said of those whose requests are shown"
            );
            self.notes.push(note.clone());
            self.apart_note = Some(note);
        }
        let Some(process) = self.server.filter(|server| alike.contains(server)) else {
            return Ok(());
        };
        let at = now();
        match login.sessions() {
            Ok(sessions) => {
                if login.lists_sessions() {
                    self.begin_prior(process, at, sessions.clone());
                }
                session.list_sessions(process, at, sessions)
            }
            Err(error) => {
                self.login = None;
                self.lose(&error.to_string());
                Ok(())
            }
        }
    }

    /// Notes what sessions are at as the watching begins.
    fn begin_prior(&mut self, server: u32, at: MonoNanos, mut sessions: Vec<ServerSession>) {
        self.show(&mut sessions);
        self.prior = PriorListing::begin(server, at, sessions);
        self.list_due = now() + LIST_INTERVAL;
    }

    /// Leaves of statements what may be shown.
    fn show(&mut self, sessions: &mut [ServerSession]) {
        if self.keeps_literals {
            return;
        }
        let rules = LexicalRules::of_protocol(self.protocol);
        for session in sessions {
            let raw = session.statement.as_bytes();
            session.statement = self.fingerprints.make(raw, &rules).to_string();
        }
    }

    /// Has what the server lists of what its sessions were at before the watching began in the
    /// place of what is guessed of it; without those of `connections`.
    pub fn complete(&mut self, work: &mut PriorWork, connections: &[LiveConnection]) {
        if self.login.is_some()
            && let Some(prior) = &mut self.prior
        {
            prior.complete(work, now(), connections);
        }
    }

    /// The process of the server that was logged in to; `None`: there is no login, or several
    /// servers that it may be.
    pub fn server(&self) -> Option<u32> {
        self.server
    }

    /// What the server speaks that was logged in to.
    pub fn protocol(&self) -> Option<WireProtocol> {
        self.protocol
    }

    /// Whether there is a login, or was.
    pub fn has_login(&self) -> bool {
        self.has_login
    }

    /// Whether that is a server that is not watched.
    pub fn is_elsewhere(&self) -> bool {
        self.apart_note.is_some()
    }

    /// Who waits for whom, where somebody has waited long enough.
    pub fn picture(&self) -> Option<&LockPicture> {
        self.picture.as_ref()
    }

    /// What a reader has to know of it.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Goes on without waiting; to be called some times a second. Returns whether there is
    /// something else to show than before.
    ///
    /// # Errors
    /// The kernel does not let it look at connections.
    pub fn poll(&mut self, session: &mut TraceSession) -> Result<bool, LabError> {
        let Some(mut login) = self.login.take() else { return Ok(false) };
        let mut has_changed = false;
        if now() >= self.due {
            self.due = now() + CHECK_INTERVAL;
            has_changed = self.consider(&mut login, &session.connections()?);
        }
        let has_prior = self.prior.as_ref().is_some_and(|prior| !prior.is_over());
        if has_prior && now() >= self.list_due {
            self.list_due = now() + LIST_INTERVAL;
            login.begin_list();
        }
        let begun = login.begun();
        match login.go_on() {
            Ok(Some(mut picture)) => {
                let servers = session.servers().iter();
                let may_be = |server: &&TracedServer| match self.server {
                    Some(known) => server.process == known,
                    None => server.protocol == login.protocol(),
                };
                let alike: Vec<_> = servers.filter(may_be).collect();
                keep_its_own(&mut self.known, &mut picture, &alike);
                self.take(picture, now() - begun.unwrap_or(now()), login.protocol());
                has_changed = true;
            }
            Ok(None) => has_changed |= self.notice_silence(login.begun()),
            Err(error) => {
                self.lose(&error.to_string());
                return Ok(true);
            }
        }
        if let Some(mut sessions) = login.take_list() {
            self.show(&mut sessions);
            if let Some(prior) = &mut self.prior {
                prior.update(begun.unwrap_or(now()), sessions);
            }
            has_changed = true;
        }
        if begun.is_some() && login.begun().is_none() && std::mem::take(&mut self.is_late) {
            // What was said of its silence, which is over.
            self.notes.remove(0);
            has_changed = true;
        }
        if !login.lists_sessions() {
            // An answer that is none does not say that nobody is left: guesses are all there is.
            self.prior = None;
        }
        self.login = Some(login);
        Ok(has_changed)
    }

    /// Begins to ask where somebody waits. Returns whether what was known is over.
    fn consider(&mut self, login: &mut HolderLogin, connections: &[LiveConnection]) -> bool {
        let known = self.picture.as_ref();
        let goes_on = known.is_some_and(|picture| picture.has_waited(self.threshold));
        let waits_since_before = self.prior.as_ref().is_some_and(PriorListing::has_waiters);
        let is_due = self.is_new
            || goes_on
            || waits_since_before
            || waits(connections, login, self.threshold);
        if !is_due {
            return self.picture.take().is_some();
        }
        let (server, protocol) = (self.server, self.protocol);
        let known = |one: &LiveConnection| {
            let text = Arc::clone(&one.request.text);
            // Each server has a session of that number; threads are the machine's.
            let id = one.request.server_id().filter(|_| server.is_some() && one.server == server);
            let thread = one.request.thread;
            KernelSession { id, thread, text, at: one.at, lock_wait: one.lock_wait() }
        };
        let is_watched = !self.is_elsewhere();
        let of_it = connections.iter().filter(|one| is_watched && is_of(server, protocol, one));
        self.known = of_it.map(known).collect();
        if now() >= self.rests_until {
            login.begin();
        }
        false
    }

    fn take(&mut self, mut picture: LockPicture, took: Nanos, protocol: WireProtocol) {
        let rules = LexicalRules::of_protocol(Some(protocol));
        // The first answer takes longer than others: what it needs has to be read and compiled.
        let rest =
            if self.is_new { Nanos::ZERO } else { Nanos(took.0.saturating_mul(REST_FACTOR)) };
        self.rests_until = now() + rest;
        (self.is_new, self.is_late) = (false, false);
        for session in &mut picture.sessions {
            let known = known_of(&self.known, session);
            if let (true, Some(known)) = (session.statement.is_empty(), known) {
                session.statement = known.text.to_string();
            } else if !self.keeps_literals {
                let raw = session.statement.as_bytes();
                session.statement = self.fingerprints.make(raw, &rules).to_string();
            }
            if let Some(KernelSession { at, lock_wait: Some(length), .. }) = known {
                let claims = picture.claims.iter_mut().filter(|claim| claim.waiter == session.id);
                claims.for_each(|claim| claim.length = Some(*length + (now() - *at)));
            }
        }
        self.notes = self.apart_note.iter().cloned().chain(picture.notes.drain(..)).collect();
        self.picture = Some(picture).filter(|picture| picture.has_waited(self.threshold));
    }

    /// Where a server that should answer does not: once, and it goes away with the answer.
    fn notice_silence(&mut self, begun: Option<MonoNanos>) -> bool {
        let is_late = begun.is_some_and(|begun| now() - begun >= LATE_AFTER);
        let is_news = is_late && !std::mem::replace(&mut self.is_late, is_late);
        if is_news {
            let note =
                format!("the server has not answered for {LATE_AFTER}: this is as it was before");
            self.notes.insert(0, note);
        }
        is_news
    }

    fn lose(&mut self, why: &str) {
        self.picture = None;
        self.notes = vec![format!(
            "the login is lost, and who holds locks is not known any more: {why}; while dbtime \
             watches it may make no other: start it again"
        )];
    }
}

/// Which server was logged in to, of those that are watched and speak as it does; `None`: it may be
/// several.
fn server_of_login(place: LoginPlace, alike: &[u32]) -> Option<u32> {
    match (place, alike) {
        (LoginPlace::Process(process), _) => Some(process),
        (LoginPlace::Here, [only]) => Some(*only),
        (LoginPlace::Here | LoginPlace::Elsewhere, _) => None,
    }
}

/// Whether it is none of these.
fn is_not_watched(place: LoginPlace, alike: &[u32]) -> bool {
    match place {
        LoginPlace::Process(process) => !alike.contains(&process),
        LoginPlace::Here => alike.is_empty(),
        LoginPlace::Elsewhere => true,
    }
}

/// Leaves, of what is known of connections and of the numbers in a picture, what can mean no
/// session of another server than the one that was asked, which is one of those `alike`.
fn keep_its_own(
    known: &mut Vec<KernelSession>,
    picture: &mut LockPicture,
    alike: &[&TracedServer],
) {
    let is_apart = alike.iter().any(|server| server.inner_process.is_some());
    let has_ids = alike.iter().all(|server| server.protocol == WireProtocol::Postgres);
    match (alike.len() > 1, is_apart) {
        (true, true) => {
            known.clear();
            picture.sessions.iter_mut().for_each(|session| session.thread = None);
        }
        // Processes have each their number; connections of MySQL begin with 1 at every server.
        (true, false) if !has_ids => known.iter_mut().for_each(|one| one.id = None),
        (false, true) => number_threads(picture, known),
        (_, false) => {}
    }
}

/// Gives the threads of sessions the numbers that they have here, as far as these are known: for a
/// server in another PID namespace they have others.
fn number_threads(picture: &mut LockPicture, known: &[KernelSession]) {
    for session in &mut picture.sessions {
        let own = known.iter().find(|one| one.id == Some(session.id));
        session.thread = own.map(|one| one.thread);
    }
}

/// Whether a connection is of this server, or of one that speaks so, as far as that is known.
/// Numbers of sessions are a server's own.
fn is_of(server: Option<u32>, protocol: Option<WireProtocol>, one: &LiveConnection) -> bool {
    let is_same = |server: u32| one.server.is_none_or(|other| other == server);
    server.is_none_or(is_same) && protocol.is_none_or(|known| known == one.request.protocol)
}

/// Who a session is: by the server's own number, or else by the thread that serves it.
fn known_of<'a>(known: &'a [KernelSession], session: &ServerSession) -> Option<&'a KernelSession> {
    let by_id = known.iter().find(|one| one.id == Some(session.id));
    let by_thread = || known.iter().find(|one| session.thread == Some(one.thread));
    by_id.or_else(by_thread)
}

/// Whether somebody has waited for so long. Where locks are not known apart, any wait may be for
/// one that no other part explains.
fn waits(connections: &[LiveConnection], login: &HolderLogin, patience: Nanos) -> bool {
    let (protocol, is_exact) = (login.protocol(), login.shows_lock_waits());
    let waited = |one: &LiveConnection| {
        let is_vague = !is_exact && one.activity == ConnectionActivity::In(Part::Other);
        one.lock_wait().or_else(|| is_vague.then_some(one.request.parts.duration(Part::Other)))
    };
    let of_it = connections.iter().filter(|one| one.request.protocol == protocol);
    of_it.filter_map(waited).any(|waited| waited >= patience)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(protocol: WireProtocol, inner_process: Option<u32>) -> TracedServer {
        TracedServer {
            process: 100,
            program: String::new(),
            protocol,
            processes: vec![100],
            ports: Vec::new(),
            inner_process,
            place: None,
        }
    }

    /// The threads of sessions 57 and 58 of a server that has those numbers for their threads too,
    /// beside others like it, and what they had as statements.
    fn kept(servers: &[TracedServer]) -> Vec<(Option<u32>, Option<String>)> {
        let of = |id, thread, text: &str| KernelSession {
            id: Some(id),
            thread,
            text: Arc::from(text),
            at: MonoNanos(0),
            lock_wait: None,
        };
        let mut known = vec![of(57, 4711, "by id"), of(99, 58, "by thread")];
        let session =
            |id, thread| ServerSession { id, thread: Some(thread), ..ServerSession::default() };
        let sessions = vec![session(57, 57), session(58, 58)];
        let mut picture = LockPicture { sessions, ..LockPicture::default() };
        keep_its_own(&mut known, &mut picture, &servers.iter().collect::<Vec<_>>());
        let text = |one: &ServerSession| known_of(&known, one).map(|known| known.text.to_string());
        picture.sessions.iter().map(|one| (one.thread, text(one))).collect()
    }

    #[test]
    fn a_login_is_to_the_server_that_it_is_made_to_and_to_no_other() {
        let of =
            |place, alike: &[u32]| (server_of_login(place, alike), is_not_watched(place, alike));
        assert_eq!(of(LoginPlace::Process(7), &[5, 7]), (Some(7), false));
        assert_eq!(of(LoginPlace::Process(7), &[5]), (Some(7), true));
        assert_eq!(of(LoginPlace::Here, &[5]), (Some(5), false));
        assert_eq!(of(LoginPlace::Here, &[5, 7]), (None, false));
        assert_eq!(of(LoginPlace::Elsewhere, &[5]), (None, true));
    }

    #[test]
    fn nobody_is_taken_for_a_session_of_another_server_or_namespace() {
        let text = |text: &str| Some(text.to_owned());
        let (mysql, postgres) = (WireProtocol::Mysql, WireProtocol::Postgres);
        let all = [(Some(57), text("by id")), (Some(58), text("by thread"))];
        assert_eq!(kept(&[server(mysql, None)]), all);
        assert_eq!(kept(&[server(postgres, None), server(postgres, None)]), all);
        // The thread with that number out here is another's.
        let by_id = [(Some(4711), text("by id")), (None, None)];
        assert_eq!(kept(&[server(mysql, Some(1))]), by_id);
        // Each server has a connection of that number.
        let by_thread = [(Some(57), None), (Some(58), text("by thread"))];
        assert_eq!(kept(&[server(mysql, None), server(mysql, None)]), by_thread);
        let none = [(None, None), (None, None)];
        assert_eq!(kept(&[server(postgres, Some(1)), server(postgres, None)]), none);
    }
}
