//! What has failed: what scripts learn of it, and what the driver says.

use crate::sysbench::api::HostFunctions;
use crate::sysbench::failure::{ClassifiedError, STATELESS};
use crate::sysbench::lua_host::{ClientState, HostCall};
use crate::sysbench::output::LogPriority;
use crate::sysbench::settings::SysbenchSettings;
use dbtime_model::SqlDialect;
use dbtime_sql::repeated_statement;
use mlua::{LuaString, Result};

/// The code of MySQL's client for a host whose name stands for nothing.
const UNKNOWN_HOST: u32 = 2005;

pub(super) fn install(host: &HostFunctions<'_>) -> Result<()> {
    host.define("cannot_connect", |_, on, ()| {
        let settings = &on.setup.settings;
        let slot = &mut *on.slot.borrow_mut();
        let Some(message) = settings.unreachable.get() else { return Ok(false) };
        slot.set_call(HostCall::Connect);
        slot.failure = Some(ClassifiedError {
            number: if settings.driver == SqlDialect::Mysql { UNKNOWN_HOST } else { 0 },
            state: if settings.driver == SqlDialect::Mysql { STATELESS } else { "" }.to_owned(),
            message: message.clone(),
            is_ignorable: false,
            is_lost: true,
            needs_rollback: false,
        });
        Ok(true)
    })?;
    host.define("failure", |lua, on, ()| {
        let slot = on.slot.borrow();
        let failed = slot.failure.as_ref();
        let failed = failed.ok_or_else(|| mlua::Error::runtime("nothing has failed"))?;
        Ok((
            failed.is_ignorable,
            failed.is_lost,
            failed.needs_rollback,
            failed.number,
            lua.create_string(&failed.state)?,
            lua.create_string(&failed.message)?,
        ))
    })?;
    host.define("log_failure", |_, on, query: LuaString| {
        let settings = &on.setup.settings;
        let lines = log_lines(&on.slot.borrow(), settings, &query.to_string_lossy());
        lines.iter().for_each(|line| settings.output.log(LogPriority::Fatal, line));
        Ok(())
    })
}

/// What the driver says about a failure that ends the run, without passwords.
fn log_lines(slot: &ClientState, settings: &SysbenchSettings, query: &str) -> Vec<String> {
    let Some(ClassifiedError { number, message, .. }) = &slot.failure else { return Vec::new() };
    let server = &settings.server;
    let query = repeated_statement(query);
    match (settings.driver, slot.call) {
        (SqlDialect::Postgres, HostCall::Connect) => {
            vec![format!("Connection to database failed: {message}\n")]
        }
        (SqlDialect::Postgres, HostCall::Prepare) => {
            vec![format!("PQprepare() failed: ERROR:  {message}\n")]
        }
        (SqlDialect::Postgres, HostCall::Execute) => {
            vec![format!("PQexecPrepared() failed: 7 {message}")]
        }
        (SqlDialect::Postgres, _) => {
            let failed = format!("PQexec() failed: 7 {message}");
            vec![failed, format!("failed query was: {query}")]
        }
        (_, HostCall::Connect) => {
            let on = if server.is_empty() { String::new() } else { format!(" on {server}") };
            let unable = format!("unable to connect to MySQL server{on}, aborting...");
            vec![unable, format!("error {number}: {message}")]
        }
        (_, HostCall::Prepare) => {
            let failed = "mysql_stmt_prepare() failed".to_owned();
            vec![failed, format!("MySQL error: {number} \"{message}\"")]
        }
        (_, call) => {
            let function =
                if call == HostCall::Execute { "mysql_stmt_execute" } else { "mysql_drv_query" };
            vec![format!("{function}() returned error {number} ({message}) for query '{query}'")]
        }
    }
}
