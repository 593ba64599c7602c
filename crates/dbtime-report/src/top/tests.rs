//! What stands on screens of all sizes.

use super::*;
use dbtime_model::lock_picture::{LockClaim, LockPicture, ServerSession};
use dbtime_model::traced::{
    Blocker, QueryCache, RequestOutcome, SessionLogin, TextState, TracedRequest,
};
use dbtime_model::traced_files::{FileName, FileWait};
use dbtime_model::traced_ledger::TraceLedger;
use dbtime_model::traced_live::{ConnectionActivity, LiveConnection};
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
        request: request(connection, text),
        activity,
    };
    TopScene {
        clock: "2026-11-22 05:00:00".to_owned(),
        servers: vec!["mariadbd 4711 :3306".to_owned()],
        whole: span.clone(),
        lately: span,
        rates: (0..200).map(|n| 4000 + n % 7 * 100).collect(),
        connections: vec![
            live(1, "COMMIT", ConnectionActivity::Idle),
            live(2, "UPDATE t SET n = n + ?", ConnectionActivity::Waiting("row lock".into())),
            live(3, "SELECT\n\tc\u{1b}[31m", ConnectionActivity::In(Part::Cpu)),
        ],
        lock_waits: vec![LockWait {
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
    assert!(nothing.contains("nothing yet that the filter lets through"), "{nothing}");
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
    scene.login = LoginScene { is_there: true, picture: Some(picture()), notes };
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
    assert!(screen.contains("nobody waits for long"), "{screen}");
}

#[test]
fn what_is_missing_is_said_on_every_view() {
    let mut terminal = Terminal::new(TestBackend::new(100, 24)).expect("a screen");
    let ledger = TraceLedger { dropped: 1500, ..TraceLedger::default() };
    let scene = TopScene { ledger, ..scene() };
    let mut state = TopState::default();
    terminal.draw(|frame| draw(frame, &scene, &mut state)).expect("drawn");
    let screen = terminal.backend().to_string();
    assert!(screen.contains("1,500 requests were too many"), "{screen}");
}

proptest! {
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
