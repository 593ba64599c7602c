//! What all connections of a run share: who logs in, and what is executed.

use super::public_key::ServerPublicKey;
use super::request;
use crate::server::StatementProtocol;
use crate::server::secret::ServerSecret;
use dbtime_load::statement::{Statement, StatementKind};
use dbtime_model::OperationId;
use dbtime_wire::mysql::command;

/// Who logs in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MysqlIdentity {
    /// The user.
    pub user: String,
    /// The password; empty: none.
    pub password: ServerSecret,
    /// The database that statements are executed in.
    pub database: Option<String>,
    /// How the password may go.
    pub(super) exchange: PasswordExchange,
}

/// How a password may go to a server that has to have it itself and no proof of it, other than as
/// what TLS or a Unix socket carries. Nothing of this is done without being asked for: whoever is
/// in the server's place, or on the way there, gets the password by it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PasswordExchange {
    /// The key that it is hidden with.
    pub(super) server_key: Option<ServerPublicKey>,
    /// Whether the key that the server sends is believed to be its own.
    pub(super) trusts_sent_key: bool,
    /// Whether a server may have it by `mysql_clear_password`.
    pub(super) allows_clear_text: bool,
}

/// What all connections of a run share.
#[derive(Debug, Default)]
pub struct MysqlShared {
    pub(super) identity: MysqlIdentity,
    /// Statements executed as soon as the server has let us in.
    pub(super) setup: Vec<String>,
    pub(super) statements: Vec<ReadyStatement>,
}

/// A statement of the workload, made ready to be sent.
#[derive(Debug)]
pub(super) struct ReadyStatement {
    pub(super) operation: OperationId,
    pub(super) form: MysqlStatementForm,
}

/// How a statement is sent.
#[derive(Debug)]
pub(super) enum MysqlStatementForm {
    /// The whole packet is known.
    Packet(Box<[u8]>),
    /// Text with values between its pieces.
    Text(Box<[String]>),
    /// Prepared from this text; the pieces are for a server that does not prepare it.
    Prepared { sql: String, pieces: Box<[String]> },
}

impl MysqlShared {
    /// For connections that only execute texts.
    pub(crate) fn new(identity: MysqlIdentity) -> Self {
        Self { identity, ..Self::default() }
    }

    /// For connections that execute the statements of a workload, after those of `setup`.
    pub(crate) fn of_workload(
        identity: MysqlIdentity,
        setup: Vec<String>,
        statements: &[Statement],
        protocol: StatementProtocol,
    ) -> Self {
        let ready = |statement: &Statement| ReadyStatement {
            operation: statement.operation,
            form: form(&statement.kind, protocol),
        };
        Self { identity, setup, statements: statements.iter().map(ready).collect() }
    }

    /// How many statements each connection will prepare.
    pub(crate) fn prepared_per_connection(&self) -> usize {
        let is_prepared =
            |s: &&ReadyStatement| matches!(s.form, MysqlStatementForm::Prepared { .. });
        self.statements.iter().filter(is_prepared).count()
    }
}

fn form(kind: &StatementKind, protocol: StatementProtocol) -> MysqlStatementForm {
    let packet = |sql: &str| {
        let mut out = Vec::new();
        request::text_command(command::QUERY, sql, &mut out);
        MysqlStatementForm::Packet(out.into())
    };
    match kind {
        StatementKind::Begin { .. } | StatementKind::Commit | StatementKind::Rollback => {
            packet(kind.text())
        }
        StatementKind::Sql(_) => {
            let pieces: Box<[String]> = kind.pieces().into_iter().map(str::to_owned).collect();
            match protocol {
                StatementProtocol::Prepared => {
                    MysqlStatementForm::Prepared { sql: pieces.join("?"), pieces }
                }
                StatementProtocol::Text if pieces.len() == 1 => packet(&pieces[0]),
                StatementProtocol::Text => MysqlStatementForm::Text(pieces),
            }
        }
    }
}
