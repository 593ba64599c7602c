//! From the server's greeting to a session that is set up.

use super::{MysqlProtocol, MysqlStage, NO_BACKSLASH_ESCAPES, broken};
use crate::databases::mysql::error::failure;
use crate::databases::mysql::greeting::ServerGreeting;
use crate::databases::mysql::login::LoginStep;
use crate::databases::mysql::request;
use crate::databases::mysql::row_sink::RowRetention;
use crate::databases::mysql::shared::MysqlShared;
use crate::socket::{ProtocolProgress, service_of};
use dbtime_load::failure::DatabaseFailure;
use dbtime_model::ErrorClass;
use dbtime_wire::mysql::{
    ExpectedReply, HEADER, MysqlError, MysqlResponseReader, command, header, write_packet,
};
use mysql_common::constants::CapabilityFlags;

/// Status flag: each statement is a transaction of its own.
const AUTOCOMMIT: u16 = 0x0002;

/// The packets of logging in are short.
const MAX_LOGIN_BYTES: usize = 1 << 16;

impl MysqlProtocol {
    /// Reads a packet of the time before statements.
    pub(super) fn log_in(
        &mut self,
        shared: &MysqlShared,
        input: &[u8],
        out: &mut Vec<u8>,
    ) -> (usize, ProtocolProgress) {
        let Some((length, sequence)) = header(input) else { return (0, ProtocolProgress::More) };
        if length > MAX_LOGIN_BYTES {
            return (0, broken(no_mysql(input)));
        }
        let Some(payload) = input.get(HEADER..HEADER + length) else {
            return (0, ProtocolProgress::More);
        };
        let used = HEADER + length;
        let progress = match self.login.count(sequence, payload.first() == Some(&0xff)) {
            Ok(()) => self.answer_login(shared, payload, out),
            Err(failure) => broken(failure),
        };
        (used, progress)
    }

    /// Goes on with logging in.
    fn answer_login(
        &mut self,
        shared: &MysqlShared,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> ProtocolProgress {
        let turn = match (self.stage, payload.first()) {
            (MysqlStage::Greeting, Some(0xff)) => Err(read_error(payload)),
            (MysqlStage::Greeting, _) => self.greet(shared, payload),
            (_, Some(0xff)) => Err(self.login.explained(read_error(payload), &self.greeting)),
            (_, Some(0xfe)) => self.login.switch(payload, &shared.identity),
            (_, Some(0x01)) => self.login.more(&payload[1..], &shared.identity),
            (_, Some(0x00)) => return self.welcomed(shared, payload, out),
            _ => Err(unreadable()),
        };
        let (packet, progress) = match turn {
            Ok(LoginStep::Send(packet)) => (packet, ProtocolProgress::More),
            Ok(LoginStep::Encrypt(packet)) => (packet, ProtocolProgress::Encrypt),
            Ok(LoginStep::Wait) => return ProtocolProgress::More,
            Err(failure) => return broken(failure),
        };
        self.login.next_sequence = write_packet(&packet, self.login.next_sequence, out);
        progress
    }

    fn greet(
        &mut self,
        shared: &MysqlShared,
        payload: &[u8],
    ) -> Result<LoginStep, DatabaseFailure> {
        self.greeting = ServerGreeting::read(payload)?;
        let without_eof =
            self.greeting.capabilities().contains(CapabilityFlags::CLIENT_DEPRECATE_EOF);
        self.reader = MysqlResponseReader::new(without_eof);
        if let Some(op) = self.login.encryption(&self.greeting, &shared.identity)? {
            return Ok(LoginStep::Encrypt(op));
        }
        self.stage = MysqlStage::LoggingIn;
        Ok(LoginStep::Send(self.login.answer(&self.greeting, &shared.identity)?))
    }

    /// The server has let us in, and says in which state the session is.
    fn welcomed(
        &mut self,
        shared: &MysqlShared,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> ProtocolProgress {
        // Behind two counts that are zero here.
        let status = payload.get(3..5).map_or(AUTOCOMMIT, |s| u16::from_le_bytes([s[0], s[1]]));
        self.backslash = status & NO_BACKSLASH_ESCAPES == 0;
        self.sets_autocommit = status & AUTOCOMMIT == 0;
        self.set_up(shared, 0, out)
    }

    /// Executes the next statement of the set-up, or is done with it.
    pub(super) fn set_up(
        &mut self,
        shared: &MysqlShared,
        next: usize,
        out: &mut Vec<u8>,
    ) -> ProtocolProgress {
        let own = if self.sets_autocommit { Some("SET autocommit = 1") } else { None };
        let mut statements = own.into_iter().chain(shared.setup.iter().map(String::as_str));
        match statements.nth(next) {
            Some(sql) => {
                request::text_command(command::QUERY, sql, out);
                self.stage = MysqlStage::SettingUp(next);
                self.expect(ExpectedReply::Results, RowRetention::Nothing);
                ProtocolProgress::More
            }
            None => {
                self.stage = MysqlStage::Idle;
                ProtocolProgress::Connected
            }
        }
    }
}

fn unreadable() -> DatabaseFailure {
    DatabaseFailure::connection(
        "protocol",
        "the server's greeting makes no sense: is it MySQL or MariaDB?",
    )
}

/// What answers is something else.
fn no_mysql(input: &[u8]) -> DatabaseFailure {
    service_of(input).map_or_else(unreadable, |service| {
        let text = format!("{service} answers there, not MySQL or MariaDB: check host and port");
        DatabaseFailure::connection("protocol", text)
    })
}

pub(super) fn read_error(payload: &[u8]) -> DatabaseFailure {
    // Before the client has said what it can do, an error comes without SQLSTATE.
    MysqlError::read(payload).map_or_else(unreadable, |error| DatabaseFailure {
        class: ErrorClass::Connection,
        ..failure(&error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::databases::mysql::shared::MysqlIdentity;
    use crate::server::secret::ServerSecret;
    use crate::socket::{Protocol, TlsRequirement, Transport};
    use proptest::prelude::*;
    use proptest::sample::select;

    const PASSWORD: &[u8] = b"correct-horse-battery";

    /// As MySQL 8 greets.
    const GREETING: &[u8] = b"\x0a8.0.40\0\x07\0\0\0abcdefgh\0\0\x82\xff\x02\0\x08\0\x15\0\0\0\0\0\
        \0\0\0\0\0ijklmnopqrst\0caching_sha2_password\0";

    const PLUGINS: &[&str] = &[
        "mysql_native_password",
        "caching_sha2_password",
        "sha256_password",
        "mysql_clear_password",
        "mysql_old_password",
        "client_ed25519",
        "parsec",
        "dialog",
    ];

    /// What a server may send while somebody logs in.
    fn payload() -> impl Strategy<Value = Vec<u8>> {
        let data = || proptest::collection::vec(any::<u8>(), 0..40);
        let length = select(vec![0usize, 8, 20, 21, 32]);
        let switch = |plugin: &str, challenge: &[u8]| {
            [&[0xfe][..], plugin.as_bytes(), &[0], challenge].concat()
        };
        prop_oneof![
            data(),
            data().prop_map(|data| [&[0x01][..], &data].concat()),
            (2u8..6).prop_map(|state| vec![0x01, state]),
            (select(PLUGINS), data()).prop_map(move |(plugin, data)| switch(plugin, &data)),
            (select(PLUGINS), length)
                .prop_map(move |(plugin, length)| switch(plugin, &vec![7; length])),
        ]
    }

    proptest! {
        #[test]
        fn no_conversation_makes_it_panic_or_give_the_password_away(
            payloads in proptest::collection::vec(payload(), 0..6),
        ) {
            let password = String::from_utf8_lossy(PASSWORD).into_owned();
            let password = ServerSecret::new(password);
            let shared = MysqlShared::new(MysqlIdentity { password, ..MysqlIdentity::default() });
            let (mut protocol, mut out) = (MysqlProtocol::new(&shared), Vec::new());
            protocol.open(&shared, Transport::Tcp, TlsRequirement::No, &mut out);
            for payload in std::iter::once(GREETING.to_vec()).chain(payloads) {
                let mut packet = Vec::new();
                write_packet(&payload, protocol.login.next_sequence, &mut packet);
                let (used, progress) = protocol.receive(&shared, &packet, &mut out);
                prop_assert!(used <= packet.len());
                if !matches!(progress, ProtocolProgress::More) {
                    break;
                }
            }
            prop_assert!(!out.windows(PASSWORD.len()).any(|part| part == PASSWORD));
        }
    }
}
