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
        let is_error = payload.first() == Some(&0xff);
        if let Err(failure) = self.login.count(sequence, is_error) {
            return (used, broken(failure));
        }
        let turn = match self.stage {
            MysqlStage::Greeting if is_error => Err(read_error(payload)),
            MysqlStage::Greeting => self.greet(shared, payload),
            _ => match payload.first() {
                Some(0xff) => Err(self.login.explained(read_error(payload), &self.greeting)),
                Some(0xfe) => self.login.switch(payload, &shared.identity),
                Some(0x01) => self.login.more(&payload[1..], &shared.identity),
                Some(0x00) => return (used, self.welcomed(shared, payload, out)),
                _ => Err(unreadable()),
            },
        };
        match turn {
            Ok(LoginStep::Send(packet)) => {
                self.login.next_sequence = write_packet(&packet, self.login.next_sequence, out);
                (used, ProtocolProgress::More)
            }
            Ok(LoginStep::Wait) => (used, ProtocolProgress::More),
            Ok(LoginStep::Encrypt(packet)) => {
                self.login.next_sequence = write_packet(&packet, self.login.next_sequence, out);
                (used, ProtocolProgress::Encrypt)
            }
            Err(failure) => (used, broken(failure)),
        }
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
