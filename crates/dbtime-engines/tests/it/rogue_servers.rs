//! Servers that fall silent, never stop talking, or keep to no protocol: every exchange of dbtime's
//! own ends by its bound.

use dbtime_engines::databases;
use dbtime_engines::drive::plan::RunStop;
use dbtime_engines::server::{Server, ServerError};
use dbtime_engines::socket::ExchangeBound;
use dbtime_load::failure::DatabaseFailure;
use dbtime_machine::now;
use dbtime_model::{ErrorClass, Nanos, Product};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

const PRODUCTS: [Product; 2] = [Product::Mysql, Product::Postgres];

/// How long an answer may take here, and a login.
const LIMIT: Nanos = Nanos::from_millis(300);

/// As long as anything in a test may take.
const PATIENCE: Nanos = Nanos::from_secs(900);

/// Up to where a server does what others do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RogueStage {
    /// It has let itself be connected.
    Greeting,
    /// It has heard who wants in.
    Login,
    /// It has let us in, and heard a question.
    Answer,
}

/// What it goes on with behind its first words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RogueEnd {
    Silence,
    Goodbye,
    /// The same without end.
    Flood,
    /// The same, a byte now and then.
    Trickle,
}

const ENDS: [RogueEnd; 4] =
    [RogueEnd::Silence, RogueEnd::Goodbye, RogueEnd::Flood, RogueEnd::Trickle];

/// A way to behave.
#[derive(Clone, Debug)]
struct ServerConduct {
    product: Product,
    stage: RogueStage,
    words: Vec<u8>,
    end: RogueEnd,
}

impl ServerConduct {
    /// Serves one client; `heard` is told when all went as usual so far.
    fn serve(&self, mut stream: TcpStream, heard: Option<&Sender<()>>) -> io::Result<()> {
        let is_mysql = self.product == Product::Mysql;
        if is_mysql && self.stage != RogueStage::Greeting {
            stream.write_all(&packet(0, &greeting()))?;
        }
        if self.stage != RogueStage::Greeting {
            hear(&mut stream)?;
        }
        if self.stage == RogueStage::Answer {
            let welcome = [message(b'R', &[0; 4]), message(b'Z', b"I")].concat();
            stream.write_all(if is_mysql { MYSQL_WELCOME } else { &welcome })?;
            hear(&mut stream)?;
        }
        if let Some(heard) = heard {
            heard.send(()).expect("somebody waits for it");
        }
        self.misbehave(&mut stream)
    }

    fn misbehave(&self, stream: &mut TcpStream) -> io::Result<()> {
        match self.end {
            RogueEnd::Silence => {
                stream.write_all(&self.words)?;
                while hear(stream)? > 0 {}
            }
            RogueEnd::Goodbye => stream.write_all(&self.words)?,
            RogueEnd::Flood => {
                let bulk = self.words.repeat(1 + (64 << 10) / self.words.len().max(1));
                while !bulk.is_empty() {
                    stream.write_all(&bulk)?;
                }
            }
            RogueEnd::Trickle => {
                for byte in self.words.iter().cycle() {
                    stream.write_all(&[*byte])?;
                    std::thread::sleep(Duration::from_millis(20));
                }
            }
        }
        Ok(())
    }
}

fn hear(stream: &mut TcpStream) -> io::Result<usize> {
    stream.read(&mut [0; 4096])
}

/// The server of a product at a port, whose logins take no longer than this.
fn server_at(product: Product, port: u16, connect: Nanos) -> Arc<dyn Server> {
    let milliseconds = connect.0 / 1_000_000;
    let url = match product {
        Product::Postgres => format!(
            "postgres://u@127.0.0.1:{port}/d?sslmode=disable&connect_timeout={milliseconds}ms"
        ),
        _ => format!("mysql://u@127.0.0.1:{port}/d?connect-timeout={milliseconds}ms"),
    };
    databases::server(product, &url, &|_| None).expect("a URL")
}

/// Why a login or the first question over it failed.
fn failure_of(server: &dyn Server, bound: &ExchangeBound) -> Option<DatabaseFailure> {
    match server.connect(bound) {
        Ok(mut admin) => admin.query("SELECT 1").err().map(|failure| *failure),
        Err(ServerError::Connect { failure, .. }) => Some(*failure),
        Err(error) => panic!("{error}"),
    }
}

/// What comes of one client of a server that behaves like this.
fn outcome(
    behaviour: &ServerConduct,
    connect: Nanos,
    bound: &ExchangeBound,
) -> Option<DatabaseFailure> {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let (stream, _) = listener.accept().expect("a client");
            // Whoever has had enough of it goes.
            let _ = behaviour.serve(stream, None);
        });
        failure_of(&*server_at(behaviour.product, port, connect), bound)
    })
}

/// A message of PostgreSQL's.
fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    [&[tag][..], &(body.len() as u32 + 4).to_be_bytes(), body].concat()
}

/// A packet of MySQL's.
fn packet(sequence: u8, body: &[u8]) -> Vec<u8> {
    let [a, b, c, _] = (body.len() as u32).to_le_bytes();
    [&[a, b, c, sequence][..], body].concat()
}

/// OK as the second packet of a login: statements commit by themselves.
const MYSQL_WELCOME: &[u8] = b"\x07\0\0\x02\0\0\0\x02\0\0\0";

/// An OK packet behind which another result follows, and one at the end of rows.
const MORE_RESULTS: &[u8] = b"\0\0\0\x0a\0\0\0";
const MORE_ROWS_LATER: &[u8] = b"\xfe\0\0\x0a\0";

const COLUMN: &[u8] =
    b"\x03def\x00\x00\x00\x01c\x00\x0c\x21\x00\x10\x00\x00\x00\xfe\x00\x00\x00\x00\x00";

fn greeting() -> Vec<u8> {
    let mut greeting = b"\x0a8.0.36\0\x07\0\0\0challeng\0".to_vec();
    // Protocol 4.1, transactions, plugins, several results; no TLS, no other ends of rows.
    greeting.extend_from_slice(b"\x0d\xa2\x2d\x02\0\x0b\0\x15");
    greeting.extend_from_slice(&[0; 10]);
    greeting.extend_from_slice(b"e of twelve.\0mysql_native_password\0");
    greeting
}

/// First words of servers that are no PostgreSQL at a stage.
fn postgres_words(stage: RogueStage) -> Vec<Vec<u8>> {
    let row_of_nulls = [&65_535u16.to_be_bytes()[..], &[0xff; 4 * 65_535]].concat();
    let fatal = b"SFATAL\0VFATAL\0C57P01\0Mgone\0\0";
    let of_any_time = [
        Vec::new(),
        b"R".to_vec(),
        b"R\0\0".to_vec(),
        b"D\x3f\xff\xff\xff".to_vec(),
        b"D\xff\xff\xff\xff".to_vec(),
        b"D\0\0\0\0".to_vec(),
        b"\0\0\0\0\0\0\0\0".to_vec(),
        b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
        message(b'N', b"SNOTICE\0C00000\0Mx\0\0"),
        message(b'S', b"TimeZone\0UTC\0"),
        message(b'E', fatal),
        message(b'v', b"\0\0\0\0\0\0\0\0"),
        message(b'?', b"x"),
    ];
    let of_stage = match stage {
        RogueStage::Greeting | RogueStage::Login => vec![
            message(b'R', &[0; 4]),
            message(b'R', b"\0\0\0\x03"),
            message(b'R', b"\0\0\0\x05salt"),
            message(b'R', b"\0\0\0\x0aSCRAM-SHA-256\0\0"),
            message(b'R', b"\0\0\0\x0br=x,s=eA==,i=2000000000"),
            message(b'R', b"\0\0\0\x63"),
            message(b'K', b"\0\0\0\x01\0\0\0\x02"),
            message(b'K', b"\0"),
            b"S".to_vec(),
            b"N".to_vec(),
        ],
        RogueStage::Answer => vec![
            message(b'A', b"\0\0\0\x01c\0p\0"),
            message(b'D', b"\0\x01\0\0\0\x011"),
            message(b'D', b"\0\0"),
            message(b'D', b""),
            message(b'D', b"\0\x01\x7f\xff\xff\xffx"),
            message(b'D', &row_of_nulls),
            message(b'T', b"\xff\xff"),
            message(b'T', &65_535u16.to_be_bytes()),
            message(b'C', b"SELECT 1\0"),
            message(b'Z', b"I"),
            message(b'Z', b"?"),
            message(b'G', b"\0\0\x01\0\0"),
            message(b'H', b"\0\0\x01\0\0"),
            message(b'd', b"x\n"),
            message(b'I', b""),
            message(b'R', &[0; 4]),
            message(b'E', b"SERROR\0VERROR\0CXX000\0Mx\0\0"),
        ],
    };
    of_any_time.into_iter().chain(of_stage).collect()
}

/// The same of those that are no MySQL.
fn mysql_words(stage: RogueStage) -> Vec<Vec<u8>> {
    let result_begins = [packet(1, &[1]), packet(2, COLUMN), packet(3, b"\xfe\0\0\x02\0")].concat();
    let of_any_time = [
        Vec::new(),
        b"\x05".to_vec(),
        b"\x05\0\0\0\0".to_vec(),
        b"\xff\xff\xff\0".to_vec(),
        b"\xff\xff\xff\0\0".to_vec(),
        packet(0, b""),
        packet(1, b"\xff"),
        packet(1, b"\xff\x15\x04#28000no"),
        packet(1, b"\xfb/etc/passwd"),
        b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
    ];
    let of_stage = match stage {
        RogueStage::Greeting => {
            vec![packet(0, b"\x0a"), packet(0, b"\x0a8.0\0"), packet(0, b"\x09x")]
        }
        RogueStage::Login => vec![
            packet(2, b"\xfe"),
            packet(2, b"\xfemysql_native_password\0challenge of twenty.\0"),
            packet(2, b"\xfesomething_else\0x\0"),
            packet(2, b"\xfecaching_sha2_password\0challenge of twenty.\0"),
            packet(2, b"\x01\x04"),
            packet(2, b"\x01"),
            packet(2, b"\0"),
        ],
        RogueStage::Answer => vec![
            packet(1, MORE_RESULTS),
            packet(1, b"\0"),
            packet(1, b"\xfc\xff\xff"),
            packet(1, b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff"),
            [packet(1, b"\xfc\xff\xff"), packet(2, COLUMN)].concat(),
            result_begins.clone(),
            [&result_begins[..], &packet(4, b"\x011")].concat(),
            [&result_begins[..], &packet(4, b"\xfb")].concat(),
            [&result_begins[..], &packet(4, b"\xfe\xff\xff\xff\xff\xff\xff\xff\x7fx")].concat(),
            [&result_begins[..], &packet(4, MORE_ROWS_LATER)].concat(),
            [&result_begins[..], b"\xff\xff\xff\x04"].concat(),
        ],
    };
    of_any_time.into_iter().chain(of_stage).collect()
}

fn behaviours() -> Vec<ServerConduct> {
    let of_stage = |(product, stage): (Product, RogueStage)| {
        let words = match product {
            Product::Postgres => postgres_words(stage),
            _ => mysql_words(stage),
        };
        let of_words = move |words: Vec<u8>| {
            ENDS.map(|end| ServerConduct { product, stage, words: words.clone(), end })
        };
        words.into_iter().flat_map(of_words)
    };
    use RogueStage::{Answer, Greeting, Login};
    let mysql = [Greeting, Login, Answer].map(|stage| (Product::Mysql, stage));
    // PostgreSQL is silent until it is spoken to.
    let postgres = [Login, Answer].map(|stage| (Product::Postgres, stage));
    mysql.into_iter().chain(postgres).flat_map(of_stage).collect()
}

/// How an exchange with any of them may end.
const CODES: [&str; 13] = [
    "timeout",
    "connect timeout",
    "protocol",
    "too long",
    "closed",
    "ECONNRESET",
    "EPIPE",
    "authentication",
    "tls",
    "refused",
    // In their own words.
    "57P01",
    "XX000",
    "1045",
];

#[test]
fn whatever_a_server_does_an_exchange_with_it_ends() {
    let behaviours = behaviours();
    assert!(behaviours.len() > 300, "{}", behaviours.len());
    for some in behaviours.chunks(32) {
        std::thread::scope(|scope| {
            for behaviour in some {
                scope.spawn(move || {
                    let failure = outcome(behaviour, LIMIT, &ExchangeBound::within(LIMIT));
                    let Some(failure) = failure else { return };
                    let is_known = CODES.contains(&failure.code.as_str());
                    assert!(is_known && !failure.message.is_empty(), "{behaviour:?}: {failure:?}");
                });
            }
        });
    }
}

#[test]
fn a_server_that_falls_silent_is_given_up_in_time() {
    for product in PRODUCTS {
        let silent = |stage| {
            let words = Vec::new();
            let behaviour = ServerConduct { product, stage, words, end: RogueEnd::Silence };
            outcome(&behaviour, LIMIT, &ExchangeBound::within(LIMIT)).expect("silent")
        };
        let failure = silent(RogueStage::Login);
        assert_eq!((&*failure.code, failure.class), ("connect timeout", ErrorClass::Connection));
        assert!(failure.message.contains("did not let us in within 300 ms"), "{failure:?}");
    }
}

#[test]
fn an_answer_that_does_not_come_names_its_limit() {
    for product in PRODUCTS {
        let (stage, words) = (RogueStage::Answer, Vec::new());
        let silent = ServerConduct { product, stage, words, end: RogueEnd::Silence };
        let failure = outcome(&silent, PATIENCE, &ExchangeBound::within(LIMIT)).expect("silent");
        assert_eq!((&*failure.code, failure.class), ("timeout", ErrorClass::Timeout));
        assert!(failure.message.contains("no answer within 300 ms"), "{failure:?}");
    }
}

#[test]
fn what_never_ends_is_given_up_by_its_size() {
    let text = [b'x'; 1000];
    let row = [packet(1, &[1]), packet(2, COLUMN), packet(3, b"\xfe\0\0\x02\0")].concat();
    let rows = packet(4, &[&b"\xfc\xe8\x03"[..], &text].concat()).repeat(1000);
    let row = [row, rows, packet(5, MORE_ROWS_LATER)].concat();
    let result = packet(1, &[MORE_RESULTS, &text].concat());
    let long = [&b"\xff\xff\xff\x01"[..], &text].concat();
    let postgres = [
        message(b'N', &[&b"SNOTICE\0C00000\0M"[..], &text, b"\0\0"].concat()),
        message(b'S', &[&b"TimeZone\0"[..], &text, b"\0"].concat()),
        message(b'A', &[&b"\0\0\0\x01c\0"[..], &text, b"\0"].concat()),
        message(b'D', &[&b"\0\x01\0\0\x03\xe8"[..], &text].concat()),
        message(b'd', &text),
        message(b'C', b"SELECT 1\0"),
        message(b'T', b"\0\0"),
    ]
    .map(|words| (Product::Postgres, RogueStage::Answer, words));
    let mysql = [result, row, long].map(|words| (Product::Mysql, RogueStage::Answer, words));
    let logins = [
        (Product::Postgres, RogueStage::Login, message(b'S', b"TimeZone\0UTC\0")),
        (Product::Postgres, RogueStage::Login, message(b'N', b"SNOTICE\0Mx\0\0")),
    ];
    for (product, stage, words) in postgres.into_iter().chain(mysql).chain(logins) {
        let flood = ServerConduct { product, stage, words, end: RogueEnd::Flood };
        let failure = outcome(&flood, PATIENCE, &ExchangeBound::within(PATIENCE));
        let failure = failure.unwrap_or_else(|| panic!("{flood:?}"));
        assert_eq!(failure.code, "protocol", "{flood:?}: {failure:?}");
        let is_size = failure.message.contains(" MiB") || failure.message.contains(" KiB");
        assert!(is_size, "{failure:?}");
    }
}

/// What is asked of a server that is silent.
#[derive(Clone, Copy, Debug)]
enum RogueQuestion {
    Login,
    Query,
    Build,
}

#[test]
fn whoever_waits_is_heard_when_nobody_wants_the_answer_any_more() {
    use RogueQuestion::{Build, Login, Query};
    for (product, question) in
        PRODUCTS.into_iter().flat_map(|p| [(p, Login), (p, Query), (p, Build)])
    {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let stage = if matches!(question, Login) { RogueStage::Login } else { RogueStage::Answer };
        let behaviour = ServerConduct { product, stage, words: Vec::new(), end: RogueEnd::Silence };
        let (stop, (heard, hears)) = (RunStop::default(), channel());
        let failure = std::thread::scope(|scope| {
            scope.spawn(move || {
                let (stream, _) = listener.accept().expect("a client");
                let _ = behaviour.serve(stream, Some(&heard));
            });
            let ends = stop.clone();
            scope.spawn(move || {
                hears.recv().expect("it is asked");
                ends.at(now());
            });
            let server = server_at(product, port, PATIENCE);
            let asked = server.connect(&ExchangeBound::within(PATIENCE).or_until(&stop));
            match (asked, question) {
                (Err(error), _) => {
                    assert!(error.is_interrupted(), "{error}");
                    None
                }
                (Ok(mut admin), Query) => admin.query("SELECT 1").err(),
                (Ok(mut admin), _) => admin.build("CREATE INDEX i ON t (c)").err(),
            }
        });
        let is_login = failure.is_none();
        assert_eq!(is_login, matches!(question, Login), "{product:?} {question:?}");
        let is_heard = failure.is_none_or(|failure| failure.class == ErrorClass::Interrupted);
        assert!(is_heard, "{product:?} {question:?}");
    }
}
