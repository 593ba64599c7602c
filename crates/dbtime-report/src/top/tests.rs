//! What stands on screens of all sizes.

use super::*;
use dbtime_model::lock_picture::{LockClaim, LockPicture, ServerSession};
use dbtime_model::traced::{
    Blocker, QueryCache, RequestOutcome, SessionLogin, TextState, TracedRequest,
};
use dbtime_model::traced_files::{FileName, FileWait};
use dbtime_model::traced_ledger::TraceLedger;
use dbtime_model::traced_live::{ConnectionActivity, LiveConnection};
use dbtime_model::traced_prior::{
    PriorActivity, PriorClients, PriorSession, PriorSource, PriorWork,
};
use dbtime_model::traced_totals::{Preemption, TraceTotals};
use dbtime_model::{
    LogHistogram, MonoNanos, Nanos, Part, Parts, ServerQueueParts, SparseCounts, WireProtocol,
};
use proptest::prelude::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent};

const MS: u64 = 1_000_000;

/// Parts of so many milliseconds.
fn parts(amounts: &[(Part, u64)]) -> Parts {
    let ns: Vec<_> = amounts.iter().map(|(part, ms)| (*part, Nanos(ms * MS).signed())).collect();
    Parts::of(&ns)
}

fn totals(count: u64, response: u64, parts: Parts) -> TraceTotals {
    let (file, part) = (FileName::Mapped, Part::IoRead);
    let read = FileWait { file, part, count, length: parts.duration(Part::Cpu) };
    let mut totals = TraceTotals {
        count,
        response: Nanos(response * MS),
        longest: Nanos(response * MS / count),
        errors: count / 10,
        executes: 0,
        queued: 0,
        server_queue: Nanos::ZERO,
        queue_parts: ServerQueueParts::default(),
        files: vec![read],
        parts,
        responses: LogHistogram::default(),
        coarse: SparseCounts::default(),
    };
    totals.responses.add(170, count);
    totals.coarse.add_to(9, count);
    totals
}

fn request(connection: u64, text: &str) -> TracedRequest {
    TracedRequest {
        connection,
        executes: 0,
        statements: Vec::new(),
        login: (connection < 3).then(|| {
            SessionLogin {
                user: "app".into(),
                database: "shop".into(),
                id: Some(4711),
                ..SessionLogin::default()
            }
            .into()
        }),
        process: 4711,
        thread: 6480 + connection as u32,
        start: MonoNanos(1_000 * MS),
        first_sent: None,
        end: MonoNanos(1_212 * MS),
        protocol: WireProtocol::Mysql,
        command: 3,
        length: 24,
        text: text.into(),
        text_state: TextState::Whole,
        sent_bytes: 64,
        writes: 1,
        rows: None,
        error: None,
        outcome: RequestOutcome::Ended,
        server_queue: None,
        queue_parts: None,
        parts: parts(&[(Part::Cpu, 2), (Part::Lock, 210)]),
        other_call: None,
        blocker: Some(Blocker {
            thread: Some(6481),
            connection: Some(1),
            lock: Some("row lock".into()),
            statement: Some("COMMIT".into()),
            length: Nanos(210 * MS),
            ..Blocker::default()
        }),
        preemptors: Vec::new(),
        files: Vec::new(),
        cache: QueryCache::NotAsked,
        is_match: false,
        answer_arrived: None,
        taken: None,
        stacks: Vec::new(),
    }
}

fn party(connection: u64, server_id: Option<u64>, statement: &str) -> LockParty {
    LockParty { connection, server_id, statement: statement.to_owned() }
}

fn server(process: u32, name: &str) -> SceneServer {
    SceneServer { process, name: name.to_owned() }
}

fn scene() -> TopScene {
    let update = parts(&[(Part::Cpu, 20), (Part::Lock, 580)]);
    let select = parts(&[(Part::Cpu, 90), (Part::IoRead, 9)]);
    let statements = vec![
        ("SELECT c FROM sbtest1 WHERE id=?".to_owned(), totals(9000, 100, select)),
        ("UPDATE t SET n = n + ? WHERE id = ?".to_owned(), totals(12, 600, update)),
    ];
    let mut all = TraceTotals::default();
    statements.iter().for_each(|(_, totals)| all.add(totals));
    let preemptors = vec![
        Preemption { name: Some("sysbench\u{1b}[2J".into()), count: 30, length: Nanos(7 * MS) },
        Preemption { name: None, count: 0, length: Nanos(3 * MS) },
    ];
    let span = Span { length: Nanos(2000 * MS), statements, all, preemptors, replaced: None };
    let at = MonoNanos(1_212 * MS);
    let live = |connection, text: &str, activity| LiveConnection {
        at,
        server: Some(4711),
        request: request(connection, text),
        activity,
    };
    TopScene {
        clock: "2026-11-22 05:00:00".to_owned(),
        servers: vec![server(4711, "mariadbd 4711 :3306")],
        whole: span.clone(),
        lately: span,
        rates: (0..200).map(|n| 4000 + n % 7 * 100).collect(),
        connections: vec![
            live(1, "COMMIT", ConnectionActivity::Idle),
            live(2, "UPDATE t SET n = n + ?", ConnectionActivity::Waiting("row lock".into())),
            live(3, "SELECT\n\tc\u{1b}[31m", ConnectionActivity::In(Part::Cpu)),
        ],
        lacks_connections: false,
        prior: PriorWork::default(),
        watched_for: Nanos(5_200 * MS),
        lock_waits: vec![LockWait {
            server: Some(4711),
            waiter: party(2, Some(4711), "UPDATE t SET n = n + ?"),
            holder: Some(party(1, None, "COMMIT")),
            lock: "row lock".to_owned(),
            length: Nanos(210 * MS),
        }],
        login: LoginScene::default(),
        slowest: vec![request(2, "UPDATE t SET n = n + ? WHERE id = ?")],
        ledger: TraceLedger::default(),
    }
}

fn drawn(columns: u16, rows: u16, state: &mut TopState) -> String {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).expect("a screen");
    terminal.draw(|frame| draw(frame, &scene(), state)).expect("drawn");
    terminal.backend().to_string()
}

fn press(state: &mut TopState, keys: &str) {
    for key in keys.chars() {
        let code = if key == '\n' { KeyCode::Enter } else { KeyCode::Char(key) };
        state.key(KeyEvent::from(code));
    }
}

#[test]
fn every_view_fits_a_small_screen() {
    let mut state = TopState::default();
    insta::assert_snapshot!("statements_80", drawn(80, 24, &mut state));
    press(&mut state, "\n");
    insta::assert_snapshot!("statement_80", drawn(80, 24, &mut state));
    press(&mut state, "2");
    insta::assert_snapshot!("connections_80", drawn(80, 24, &mut state));
    press(&mut state, "3");
    insta::assert_snapshot!("blockers_80", drawn(80, 24, &mut state));
    press(&mut state, "4");
    insta::assert_snapshot!("preemptors_80", drawn(80, 24, &mut state));
    press(&mut state, "?");
    insta::assert_snapshot!("help_80", drawn(80, 24, &mut state));
}

#[test]
fn a_large_screen_has_more_of_everything() {
    let mut state = TopState::default();
    insta::assert_snapshot!("statements_160", drawn(160, 20, &mut state));
    press(&mut state, "2");
    insta::assert_snapshot!("connections_160", drawn(160, 12, &mut state));
}

#[test]
fn rows_are_sorted_and_filtered_as_was_chosen() {
    let mut state = TopState::default();
    let first = |screen: &str| screen.find("SELECT c") < screen.find("UPDATE t");
    assert!(!first(&drawn(120, 24, &mut state)));
    press(&mut state, "s");
    assert!(first(&drawn(120, 24, &mut state)));
    press(&mut state, "/update\n");
    let filtered = drawn(120, 24, &mut state);
    assert!(filtered.contains("UPDATE t") && !filtered.contains("SELECT c"));
    press(&mut state, "/x");
    let nothing = drawn(120, 24, &mut state);
    assert!(nothing.contains("nothing yet matching the filter"), "{nothing}");
    assert!(nothing.contains("filter: updatex"), "{nothing}");
}

#[test]
fn no_text_moves_the_cursor() {
    let mut state = TopState::default();
    for keys in ["", "2", "3", "4"] {
        press(&mut state, keys);
        assert!(!drawn(120, 24, &mut state).contains('\u{1b}'), "{keys}");
    }
}

/// What a server knows of who waits for connection 1.
fn picture() -> LockPicture {
    let session = |id, state: &str| ServerSession {
        id,
        user: "app".to_owned(),
        address: "10.0.0.7:51234".to_owned(),
        state: state.to_owned(),
        in_state: Some(Nanos(24_000 * MS)),
        statement: "UPDATE t\u{1b}[2J SET n = ?".to_owned(),
        thread: Some(6480 + id as u32),
        ..ServerSession::default()
    };
    let claim = LockClaim {
        waiter: 2,
        holder: Some(1),
        lock: "row lock".to_owned(),
        object: "shop/t".to_owned(),
        length: Some(Nanos(22_000 * MS)),
    };
    LockPicture {
        sessions: vec![session(1, "idle in transaction"), session(2, "Updating")],
        claims: vec![claim],
        notes: Vec::new(),
        ends_with: "KILL ID",
    }
}

#[test]
fn a_login_names_who_holds_what_others_wait_for() {
    let mut state = TopState { view: TopView::Blockers, ..TopState::default() };
    let mut scene = scene();
    let notes = vec!["who holds metadata locks is not known".to_owned()];
    let picture = Some(picture());
    scene.login = LoginScene { is_there: true, picture, notes, ..LoginScene::default() };
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).expect("a screen");
    terminal.draw(|frame| draw(frame, &scene, &mut state)).expect("drawn");
    insta::assert_snapshot!("blockers_login_80", terminal.backend());
    // One that the server's picture does not have yet is there all the same.
    scene.connections[2].activity = ConnectionActivity::In(Part::Lock);
    terminal.draw(|frame| draw(frame, &scene, &mut state)).expect("drawn");
    let screen = terminal.backend().to_string();
    assert!(screen.contains("Now: 1 waits for locks") && screen.contains("#3"), "{screen}");
    (scene.login.picture, scene.connections) = (None, Vec::new());
    terminal.draw(|frame| draw(frame, &scene, &mut state)).expect("drawn");
    let screen = terminal.backend().to_string();
    assert!(screen.contains("no session waits for long"), "{screen}");
}

fn shown(scene: &TopScene, state: &mut TopState, columns: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(columns, 24)).expect("a screen");
    terminal.draw(|frame| draw(frame, scene, state)).expect("drawn");
    terminal.backend().to_string()
}

/// A session of a PostgreSQL that is at something from before.
fn prior(id: u64, activity: PriorActivity) -> PriorSession {
    PriorSession {
        server: 5000,
        thread: Some(id as u32),
        id,
        user: "app".to_owned(),
        database: "shop".to_owned(),
        activity,
        length: None,
        statement: String::new(),
        source: PriorSource::Title,
    }
}

#[test]
fn what_goes_on_from_before_has_rows_and_is_counted() {
    let mut scene = scene();
    scene.servers.push(server(5000, "postgres 5000 :5432"));
    let listed = PriorSession {
        length: Some(Nanos(90_000 * MS)),
        statement: "DELETE\u{1b}[2J FROM t".to_owned(),
        source: PriorSource::List,
        ..prior(6482, PriorActivity::AtWork("active".to_owned()))
    };
    scene.prior = PriorWork {
        sessions: vec![
            prior(12, PriorActivity::Waiting("transactionid".into())),
            prior(13, PriorActivity::InTransaction),
            prior(14, PriorActivity::AtWork("ALTER TABLE".to_owned())),
            listed,
        ],
        clients: vec![PriorClients { server: 4711, connected: 9, at_work: Some(3) }],
    };
    let mut state = TopState { view: TopView::Connections, ..TopState::default() };
    let screen = shown(&scene, &mut state, 200);
    for text in [
        "2 busy + up to 6 from before",
        "1 locked for up to 210 ms, 1 from before dbtime looked",
        "   5000      12 app",
        ">5.20 s",
        "idle in trans",
        "(before dbtime looked) ALTER TABLE, by its title; its text was not seen",
        "90.0 s",
        "(before dbtime looked) DELETE",
        "mariadbd 4711 :3306: up to 3 of 9 clients",
    ] {
        assert!(screen.contains(text), "{text}: {screen}");
    }
    assert!(!screen.contains('\u{1b}'), "{screen}");
    state.view = TopView::Blockers;
    let screen = shown(&scene, &mut state, 200);
    assert!(screen.contains(" Server Connection"), "{screen}");
    assert!(screen.contains("   4711 └ connection 4711"), "{screen}");
    assert!(screen.contains("Now: 2 wait for locks; --login URL"), "{screen}");
    assert!(screen.contains("12") && screen.contains("transactionid"), "{screen}");
}

#[test]
fn a_login_knows_the_sessions_of_its_own_server_alone() {
    let mut scene = scene();
    // It has the number, and the thread, of one that waits elsewhere.
    scene.connections[1].server = Some(5000);
    let (picture, is_there) = (Some(picture()), true);
    let login = LoginScene { is_there, picture, server: Some(4711), ..LoginScene::default() };
    let mut state = TopState { view: TopView::Blockers, ..TopState::default() };
    let screen = shown(&TopScene { login, ..scene }, &mut state, 100);
    assert_eq!(screen.matches("Now: 1 waits for locks").count(), 2, "{screen}");
}

#[test]
fn a_number_alone_is_nobody_s_where_several_servers_may_be_meant() {
    let mut scene = scene();
    scene.servers.push(server(5000, "mariadbd 5000 :3307"));
    let mut picture = picture();
    picture.sessions.iter_mut().for_each(|session| session.thread = None);
    // So the connection is called that waits, maybe elsewhere.
    picture.sessions[1].id = 4711;
    scene.login = LoginScene { is_there: true, picture: Some(picture), ..LoginScene::default() };
    let mut state = TopState { view: TopView::Blockers, ..TopState::default() };
    let screen = shown(&scene, &mut state, 100);
    assert_eq!(screen.matches("Now: 1 waits for locks").count(), 2, "{screen}");
}

#[test]
fn the_same_number_at_another_server_is_somebody_else() {
    let mut scene = scene();
    let mut picture = picture();
    picture.sessions.iter_mut().for_each(|session| session.thread = None);
    picture.sessions[1].id = 4711;
    let times = |scene: &TopScene, server, is_elsewhere| {
        let picture = Some(picture.clone());
        let login =
            LoginScene { is_there: true, picture, server, is_elsewhere, ..LoginScene::default() };
        let mut state = TopState { view: TopView::Blockers, ..TopState::default() };
        let screen = shown(&TopScene { login, ..scene.clone() }, &mut state, 100);
        screen.matches("Now: 1 waits for locks").count()
    };
    assert_eq!(times(&scene, Some(4711), false), 1);
    assert_eq!(times(&scene, None, true), 2, "the login is to one that is not watched");
    scene.servers.push(server(5000, "postgres 5000 :5432"));
    assert_eq!(times(&scene, Some(4711), false), 1);
    // Which server it is of is not known yet.
    scene.connections[1].server = None;
    assert_eq!(times(&scene, Some(4711), false), 2);
}

#[test]
fn the_first_line_counts_those_that_the_tree_of_a_login_has() {
    let from_before = |id| {
        let waiting = PriorActivity::Waiting("row lock".into());
        PriorSession { server: 4711, source: PriorSource::List, ..prior(id, waiting) }
    };
    let prior = PriorWork { sessions: vec![from_before(2)], clients: Vec::new() };
    let (picture, is_there) = (Some(picture()), true);
    let login = LoginScene { is_there, picture, server: Some(4711), ..LoginScene::default() };
    let scene = TopScene { login, prior, connections: Vec::new(), ..scene() };
    let mut state = TopState { view: TopView::Blockers, ..TopState::default() };
    let screen = shown(&scene, &mut state, 100);
    assert!(screen.contains(" 1 locked from before dbtime looked "), "{screen}");
    assert!(screen.contains("0 busy + 1 from before"), "{screen}");
    assert_eq!(screen.matches("Now: 1 waits for locks").count(), 1, "{screen}");
}

#[test]
fn what_is_missing_is_said_on_every_view() {
    let mut terminal = Terminal::new(TestBackend::new(100, 24)).expect("a screen");
    let ledger = TraceLedger { dropped: 1500, ..TraceLedger::default() };
    let scene = TopScene { ledger, ..scene() };
    let mut state = TopState::default();
    terminal.draw(|frame| draw(frame, &scene, &mut state)).expect("drawn");
    let screen = terminal.backend().to_string();
    assert!(screen.contains("1,500 requests too many"), "{screen}");
}

#[test]
fn a_view_says_that_where_responses_went_was_not_measured() {
    let mut scene = scene();
    for span in [&mut scene.lately, &mut scene.whole] {
        let (parts, preemptors) = (Parts::default(), Vec::new());
        let all = TraceTotals { parts, ..span.all.clone() };
        *span = Span { all, preemptors, statements: Vec::new(), ..span.clone() };
    }
    (scene.lock_waits, scene.connections) = (Vec::new(), Vec::new());
    for (view, is_unknown) in [
        (TopView::Statements, false),
        (TopView::Connections, false),
        (TopView::Blockers, true),
        (TopView::Preemptors, true),
    ] {
        let mut state = TopState { view, ..TopState::default() };
        let screen = shown(&scene, &mut state, 100);
        assert!(screen.contains("not measured: the parts of responses"), "{screen}");
        assert_eq!(screen.contains("nothing yet"), !is_unknown, "{screen}");
    }
}

#[test]
fn what_connections_are_at_is_no_zero_where_it_is_not_known() {
    let scene = TopScene { lacks_connections: true, connections: Vec::new(), ..scene() };
    let mut state = TopState { view: TopView::Connections, ..TopState::default() };
    let screen = shown(&scene, &mut state, 100);
    assert!(screen.contains("  ? busy"), "{screen}");
    assert!(screen.contains("not measured: what connections are at"), "{screen}");
    assert!(!screen.contains("nothing yet"), "{screen}");
}

#[test]
fn who_could_run_waits_for_a_cpu_whatever_the_reason() {
    let mut scene = scene();
    let mut state = TopState { view: TopView::Connections, ..TopState::default() };
    for part in [Part::RunqPreempted, Part::RunqWoken] {
        scene.connections[2].activity = ConnectionActivity::In(part);
        let screen = shown(&scene, &mut state, 100);
        assert!(screen.contains(" waits for CPU "), "{screen}");
    }
}

#[test]
fn statements_that_have_not_ended_have_no_longest_response() {
    let mut scene = scene();
    scene.lately.statements = vec![("SELECT 1".to_owned(), TraceTotals::default())];
    let screen = shown(&scene, &mut TopState::default(), 120);
    let row = screen.lines().find(|line| line.contains("SELECT 1")).expect("a row");
    assert!(!row.contains("0 ns"), "{row}");
}

proptest! {
    // Each draws up to nine screens of thousands of cells.
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_screen_is_too_small(columns in 1u16..200, rows in 1u16..60, keys in "[1-4sSwf?jk/\n a]{0,9}",
                              is_empty: bool) {
        let mut state = TopState::new(true);
        let scene = if is_empty { TopScene::default() } else { scene() };
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).expect("a screen");
        for key in keys.chars() {
            press(&mut state, &key.to_string());
            terminal.draw(|frame| draw(frame, &scene, &mut state)).expect("drawn");
        }
    }
}
