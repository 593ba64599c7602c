//! Commands of the protocols: their names, and which of them execute statements.

use dbtime_model::WireProtocol;

/// What a command of a protocol is called.
pub fn command_name(protocol: WireProtocol, command: u8) -> &'static str {
    let name = match protocol {
        WireProtocol::Mysql => dbtime_wire::mysql::command::name(command),
        WireProtocol::Postgres => dbtime_wire::postgres::frontend::request_name(command),
    };
    name.unwrap_or("?")
}

/// Whether a command is one of those that are added up: it executes a statement.
pub fn is_statement(protocol: WireProtocol, command: u8) -> bool {
    match protocol {
        WireProtocol::Mysql => {
            use dbtime_wire::mysql::command::{QUERY, STMT_BULK_EXECUTE, STMT_EXECUTE};
            matches!(command, QUERY | STMT_EXECUTE | STMT_BULK_EXECUTE)
        }
        WireProtocol::Postgres => {
            use dbtime_wire::postgres::frontend::{EXECUTE, FUNCTION_CALL, QUERY};
            matches!(command, QUERY | EXECUTE | FUNCTION_CALL)
        }
    }
}
