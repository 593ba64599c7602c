//! Who waits for a lock now, and with a login who holds it.

use super::*;
use crate::given_server::{PRODUCTS, patient};
use crate::lock_client::LockClient;

const HOLD: &str = "UPDATE l SET n = 1 WHERE id = 1";
const WAIT: &str = "UPDATE l SET n = 2 WHERE id = 1";

/// Three that wait for one that does nothing.
pub(super) struct Planted {
    holder: LockClient,
    waiters: [LockClient; 3],
}

impl Planted {
    pub(super) fn begin(product: Product, server: &GivenServer) -> Self {
        let client = || LockClient::connect(product, server);
        let mut holder = client();
        let table = "CREATE TABLE l (id INT PRIMARY KEY, n INT)";
        let row = "INSERT INTO l VALUES (1, 0)";
        for sql in ["DROP TABLE IF EXISTS l", table, row, "BEGIN", HOLD] {
            holder.query(sql);
        }
        let mut waiters = [client(), client(), client()];
        waiters.iter_mut().for_each(|waiter| waiter.send(WAIT));
        Self { holder, waiters }
    }

    pub(super) fn end(mut self) {
        self.holder.query("COMMIT");
        self.waiters.iter_mut().for_each(LockClient::answered);
    }
}

/// What stands in the log of a test.
fn note(text: &str) {
    std::io::stderr().write_all(text.as_bytes()).expect("somebody listens");
}

/// How long it takes until the holder is shown, and until it is not any more.
fn holder_is_shown_after(product: Product, server: &GivenServer, screen: &mut Screen) -> Duration {
    let planted = Planted::begin(product, server);
    let begin = Instant::now();
    let ends = if product == Product::Postgres { "pg_terminate_backend(ID)" } else { "KILL ID" };
    let texts = ["Now: 3 wait for locks, for up to ", ends, ": idle in transaction for ", "\n└ "];
    let shown = screen.shows(&texts);
    let after = begin.elapsed();
    note(&format!("{product}: shown {after:?} after the wait began\n{shown}\n"));
    let shown = screen.shows_times("└ ", 3);
    assert!(shown.contains(&format!("  last: {HOLD}\n")), "{shown}");
    screen.shows(&[" 3 locked for up to "]);
    planted.end();
    // What stands there still would be taken for the next. Those that waited stay in the table.
    screen.shows_times("Now: 3 wait for locks", 0);
    after
}

#[test]
fn who_holds_what_others_wait_for_is_shown_within_two_seconds() {
    for product in PRODUCTS {
        let (sandbox, server) = (Sandbox::new(), GivenServer::start(product, patient(product)));
        let login = format!("--login '{}' --every 2s", server.target());
        let top = format!("top -p {} --raw-sql {login}", server.server.pid());
        let Some(mut screen) = Screen::of(sandbox.command(&top)) else { return };
        screen.press("3");
        screen.wait_for(&["Times"]);
        // Whoever has no CPU for a while shows it later.
        let mut seen = Vec::new();
        let is_shown = (0..4).any(|_| {
            let after = holder_is_shown_after(product, &server, &mut screen);
            seen.push(after);
            // A second until the server is asked at all, and two more.
            after < Duration::from_secs(1 + 2)
        });
        assert!(is_shown, "{product}: later than that four times: {seen:?}");
        screen.press("q");
        assert_eq!(screen.ended().0, Some(0));
    }
}

#[test]
fn without_a_login_it_is_shown_who_waits_and_what_would_help() {
    for product in PRODUCTS {
        let (sandbox, server) = (Sandbox::new(), GivenServer::start(product, patient(product)));
        let Some(mut screen) = Screen::open(&sandbox, &server) else { return };
        screen.press("3");
        screen.wait_for(&["Times"]);
        let planted = Planted::begin(product, &server);
        let texts = [
            " 3 locked for up to ",
            "Now: 3 wait for locks; --login URL would name their holders",
            WAIT,
        ];
        screen.shows(&texts);
        planted.end();
        screen.press("q");
        assert_eq!(screen.ended().0, Some(0));
    }
}

/// A server that answers nothing must not stop the screen.
#[test]
fn a_server_that_stands_still_does_not_stop_the_screen() {
    let product = Product::Mariadb;
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(product, patient(product)));
    let login = format!("--login '{}'", server.target());
    let Some(mut screen) = Screen::open_with(&sandbox, &server, &login) else { return };
    screen.press("3");
    screen.wait_for(&["Times"]);
    let planted = Planted::begin(product, &server);
    screen.shows(&["KILL ID"]);
    let server_pid = Pid::from_raw(server.server.pid().cast_signed()).expect("a process");
    kill_process(server_pid, Signal::STOP).expect("it is there");
    screen.shows(&["has not answered for 2.00 s"]);
    let slowest = |_| {
        let views = [("1", "Share"), ("2", "Thread"), ("1", "Share"), ("3", "KILL ID")];
        let took = views.map(|(view, text)| {
            // Together they take longer than from one look at the server to the next.
            std::thread::sleep(Duration::from_millis(400));
            screen.press(view);
            let begin = Instant::now();
            screen.shows(&[text]);
            begin.elapsed()
        });
        took.into_iter().max().expect("four")
    };
    // A screen that waits for the server takes longer every time, and a busy machine now and then.
    let is_quick = (0..5).map(slowest).any(|slowest| slowest < Duration::from_secs(1));
    assert!(is_quick, "all views take a second and more, five times");
    kill_process(server_pid, Signal::CONT).expect("it is there");
    planted.end();
    screen.press("q");
    assert_eq!(screen.ended().0, Some(0));
}
