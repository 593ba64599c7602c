//! What all connections of a run share: who logs in, and what is executed.

use super::login_methods::LoginMethods;
use super::request::{self, StatementPiece};
use crate::server::StatementProtocol;
use crate::server::secret::ServerSecret;
use dbtime_load::statement::{Statement, StatementKind};
use dbtime_wire::postgres::{begin_message, end_message, frontend};

/// Whether a login by SCRAM is tied to the encrypted connection, so that nobody in between can pass
/// it on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BindingMode {
    /// Never.
    Never,
    /// Where the server offers it.
    #[default]
    IfOffered,
    /// It is, or there is no login.
    Must,
}

/// Who logs in, and where to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PostgresIdentity {
    /// The user.
    pub user: String,
    /// The password; empty: none.
    pub password: ServerSecret,
    /// The database.
    pub database: String,
    /// Settings of the session, sent when it begins: `application_name`, `options`,
    /// `statement_timeout`, …
    pub settings: Vec<(String, String)>,
    /// Whether the login is tied to the connection.
    pub binding: BindingMode,
    /// Which logins the server may ask for.
    pub methods: LoginMethods,
}

/// What all connections of a run share.
#[derive(Debug)]
pub struct PostgresShared {
    pub(super) identity: PostgresIdentity,
    /// StartupMessage.
    pub(super) startup: Box<[u8]>,
    pub(super) statements: Box<[PostgresStatementForm]>,
}

/// How a statement is sent.
#[derive(Debug)]
pub(super) enum PostgresStatementForm {
    /// The whole message is known.
    Message(Box<[u8]>),
    /// Text with values between its pieces.
    Text(Box<[StatementPiece]>),
    /// Prepared first.
    Prepared(Box<PostgresPrepared>),
}

/// The messages of a prepared statement.
#[derive(Debug)]
pub(super) struct PostgresPrepared {
    /// Close, in case it has to be prepared anew.
    pub(super) close: Vec<u8>,
    /// Parse.
    pub(super) parse: Vec<u8>,
    /// Describe.
    pub(super) describe: Vec<u8>,
    /// Bind from behind its length up to its values.
    pub(super) bind: Vec<u8>,
}

/// What follows the values of every Bind: results come as text; then Execute and Sync.
pub(super) const BIND_END: [u8; 2] = [0, 0];
pub(super) const EXECUTE_AND_SYNC: [u8; 15] =
    [frontend::EXECUTE, 0, 0, 0, 9, 0, 0, 0, 0, 0, frontend::SYNC, 0, 0, 0, 4];

/// Version 3.0 of the protocol.
const VERSION: u32 = 3 << 16;

impl PostgresShared {
    /// For connections that only execute texts.
    pub fn new(identity: PostgresIdentity) -> Self {
        Self::of_workload(identity, &[], StatementProtocol::Text)
    }

    /// For connections that execute the statements of a workload.
    pub fn of_workload(
        identity: PostgresIdentity,
        statements: &[Statement],
        protocol: StatementProtocol,
    ) -> Self {
        let form = |(index, statement): (usize, &Statement)| form(index, &statement.kind, protocol);
        let statements = statements.iter().enumerate().map(form).collect();
        Self { startup: startup(&identity), identity, statements }
    }

    /// How many statements each connection will prepare.
    pub(crate) fn prepared_per_connection(&self) -> usize {
        self.statements
            .iter()
            .filter(|form| matches!(form, PostgresStatementForm::Prepared(_)))
            .count()
    }
}

fn startup(identity: &PostgresIdentity) -> Box<[u8]> {
    let mut out = vec![0; 4];
    out.extend_from_slice(&VERSION.to_be_bytes());
    let fixed = [
        ("user", identity.user.as_str()),
        ("database", &identity.database),
        // Texts are sent and quoted as UTF-8, unless somebody knows better.
        ("client_encoding", "UTF8"),
    ];
    let settings = identity.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let is_set = |name: &str| identity.settings.iter().any(|(known, _)| known == name);
    let fixed = fixed.into_iter().filter(|(name, _)| !is_set(name));
    for (name, value) in fixed.chain(settings) {
        for text in [name, value] {
            out.extend_from_slice(text.as_bytes());
            out.push(0);
        }
    }
    out.push(0);
    end_message(0, &mut out);
    out.into()
}

fn form(index: usize, kind: &StatementKind, protocol: StatementProtocol) -> PostgresStatementForm {
    let message = |sql: &str| {
        let mut out = Vec::new();
        request::query(sql, &mut out);
        PostgresStatementForm::Message(out.into())
    };
    match kind {
        // Preparing them gains nothing: the server only looks at their first word.
        StatementKind::Begin { .. } | StatementKind::Commit | StatementKind::Rollback => {
            message(kind.text())
        }
        StatementKind::Sql(_) => {
            let pieces = kind.pieces();
            match protocol {
                StatementProtocol::Prepared => {
                    PostgresStatementForm::Prepared(prepared(index, &pieces).into())
                }
                StatementProtocol::Text if pieces.len() == 1 => message(pieces[0]),
                StatementProtocol::Text => PostgresStatementForm::Text(request::pieces(&pieces)),
            }
        }
    }
}

fn prepared(index: usize, pieces: &[&str]) -> PostgresPrepared {
    let name = format!("s{index}\0");
    let of_name = |tag| {
        let mut out = Vec::new();
        let begun = begin_message(tag, &mut out);
        out.push(b'S');
        out.extend_from_slice(name.as_bytes());
        end_message(begun, &mut out);
        out
    };
    let mut parse = Vec::new();
    let begun = begin_message(frontend::PARSE, &mut parse);
    parse.extend_from_slice(name.as_bytes());
    parse.extend_from_slice(request::numbered(pieces).as_bytes());
    // The server finds the types of the placeholders by itself.
    parse.extend_from_slice(&[0, 0, 0]);
    end_message(begun, &mut parse);
    // Unnamed portal, statement, all values as text, how many there are.
    let mut bind = vec![0];
    bind.extend_from_slice(name.as_bytes());
    bind.extend_from_slice(&[0, 0]);
    bind.extend_from_slice(&((pieces.len() - 1) as u16).to_be_bytes());
    let close = of_name(frontend::CLOSE);
    let describe = of_name(frontend::DESCRIBE);
    PostgresPrepared { close, parse, describe, bind }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_message_says_who_and_where() {
        let identity = PostgresIdentity {
            user: "me".to_owned(),
            password: ServerSecret::new("secret"),
            database: "db".to_owned(),
            settings: vec![("application_name".to_owned(), "dbtime".to_owned())],
            ..PostgresIdentity::default()
        };
        let shared = PostgresShared::new(identity);
        let expected = b"\0\0\0\x4b\0\x03\0\0user\0me\0database\0db\0client_encoding\0UTF8\0\
                       application_name\0dbtime\0\0";
        assert_eq!(shared.startup.len(), expected.len());
        assert_eq!(shared.startup[4..], expected[4..]);
        assert_eq!(shared.startup[..4], (expected.len() as u32).to_be_bytes());
        assert!(!format!("{shared:?}").contains("secret"));
    }

    #[test]
    fn statements_are_prepared_by_number() {
        let prepared = prepared(3, &["SELECT a FROM t WHERE id = ", ""]);
        assert_eq!(prepared.parse, b"P\0\0\0\x27s3\0SELECT a FROM t WHERE id = $1\0\0\0");
        assert_eq!(prepared.describe, b"D\0\0\0\x08Ss3\0");
        assert_eq!(prepared.bind, b"\0s3\0\0\0\0\x01");
    }
}
