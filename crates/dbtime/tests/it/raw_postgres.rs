//! A client of PostgreSQL's protocol that says nothing of its own accord: every request is the
//! test's.

use crate::given_server::GivenServer;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, ScramSha256};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

/// Of the protocol: 3.0.
const VERSION: u32 = 196_608;

pub(crate) struct RawPostgres {
    stream: UnixStream,
}

/// A message with its length.
pub(crate) fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    [&[tag][..], &(body.len() as u32 + 4).to_be_bytes(), body].concat()
}

fn parse(name: &str, sql: &str) -> Vec<u8> {
    message(b'P', format!("{name}\0{sql}\0\0\0").as_bytes())
}

/// Bind without parameters, and Execute of all rows.
fn bind_and_execute(name: &str) -> Vec<u8> {
    let bind = message(b'B', format!("\0{name}\0\0\0\0\0\0\0").as_bytes());
    [bind, message(b'E', b"\0\0\0\0\0")].concat()
}

fn query(sql: &str) -> Vec<u8> {
    message(b'Q', format!("{sql}\0").as_bytes())
}

impl RawPostgres {
    /// Logs in to the database `postgres`.
    pub(crate) fn connect(server: &GivenServer) -> Self {
        Self::connect_ahead(server, &[])
    }

    /// The same, and sends a text together with the proof, which it does not wait for.
    pub(crate) fn connect_asking(server: &GivenServer, sql: &str) -> Self {
        let mut client = Self::connect_ahead(server, &query(sql));
        client.answered();
        client
    }

    /// Logs in; `ahead`: what it sends together with the proof.
    fn connect_ahead(server: &GivenServer, ahead: &[u8]) -> Self {
        let stream = UnixStream::connect(server.server.socket()).expect("it listens");
        let mut client = Self { stream };
        let body = format!("user\0{}\0database\0postgres\0\0", server.server.user());
        let length = (body.len() as u32 + 8).to_be_bytes();
        client.send(&[&length[..], &VERSION.to_be_bytes(), body.as_bytes()].concat());
        client.prove(server.server.user(), server.server.password().reveal(), ahead);
        client.answered();
        client
    }

    /// Proves that it knows the password: by SCRAM, or before PostgreSQL 10 by MD5. `ahead`: what
    /// it sends together with the proof.
    fn prove(&mut self, user: &str, password: &str, ahead: &[u8]) {
        if let [0, 0, 0, 5, salt @ ..] = &self.message().1[..] {
            let salt = *salt.first_chunk().expect("four bytes");
            let proof = md5_hash(user.as_bytes(), password.as_bytes(), salt);
            self.send(&[&message(b'p', format!("{proof}\0").as_bytes())[..], ahead].concat());
            return;
        }
        let mut scram = ScramSha256::new(password.as_bytes(), ChannelBinding::unsupported());
        let first = scram.message();
        let length = (first.len() as u32).to_be_bytes();
        self.send(&message(b'p', &[b"SCRAM-SHA-256\0", &length[..], first].concat()));
        // What is said stands behind the kind of request.
        scram.update(&self.message().1[4..]).expect("its part");
        self.send(&[&message(b'p', scram.message())[..], ahead].concat());
        scram.finish(&self.message().1[4..]).expect("its proof");
    }

    /// Waits for a message; returns its tag and body.
    fn message(&mut self) -> (u8, Vec<u8>) {
        let mut head = [0; 5];
        self.stream.read_exact(&mut head).expect("an answer");
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]);
        let mut body = vec![0; length as usize - 4];
        self.stream.read_exact(&mut body).expect("its body");
        (head[0], body)
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("it reads");
    }

    /// Waits until the server is ready for the next request; returns the tags of its messages.
    pub(crate) fn answered(&mut self) -> String {
        self.until(b'Z')
    }

    /// The same until some other message.
    pub(crate) fn until(&mut self, last: u8) -> String {
        let mut tags = String::new();
        loop {
            let (tag, _) = self.message();
            tags.push(char::from(tag));
            if tag == last {
                return tags;
            }
        }
    }

    /// Sends a text and does not wait.
    pub(crate) fn ask(&mut self, sql: &str) {
        self.send(&query(sql));
    }

    pub(crate) fn query(&mut self, sql: &str) -> String {
        self.ask(sql);
        self.answered()
    }

    /// Parse, Bind and Execute of a statement without a name.
    pub(crate) fn extended(&mut self, sql: &str) -> String {
        self.send(&[parse("", sql), bind_and_execute(""), message(b'S', b"")].concat());
        self.answered()
    }

    /// The same with Describe of the portal, as libpq sends it.
    pub(crate) fn described(&mut self, sql: &str) -> String {
        let bind = message(b'B', b"\0\0\0\0\0\0\0\0");
        let rest = [message(b'D', b"P\0"), message(b'E', b"\0\0\0\0\0"), message(b'S', b"")];
        self.send(&[parse("", sql), bind, rest.concat()].concat());
        self.answered()
    }

    /// What drivers send that tidy up on the way: Close of another statement, then Parse with a
    /// name, Describe, Bind and Execute.
    pub(crate) fn tidying(&mut self, old: &str, name: &str, sql: &str) -> String {
        let close = message(b'C', format!("S{old}\0").as_bytes());
        let describe = message(b'D', format!("S{name}\0").as_bytes());
        let rest = [bind_and_execute(name), message(b'S', b"")].concat();
        self.send(&[close, parse(name, sql), describe, rest].concat());
        self.answered()
    }

    pub(crate) fn prepare(&mut self, name: &str, sql: &str) {
        self.send(&[parse(name, sql), message(b'S', b"")].concat());
        assert_eq!(self.answered(), "1Z");
    }

    pub(crate) fn execute(&mut self, name: &str) -> String {
        self.send(&[bind_and_execute(name), message(b'S', b"")].concat());
        self.answered()
    }

    /// Sends executions, each with a Sync of its own, and texts in turn, all at once.
    pub(crate) fn at_once(&mut self, name: &str, sql: &str, times: usize) {
        let execution = [bind_and_execute(name), message(b'S', b"")].concat();
        self.send(&[execution, query(sql)].concat().repeat(times));
        (0..2 * times).for_each(|_| assert!(self.answered().ends_with("CZ")));
    }

    /// Executes a statement so many times before one Sync, as drivers do with batches.
    pub(crate) fn batch(&mut self, name: &str, times: usize) -> String {
        self.send(&[bind_and_execute(name).repeat(times), message(b'S', b"")].concat());
        self.answered()
    }

    /// Parse, Bind and Execute of each of some texts before one Sync.
    pub(crate) fn pipeline(&mut self, texts: &[&str]) -> String {
        let each = texts.iter().map(|sql| [parse("", sql), bind_and_execute("")].concat());
        let each: Vec<Vec<u8>> = each.collect();
        self.send(&[each.concat(), message(b'S', b"")].concat());
        self.answered()
    }

    /// BEGIN and a statement that gets a name, before one Sync, as drivers begin a transaction.
    pub(crate) fn begin_with(&mut self, name: &str, sql: &str) -> String {
        let begin = [parse("", "BEGIN"), bind_and_execute("")].concat();
        let statement = [parse(name, sql), bind_and_execute(name)].concat();
        self.send(&[begin, statement, message(b'S', b"")].concat());
        self.answered()
    }

    /// Makes a portal of this name, and fetches so many rows of it.
    pub(crate) fn open_portal(&mut self, portal: &str, sql: &str, rows: u32) -> String {
        let bind = message(b'B', format!("{portal}\0\0\0\0\0\0\0\0").as_bytes());
        self.send(&[parse("", sql), bind].concat());
        self.fetch(portal, rows)
    }

    /// Fetches more of them.
    pub(crate) fn fetch(&mut self, portal: &str, rows: u32) -> String {
        let execute = [portal.as_bytes(), b"\0", &rows.to_be_bytes()].concat();
        self.send(&[message(b'E', &execute), message(b'S', b"")].concat());
        self.answered()
    }

    /// Executes one statement, and then another, before one Sync.
    pub(crate) fn both(&mut self, one: &str, other: &str) -> String {
        let executions = [bind_and_execute(one), bind_and_execute(other)].concat();
        self.send(&[executions, message(b'S', b"")].concat());
        self.answered()
    }

    /// Sends two texts at once, of which the first has an answer in many pieces.
    pub(crate) fn behind_a_long_answer(&mut self, long: &str, sql: &str) {
        self.send(&[query(long), query(sql)].concat());
        (0..2).for_each(|_| assert_eq!(self.answered(), "TDCZ"));
    }

    pub(crate) fn terminate(mut self) {
        self.send(&message(b'X', b""));
        // It has read that when it is gone.
        assert_eq!(self.stream.read(&mut [0]).expect("its end"), 0);
    }
}
