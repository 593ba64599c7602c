//! Servers that let everybody in, and then fall silent or never stop talking: commands end in time,
//! by one Ctrl-C, and with little memory.

use crate::raw_postgres::message;
use crate::sandbox::{PATIENCE, Ran, Sandbox};
use dbtime_model::Product;
use dbtime_wire::mysql::write_packet;
use rustix::process::Signal;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

const PRODUCTS: [Product; 2] = [Product::Mysql, Product::Postgres];

/// What dbtime may have in memory whatever a server sends, in kilobytes: a run that looks at the
/// server before its load reads two endless answers up to their bound.
const MAX_MEMORY_KB: u64 = 72 << 10;

/// What a server says to every question.
struct RogueWords {
    product: Product,
    /// At first.
    head: Vec<u8>,
    /// Without end; nothing: it is silent.
    flood: Vec<u8>,
}

/// A server that serves all who come, until the process of the tests ends.
struct RogueServer {
    product: Product,
    port: u16,
    /// Hears of every question.
    asked: Receiver<()>,
}

impl RogueServer {
    fn start(words: RogueWords) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let (product, (hears, asked)) = (words.product, channel());
        let words = Arc::new(words);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (words, hears) = (Arc::clone(&words), hears.clone());
                // Whoever has had enough of it goes.
                std::thread::spawn(move || words.serve(stream, &hears));
            }
        });
        Self { product, port, asked }
    }

    fn silent(product: Product) -> Self {
        Self::start(RogueWords { product, head: Vec::new(), flood: Vec::new() })
    }

    fn target(&self) -> String {
        let port = self.port;
        match self.product {
            Product::Postgres => format!("postgres://u@127.0.0.1:{port}/d?sslmode=disable"),
            _ => format!("mysql://u@127.0.0.1:{port}/d"),
        }
    }

    /// Commands that ask it something of their own accord.
    fn commands(&self) -> [String; 4] {
        let target = self.target();
        // No server by its name: the process of the tests.
        let server = format!("-p {} --server-kind {}", std::process::id(), self.product.name());
        [
            format!("run values1 --target '{target}' --transactions 1 --no-record --quiet"),
            format!("init tpcb --target '{target}' --quiet"),
            format!("counters --target '{target}'"),
            format!("trace {server} --port {} --login '{target}'", self.port),
        ]
    }
}

impl RogueWords {
    fn serve(&self, mut stream: TcpStream, hears: &Sender<()>) -> io::Result<()> {
        if self.product == Product::Postgres {
            hear(&mut stream)?;
            stream.write_all(&[message(b'R', &[0; 4]), message(b'Z', b"I")].concat())?;
        } else {
            stream.write_all(&packet(0, &greeting()))?;
            hear(&mut stream)?;
            stream.write_all(&packet(2, b"\0\0\0\x02\0\0\0"))?;
        }
        while hear(&mut stream)? > 0 {
            // The test may be over.
            let _ = hears.send(());
            stream.write_all(&self.head)?;
            while !self.flood.is_empty() {
                stream.write_all(&self.flood)?;
            }
        }
        Ok(())
    }
}

fn hear(stream: &mut TcpStream) -> io::Result<usize> {
    stream.read(&mut [0; 4096])
}

fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = Vec::new();
    write_packet(payload, sequence, &mut packet);
    packet
}

/// That of a MySQL 8.0 without TLS.
fn greeting() -> Vec<u8> {
    let mut greeting = b"\x0a8.0.36\0\x07\0\0\0challeng\0\x0d\xa2\x2d\x02\0\x0b\0\x15".to_vec();
    greeting.extend_from_slice(&[0; 10]);
    greeting.extend_from_slice(b"e of twelve.\0mysql_native_password\0");
    greeting
}

/// Short rows, which take the most memory for their bytes: more of them than are kept.
const SHORT_ROWS: usize = 200_000;

/// What goes on without end is long, so that it takes a test little time.
static LONG_TEXT: [u8; 60_000] = [b'x'; 60_000];

/// Rows, and what comes between messages, without end.
fn floods(product: Product) -> [RogueWords; 2] {
    let flood = |head: Vec<u8>, flood: Vec<u8>| RogueWords { product, head, flood };
    if product == Product::Postgres {
        let columns = message(b'T', b"\0\x01c\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0");
        let rows = message(b'D', b"\0\x01\0\0\0\x011").repeat(SHORT_ROWS);
        let row = message(b'D', &[&b"\0\x01\0\0\xea\x60"[..], &LONG_TEXT].concat());
        let notice = [&b"SNOTICE\0C00000\0M"[..], &LONG_TEXT, b"\0\0"].concat();
        return [flood([columns, rows].concat(), row), flood(Vec::new(), message(b'N', &notice))];
    }
    let column =
        b"\x03def\x00\x00\x00\x01c\x00\x0c\x21\x00\x10\x00\x00\x00\xfe\x00\x00\x00\x00\x00";
    let columns = [packet(1, &[1]), packet(2, column), packet(3, b"\xfe\0\0\x02\0")].concat();
    let rows = packet(4, b"\x011").repeat(SHORT_ROWS);
    let row = packet(4, &[&b"\xfc\x60\xea"[..], &LONG_TEXT].concat());
    // Behind each of the results another one follows.
    let result = packet(1, &[&b"\0\0\0\x0a\0\0\0"[..], &LONG_TEXT].concat());
    [flood([columns, rows].concat(), row), flood(Vec::new(), result)]
}

/// Runs a command to its end. Returns the most that it ever had in memory, in kilobytes.
fn run_watched(line: &str) -> (Ran, u64) {
    let sandbox = Sandbox::new();
    let mut running = sandbox.start(line);
    let (status, begun) = (format!("/proc/{}/status", running.pid()), Instant::now());
    let mut most = 0u64;
    while !running.has_ended() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.parse().ok());
        most = most.max(peak.unwrap_or(0));
        assert!(begun.elapsed() < PATIENCE, "`dbtime {line}` does not end");
        std::thread::sleep(Duration::from_millis(1));
    }
    (running.end(), most)
}

#[test]
fn a_server_that_falls_silent_is_given_up_in_time() {
    std::thread::scope(|scope| {
        for product in PRODUCTS {
            scope.spawn(move || {
                let server = RogueServer::silent(product);
                let [run, init, counters, trace] = server.commands();
                let cases: [(String, &[&str]); 4] = [
                    (run, &["no answer within 30", "see what the server is busy with"]),
                    (init, &["no answer within 30", "see what the server is busy with"]),
                    (counters, &["no answer within 3"]),
                    (trace, &["has not answered `", "leave out --login"]),
                ];
                std::thread::scope(|scope| {
                    for (line, told) in cases {
                        scope.spawn(move || Sandbox::new().run(&line).refused(3, told));
                    }
                });
            });
        }
    });
}

/// Sends a signal to a command, the one at that place, once it waits for a server that is silent.
fn signalled(product: Product, command: usize, signal: Signal) -> Ran {
    let (sandbox, server) = (Sandbox::new(), RogueServer::silent(product));
    let running = sandbox.start(&server.commands()[command]);
    server.asked.recv_timeout(PATIENCE).expect("it asks");
    running.signal(signal);
    let ran = running.end();
    assert!(sandbox.left().is_empty(), "{:?}", sandbox.left());
    ran
}

#[test]
fn one_interrupt_ends_the_wait_for_a_silent_server() {
    for product in PRODUCTS {
        for run_or_init in [0, 1] {
            let ran = signalled(product, run_or_init, Signal::INT);
            ran.exits(130);
            assert_eq!(ran.out, "", "{ran:?}");
            ran.stderr_has(&["dbtime: interrupted while "]);
        }
        // The others have nothing to show yet, and end by the signal itself. Where tests run in the
        // background, SIGINT may be ignored from the start.
        for counters_or_trace in [2, 3] {
            assert_eq!(signalled(product, counters_or_trace, Signal::TERM).code, None);
        }
    }
}

/// As the shell has it of the original.
#[test]
fn an_interrupt_of_pgbench_is_no_failure_of_its_own() {
    for product in PRODUCTS {
        let (sandbox, server) = (Sandbox::new(), RogueServer::silent(product));
        let running = sandbox.start(&format!("pgbench -n -t 1 '--target={}'", server.target()));
        server.asked.recv_timeout(PATIENCE).expect("it asks");
        running.signal(Signal::INT);
        running.end().exits(130);
    }
}

/// What a server says that would be told as words of others, and drive the terminal.
const FORGED: &str = "no\npgbench: error: forged\u{1b}[2J";

/// An error, as the answer to all questions.
fn error(product: Product) -> RogueWords {
    let head = match product {
        Product::Postgres => {
            let fields = format!("SERROR\0C\n\u{1b}[2J\0M{FORGED}\0D{FORGED}\0W{FORGED}\0\0");
            [message(b'E', fields.as_bytes()), message(b'Z', b"I")].concat()
        }
        _ => packet(1, &[&b"\xff\x28\x04#\n\x1b[2J"[..], FORGED.as_bytes()].concat()),
    };
    RogueWords { product, head, flood: Vec::new() }
}

#[test]
fn what_a_server_says_is_told_by_other_tools_commands_on_one_line_too() {
    for product in PRODUCTS {
        let (sandbox, server) = (Sandbox::new(), RogueServer::start(error(product)));
        let script = "function thread_init()
              con = sysbench.sql.driver():connect()
            end
            function event() con:query('SELECT 1') end";
        sandbox.write("one.lua", script);
        let target = server.target();
        for line in [
            format!("pgbench -n -t 1 '--target={target}'"),
            format!("sysbench one.lua --events=1 '--target={target}' run"),
        ] {
            let ran = sandbox.run(&line);
            assert!(ran.code.is_some_and(|code| (1..70).contains(&code)), "{ran:?}");
            let told = format!("{}{}", ran.out, ran.err);
            assert!(told.contains("no pgbench: error: forged"), "{ran:?}");
            assert!(!told.contains('\u{1b}'), "{ran:?}");
            assert!(!told.lines().any(|line| line.starts_with("pgbench: error: forged")));
        }
    }
}

#[test]
fn what_never_ends_takes_little_memory() {
    std::thread::scope(|scope| {
        for words in PRODUCTS.into_iter().flat_map(floods) {
            scope.spawn(move || {
                let server = RogueServer::start(words);
                for line in server.commands() {
                    let (ran, most) = run_watched(&line);
                    let ran = ran.stderr_has(&["dbtime: "]);
                    ran.exits(3);
                    assert!((1..=MAX_MEMORY_KB).contains(&most), "{most} kB: {ran:?}");
                }
            });
        }
    });
}
