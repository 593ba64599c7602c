//! Reading a server once, over a login of its own: no exchange takes longer than a moment, the
//! whole not longer than a few seconds, and nothing is changed.

use super::PlannedServerUse;
use super::examined::ExaminedServer;
use dbtime_engines::server::{AdminSession, Server, ServerError};
use dbtime_engines::socket::{ExchangeBound, QueryTable, ServerAddress};
use dbtime_machine::now;
use dbtime_model::{MonoNanos, Nanos};
use std::fs::File;
use std::io::Read;

/// How long the server may take for one answer. Its own limits, which are shorter, come first.
const ANSWER_LIMIT: Nanos = Nanos::from_secs(2);

/// How long it may take for all of them.
const LOOK_LIMIT: Nanos = Nanos::from_secs(6);

/// What a product is read by.
pub(super) struct LookScript {
    /// Statements that bound the others and forbid changes; versions that lack one refuse it.
    pub(super) bounds: &'static [&'static str],
    /// The queries.
    pub(super) queries: &'static [LookQuery],
}

/// A query, and the name of its rows.
pub(super) struct LookQuery {
    pub(super) name: &'static str,
    pub(super) sql: &'static str,
}

/// Reads a server.
pub(super) fn examined(
    server: &dyn Server,
    script: &LookScript,
    planned: &PlannedServerUse,
) -> ExaminedServer {
    let is_local = server.address().is_local();
    let mut examined = ExaminedServer {
        is_tcp: matches!(server.address(), ServerAddress::Tcp { .. }),
        memory_bytes: is_local.then(memory_bytes),
        clock_source: is_local.then(clock_source).flatten(),
        planned: planned.clone(),
        ..ExaminedServer::default()
    };
    examined.lost = read(server, script, &mut examined).err();
    examined
}

/// Takes what the server answers. Errors: why it answers nothing.
fn read(
    server: &dyn Server,
    script: &LookScript,
    examined: &mut ExaminedServer,
) -> Result<(), String> {
    let admin = server.connect(&ExchangeBound::within(ANSWER_LIMIT));
    let mut admin = admin.map_err(|error| error.to_string())?;
    let target = server.to_string();
    let session = AdminSession { target: &target, admin: &mut *admin };
    let mut reader = BoundedReader { session, until: now() + LOOK_LIMIT };
    for sql in script.bounds {
        // Older versions lack some of them; the bound of the connection holds all the same.
        let _ = reader.query(sql);
    }
    let version = reader.query(server.dialect().version_query())?;
    version.value().unwrap_or_default().clone_into(&mut examined.version);
    for query in script.queries {
        match reader.query(query.sql) {
            Ok(table) => examined.take(query.name, table.rows),
            Err(why) => {
                examined.refusals.insert(query.name, why);
            }
        }
    }
    Ok(())
}

/// A session until its time is over. A statement that the server ends for its time ends no
/// connection; one that has been given up refuses all further statements at once.
struct BoundedReader<'a> {
    session: AdminSession<'a>,
    until: MonoNanos,
}

impl BoundedReader<'_> {
    fn query(&mut self, sql: &str) -> Result<QueryTable, String> {
        if now() > self.until {
            return Err(format!("was not read: the server had taken {LOOK_LIMIT} already"));
        }
        self.session.query(sql).map_err(|error| match error {
            // Without the query, which is longer than its reason.
            ServerError::Refused { failure, .. } => {
                format!("its query fails: {} ({})", failure.message, failure.code)
            }
            other => other.to_string(),
        })
    }
}

/// The memory of this machine.
pub(super) fn memory_bytes() -> u64 {
    let system = rustix::system::sysinfo();
    u64::from(system.mem_unit).saturating_mul(system.totalram)
}

/// What the kernel reads the time from.
fn clock_source() -> Option<String> {
    const FILE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let mut name = String::new();
    File::open(FILE).ok()?.take(64).read_to_string(&mut name).ok()?;
    Some(name.trim().to_owned())
}
