//! What a request says of statements, and what it means to those behind it.

use crate::kernel_layout::numbers::{REQUEST_FETCHES, REQUEST_NAMED};
use crate::trace::kernel::layout::RawRequest;
use dbtime_model::WireProtocol;
use dbtime_wire::mysql::command;
use dbtime_wire::postgres::{backend, frontend};

/// How a request names a statement that an earlier one prepared.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum StatementReference {
    /// MySQL's.
    Number(u32),
    /// PostgreSQL's; the one without a name is replaced by the next.
    Name(Box<[u8]>),
    /// What one of PostgreSQL's portals executes, of which rows are fetched bit by bit.
    Portal(Box<[u8]>),
}

/// What a request says.
pub(crate) enum RequestContent {
    Text,
    Reference(StatementReference),
    Nothing,
}

pub(crate) fn content(raw: &RawRequest<'_>) -> RequestContent {
    match (raw.protocol, raw.record.command) {
        (WireProtocol::Postgres, _) if raw.has(REQUEST_FETCHES) => {
            RequestContent::Reference(StatementReference::Portal(raw.portal.into()))
        }
        (WireProtocol::Postgres, _) if raw.has(REQUEST_NAMED) => {
            RequestContent::Reference(name(raw))
        }
        (WireProtocol::Postgres, frontend::QUERY | frontend::PARSE | frontend::EXECUTE) => {
            RequestContent::Text
        }
        (WireProtocol::Postgres, _) => RequestContent::Nothing,
        (_, command::QUERY | command::STMT_PREPARE | INIT_DB) => RequestContent::Text,
        (
            _,
            command::STMT_EXECUTE
            | command::STMT_SEND_LONG_DATA
            | command::STMT_CLOSE
            | command::STMT_RESET
            | command::STMT_FETCH
            | command::STMT_BULK_EXECUTE,
        ) => number(raw.text).map_or(RequestContent::Nothing, |n| {
            RequestContent::Reference(StatementReference::Number(n))
        }),
        _ => RequestContent::Nothing,
    }
}

/// What a request means to those behind it.
pub(crate) enum RequestMeaning {
    Prepares(StatementReference),
    Closes(StatementReference),
    /// What the connection has prepared is gone.
    EndsAll,
    /// And so is the connection.
    Leaves,
    None,
}

pub(crate) fn meaning(raw: &RawRequest<'_>) -> RequestMeaning {
    // A statement that fails as it is executed has been prepared all the same.
    let is_answered = raw.record.writes > 0
        && (raw.record.error == 0 || raw.record.reply == backend::PARSE_COMPLETE);
    match (raw.protocol, raw.record.command) {
        (WireProtocol::Postgres, frontend::PARSE | frontend::EXECUTE)
            if is_answered && !raw.has(REQUEST_NAMED | REQUEST_FETCHES) =>
        {
            RequestMeaning::Prepares(name(raw))
        }
        (WireProtocol::Postgres, frontend::TERMINATE) => RequestMeaning::Leaves,
        (WireProtocol::Postgres, _) => RequestMeaning::None,
        (_, command::STMT_PREPARE) if raw.record.reply == 0 && raw.record.writes > 0 => {
            RequestMeaning::Prepares(StatementReference::Number(raw.record.statement))
        }
        (_, command::STMT_CLOSE) => number(raw.text).map_or(RequestMeaning::None, |number| {
            RequestMeaning::Closes(StatementReference::Number(number))
        }),
        (_, command::CHANGE_USER | command::RESET_CONNECTION) => RequestMeaning::EndsAll,
        (_, command::QUIT) => RequestMeaning::Leaves,
        _ => RequestMeaning::None,
    }
}

/// USE, as a command.
const INIT_DB: u8 = 0x02;

fn name(raw: &RawRequest<'_>) -> StatementReference {
    StatementReference::Name(raw.name.into())
}

fn number(parameters: &[u8]) -> Option<u32> {
    parameters.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}
