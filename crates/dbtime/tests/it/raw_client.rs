//! A client of MySQL's protocol that says nothing of its own accord: every request is the test's.

use crate::given_server::GivenServer;
use dbtime_wire::mysql::{HEADER, command, header, write_packet};
use sha1::{Digest, Sha1};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

/// 4.1's protocol, its way to log in, several statements in a text, results for each of them, names
/// of ways to log in.
const CAPABILITIES: u32 = 0x1 | 0x200 | 0x8000 | 0x1_0000 | 0x2_0000 | 0x8_0000;

/// Another result follows.
const MORE: u8 = 0x08;

pub(crate) struct RawClient {
    stream: UnixStream,
    /// What the server calls the connection.
    pub(crate) id: u64,
}

impl RawClient {
    /// Logs in.
    pub(crate) fn connect(server: &GivenServer) -> Self {
        Self::behind_a_proxy(server, b"")
    }

    /// The same through a proxy that says so by this header.
    pub(crate) fn behind_a_proxy(server: &GivenServer, header: &[u8]) -> Self {
        let mut stream = UnixStream::connect(server.server.socket()).expect("it listens");
        stream.write_all(header).expect("it reads");
        let mut client = Self { stream, id: 0 };
        let greeting = client.packet();
        // Behind the protocol's version and the server's, which ends with a zero.
        let id = greeting.iter().position(|byte| *byte == 0).expect("a version") + 1;
        let id = greeting[id..].first_chunk().expect("an id");
        client.id = u32::from_le_bytes(*id).into();
        let password = server.server.password().reveal();
        let mut login = CAPABILITIES.to_le_bytes().to_vec();
        login.extend_from_slice(&0x0100_0000u32.to_le_bytes());
        login.push(45);
        login.extend_from_slice(&[0; 23]);
        login.extend_from_slice(server.server.user().as_bytes());
        let proof = proof(password, &nonce(&greeting));
        login.extend_from_slice(&[0, proof.len() as u8]);
        login.extend_from_slice(&proof);
        login.extend_from_slice(b"mysql_native_password\0");
        client.send(&login, 1);
        client.let_in(password, 3);
        client
    }

    /// Waits until the server lets it in; what it says further has this number.
    fn let_in(&mut self, password: &str, sequence: u8) {
        // It may want the password in another way.
        let mut answer = self.packet();
        if answer[0] == 0xfe {
            let words: Vec<&[u8]> = answer[1..].split(|byte| *byte == 0).collect();
            let is_native = words[0] == b"mysql_native_password";
            // A proof that is none has caching_sha2_password ask for the password itself; nothing
            // would mean that there is no password.
            let proof = match (is_native, password) {
                (true, password) => proof(password, words[1]),
                (false, "") => Vec::new(),
                (false, _) => vec![0; 32],
            };
            self.send(&proof, sequence);
            answer = self.packet();
        }
        // caching_sha2_password takes it as it is, for over the socket nobody listens in.
        if answer == [1, 4] {
            self.send(format!("{password}\0").as_bytes(), sequence + 2);
            answer = self.packet();
        }
        assert_eq!(answer[0], 0, "it lets us in: {answer:?}");
    }

    /// Sends a statement and does not wait.
    pub(crate) fn ask(&mut self, sql: &str) {
        self.send(&[&[command::QUERY], sql.as_bytes()].concat(), 0);
    }

    /// Waits for the answer to a statement without rows.
    pub(crate) fn answered(&mut self) {
        loop {
            let answer = self.packet();
            assert_eq!(answer[0], 0, "no rows and no error: {answer:?}");
            // Affected rows and last id are below 251 here, a byte each.
            if answer[3] & MORE == 0 {
                return;
            }
        }
    }

    pub(crate) fn query(&mut self, sql: &str) {
        self.ask(sql);
        self.answered();
    }

    /// Asks for rows, and takes them; of one statement or several.
    pub(crate) fn select(&mut self, sql: &str) {
        self.ask(sql);
        loop {
            let answer = self.packet();
            assert_ne!(answer[0], 0xff, "no error: {}", String::from_utf8_lossy(&answer));
            // What ends a procedure.
            if answer[0] == 0 && answer[3] & MORE == 0 {
                return;
            }
            self.until_end();
            if self.until_end()[3] & MORE == 0 {
                return;
            }
        }
    }

    /// Takes columns or rows, and returns the packet that ends them.
    fn until_end(&mut self) -> Vec<u8> {
        loop {
            let packet = self.packet();
            if packet.len() == 5 && packet[0] == 0xfe {
                return packet;
            }
        }
    }

    /// Takes what comes before an error, and that.
    pub(crate) fn fails_at_last(&mut self, sql: &str) {
        self.ask(sql);
        while self.packet()[0] != 0xff {}
    }

    pub(crate) fn query_fails(&mut self, sql: &str) {
        self.ask(sql);
        assert_eq!(self.packet()[0], 0xff);
    }

    /// Asks for one value of so many bytes, and does not read until `later` has passed.
    pub(crate) fn value_read_late(&mut self, bytes: usize, later: std::time::Duration) {
        self.ask(&format!("SELECT REPEAT('x', {bytes})"));
        std::thread::sleep(later);
        // The number of columns, the column, the end of them, the row, the end of rows.
        let lengths: Vec<usize> = (0..5).map(|_| self.packet().len()).collect();
        assert!(lengths[3] > bytes, "{lengths:?}");
    }

    /// Sends a statement so many times at once, and then takes the answers.
    pub(crate) fn queries_at_once(&mut self, sql: &str, times: usize) {
        let mut one = Vec::new();
        write_packet(&[&[command::QUERY], sql.as_bytes()].concat(), 0, &mut one);
        self.stream.write_all(&one.repeat(times)).expect("it reads");
        (0..times).for_each(|_| self.answered());
    }

    /// Prepares a statement with one parameter; returns its number.
    pub(crate) fn prepare(&mut self, sql: &str) -> u32 {
        self.send(&[&[command::STMT_PREPARE], sql.as_bytes()].concat(), 0);
        let answer = self.packet();
        assert_eq!(answer[0], 0);
        // The parameter and the end of their list; columns, where it has some, and theirs.
        self.until_end();
        if answer[5] > 0 {
            self.until_end();
        }
        u32::from_le_bytes([answer[1], answer[2], answer[3], answer[4]])
    }

    /// Executes it with a whole number.
    pub(crate) fn execute(&mut self, id: u32, parameter: u64) {
        self.send_execute(id, 0, parameter);
        self.answered();
    }

    /// Executes it, and fetches its rows so many at a time.
    pub(crate) fn fetch(&mut self, id: u32, parameter: u64, rows: u32) {
        const LAST_ROW_SENT: u8 = 0x80;
        self.send_execute(id, 1, parameter);
        assert_ne!(self.packet()[0], 0xff, "no error");
        self.until_end();
        loop {
            let fetch = [&[0x1c][..], &id.to_le_bytes(), &rows.to_le_bytes()].concat();
            self.send(&fetch, 0);
            if self.until_end()[3] & LAST_ROW_SENT != 0 {
                return;
            }
        }
    }

    fn send_execute(&mut self, id: u32, cursor: u8, parameter: u64) {
        let mut packet = vec![command::STMT_EXECUTE];
        packet.extend_from_slice(&id.to_le_bytes());
        // Once, nothing is NULL, the type is BIGINT.
        packet.extend_from_slice(&[cursor, 1, 0, 0, 0, 0, 1, 8, 0]);
        packet.extend_from_slice(&parameter.to_le_bytes());
        self.send(&packet, 0);
    }

    pub(crate) fn ping(&mut self) {
        self.send(&[command::PING], 0);
        self.answered();
    }

    /// Turns to a database by the command for that.
    pub(crate) fn init_db(&mut self, database: &str) {
        self.send(&[&[0x02], database.as_bytes()].concat(), 0);
        self.answered();
    }

    /// Becomes another user, who has no password.
    pub(crate) fn change_user(&mut self, user: &str, database: &str) {
        let charset_and_plugin = b"\x2d\0mysql_native_password\0";
        let names = format!("{user}\0\0{database}\0");
        self.send(&[&[command::CHANGE_USER], names.as_bytes(), charset_and_plugin].concat(), 0);
        self.let_in("", 2);
    }

    /// Goes without a word.
    pub(crate) fn hang_up(self) {
        self.stream.shutdown(std::net::Shutdown::Both).expect("it was open");
        std::mem::forget(self);
    }

    fn send(&mut self, payload: &[u8], sequence: u8) {
        let mut bytes = Vec::new();
        write_packet(payload, sequence, &mut bytes);
        self.stream.write_all(&bytes).expect("it reads");
    }

    pub(crate) fn packet(&mut self) -> Vec<u8> {
        let mut head = [0; HEADER];
        self.stream.read_exact(&mut head).expect("it answers");
        let (length, _) = header(&head).expect("a whole header");
        let mut payload = vec![0; length];
        self.stream.read_exact(&mut payload).expect("all of it");
        payload
    }
}

/// What the server wants a proof made with: behind its version and the connection's number, and
/// further on.
fn nonce(greeting: &[u8]) -> Vec<u8> {
    let end = greeting.iter().position(|byte| *byte == 0).expect("a version") + 1 + 4;
    [&greeting[end..end + 8], &greeting[end + 27..end + 39]].concat()
}

/// That it knows the password, as mysql_native_password wants it.
fn proof(password: &str, nonce: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let hash = Sha1::digest(password);
    let mixed = Sha1::digest([nonce, &Sha1::digest(hash)].concat());
    hash.iter().zip(mixed).map(|(one, other)| one ^ other).collect()
}

impl Drop for RawClient {
    /// Says goodbye, so that the server does not write of a client that was lost.
    fn drop(&mut self) {
        let mut bytes = Vec::new();
        write_packet(&[command::QUIT], 0, &mut bytes);
        // The server may have gone first.
        let _ = self.stream.write_all(&bytes);
    }
}
