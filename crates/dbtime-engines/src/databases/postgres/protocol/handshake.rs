//! From the first byte to the server's word that it is ready.

use super::{PostgresProtocol, PostgresStage, broken};
use crate::databases::postgres::failure::{malformed, no_postgres, refusal};
use crate::databases::postgres::shared::PostgresShared;
use crate::socket::{ProtocolProgress, TlsRequirement, service_of};
use dbtime_load::failure::DatabaseFailure;
use dbtime_wire::MalformedMessage;
use dbtime_wire::postgres::{HEADER, PostgresError, backend, header, parameter_status};

/// No message before the first statement is longer.
const MAX_LOGIN_BYTES: usize = 64 << 10;

const UNREADABLE: MalformedMessage = MalformedMessage("something that makes no sense");

impl PostgresProtocol {
    /// Reads the one byte that says whether the server encrypts.
    pub(super) fn may_encrypt(
        &mut self,
        shared: &PostgresShared,
        tls: TlsRequirement,
        input: &[u8],
        out: &mut Vec<u8>,
    ) -> (usize, ProtocolProgress) {
        if let Some(service) = service_of(input) {
            return (input.len(), broken(no_postgres(service)));
        }
        match (input.first(), tls) {
            (None, _) => (0, ProtocolProgress::More),
            (Some(b'S'), _) if input.len() == 1 => (1, ProtocolProgress::Encrypt),
            // Whoever put more behind it wants it taken for the server's encrypted words.
            (Some(b'S'), _) => (input.len(), broken(malformed(&UNREADABLE))),
            (Some(b'N'), TlsRequirement::Must) => {
                let text = "the server offers no TLS: set ssl = on with a certificate, or use \
                            sslmode=prefer or disable";
                (1, broken(DatabaseFailure::connection("tls", text)))
            }
            (Some(b'N'), _) => {
                self.stage = PostgresStage::LoggingIn;
                out.extend_from_slice(&shared.startup);
                (1, ProtocolProgress::More)
            }
            _ => {
                self.stage = PostgresStage::LoggingIn;
                self.log_in(shared, input, out)
            }
        }
    }

    /// Reads a message of the time before statements.
    pub(super) fn log_in(
        &mut self,
        shared: &PostgresShared,
        input: &[u8],
        out: &mut Vec<u8>,
    ) -> (usize, ProtocolProgress) {
        if let Some(service) = service_of(input) {
            return (input.len(), broken(no_postgres(service)));
        }
        let (tag, length) = match header(input) {
            Ok(Some((tag, length))) if length <= MAX_LOGIN_BYTES => (tag, length),
            Ok(None) => return (0, ProtocolProgress::More),
            _ if is_old_error(input) => return (0, ProtocolProgress::More),
            _ => return (input.len(), broken(old_error(input))),
        };
        let Some(payload) = input.get(HEADER..HEADER + length) else {
            return (0, ProtocolProgress::More);
        };
        (HEADER + length, self.greet(shared, tag, payload, out))
    }

    fn greet(
        &mut self,
        shared: &PostgresShared,
        tag: u8,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> ProtocolProgress {
        match (tag, payload) {
            (backend::AUTHENTICATION, _) => {
                match self.login.answer(payload, &shared.identity, out) {
                    Ok(()) => ProtocolProgress::More,
                    Err(failure) => broken(failure),
                }
            }
            (backend::PARAMETER_STATUS, _) => {
                if let Some(("server_version", version)) = parameter_status(payload) {
                    version.clone_into(&mut self.server.version);
                }
                ProtocolProgress::More
            }
            // Behind it a secret for cancelling, which nobody does.
            (backend::KEY_DATA, &[a, b, c, d, ..]) => {
                self.server.pid = Some(u32::from_be_bytes([a, b, c, d]));
                ProtocolProgress::More
            }
            (backend::KEY_DATA | backend::NOTICE, _) => ProtocolProgress::More,
            (backend::READY, _) => {
                self.stage = PostgresStage::Idle;
                ProtocolProgress::Connected
            }
            (backend::ERROR, _) => broken(refusal(&PostgresError::read(payload))),
            (backend::NEGOTIATE, _) => broken(DatabaseFailure::connection(
                "protocol",
                "the server does not speak protocol 3.0",
            )),
            _ => broken(malformed(&UNREADABLE)),
        }
    }
}

/// Whether this may become an error in the form of old: a line of text, ended by a zero byte.
fn is_old_error(input: &[u8]) -> bool {
    input[0] == backend::ERROR && input.len() < 1024 && !input.contains(&0)
}

/// A server that cannot start a process says so in the form of old.
fn old_error(input: &[u8]) -> DatabaseFailure {
    let line = input[1..].split(|byte| *byte == 0).next().unwrap_or_default();
    let is_text = line.iter().all(|byte| byte.is_ascii_graphic() || b" \n\t".contains(byte));
    if input[0] == backend::ERROR && is_text {
        let words = DatabaseFailure::words_of(&String::from_utf8_lossy(line));
        DatabaseFailure::connection("refused", words)
    } else {
        malformed(&UNREADABLE)
    }
}
