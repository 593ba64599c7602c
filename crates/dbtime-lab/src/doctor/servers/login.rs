//! Reading a server once, over a login of its own: no exchange takes longer than a moment, the
//! whole ends by an instant that is given, and nothing is changed.
//!
//! Where a pooler hands out connections to the server, what is set on one must not stay behind for
//! its next user: PostgreSQL's limits are those of one transaction.

use super::PlannedServerUse;
use super::examined::ExaminedServer;
use dbtime_engines::drive::plan::RunStop;
use dbtime_engines::server::{AdminConnection, AdminSession, Server, ServerError};
use dbtime_engines::socket::{ExchangeBound, QueryTable, ServerAddress};
use dbtime_machine::now;
use dbtime_model::{MonoNanos, Nanos};
use dbtime_observe::doctor::{MachineTree, memory_limit};
use std::fs::File;
use std::io::Read;

/// How long the server may take for one answer. Its own limits, which are shorter, come first.
const ANSWER_LIMIT: Nanos = Nanos::from_secs(2);

/// How long ending a query that nothing waits for any more may take.
const END_LIMIT: Nanos = Nanos::from_millis(300);

/// What servers answer where a version has no such table, column or function.
const ABSENT: [&str; 6] = ["1054", "1109", "1146", "42P01", "42703", "42883"];

/// What they answer where they have ended a statement for its time: MariaDB, MySQL, PostgreSQL.
const ENDED: [&str; 3] = ["1969", "3024", "57014"];

/// What a product is read by.
pub(super) struct LookScript {
    /// Statements that bound the others and forbid changes; versions that lack one refuse it.
    pub(super) bounds: &'static [&'static str],
    /// What keeps a query that fails from ending the others: before each, and after such a one.
    pub(super) guard: Option<[&'static str; 2]>,
    /// The queries; those that take long with many tables come last.
    pub(super) queries: &'static [LookQuery],
    /// Names of those that read no table and take next to nothing.
    pub(super) quick: &'static [&'static str],
    /// What ends it.
    pub(super) end: Option<&'static str>,
    /// What ends the query of the session with this number, where versions exist without a limit
    /// of their own.
    pub(super) stop: Option<fn(u32) -> String>,
}

/// A query, and the name of its rows.
pub(super) struct LookQuery {
    pub(super) name: &'static str,
    pub(super) sql: &'static str,
}

/// How much of a server is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LookDepth {
    /// Variables, counters and sessions: what may be read before every load.
    Quick,
    /// Everything.
    Whole,
}

/// Reads a server until then. Returns also why it could not be reached, where that is so.
pub(super) fn examined(
    server: &dyn Server,
    script: &LookScript,
    depth: LookDepth,
    planned: &PlannedServerUse,
    until: MonoNanos,
) -> (ExaminedServer, Option<ServerError>) {
    let mut examined = unread(server, planned);
    // A little less: why it does not let dbtime in is worth more than that the time is over.
    let server = server.connecting_within(Nanos((until - now()).0 / 20 * 19));
    let end = RunStop::default();
    end.at(until);
    match server.connect(&ExchangeBound::within(ANSWER_LIMIT).or_until(&end)) {
        Ok(mut admin) => {
            let result = read(&*server, &mut *admin, (script, depth), until, &mut examined);
            examined.lost = result.err();
            (examined, None)
        }
        Err(error) => {
            examined.lost = Some(error.to_string());
            (examined, Some(error))
        }
    }
}

/// What is known of a server before it answers.
fn unread(server: &dyn Server, planned: &PlannedServerUse) -> ExaminedServer {
    let is_local = server.address().is_local();
    ExaminedServer {
        is_networked: matches!(server.address(), ServerAddress::Tcp { .. }) && !is_local,
        memory_bytes: is_local.then(memory_bytes),
        clock_source: is_local.then(clock_source).flatten(),
        planned: planned.clone(),
        ..ExaminedServer::default()
    }
}

/// Takes what the server answers. Errors: why it answers nothing.
fn read(
    server: &dyn Server,
    admin: &mut dyn AdminConnection,
    (script, depth): (&LookScript, LookDepth),
    until: MonoNanos,
    examined: &mut ExaminedServer,
) -> Result<(), String> {
    let number = admin.number();
    let target = server.to_string();
    let session = AdminSession { target: &target, admin };
    let mut reader = BoundedReader { session, begun: now(), until, is_given_up: false };
    let result = reader.look(server.dialect().version_query(), script, depth, examined);
    if let (true, Some(stop), Some(number)) = (reader.is_given_up, script.stop, number) {
        end_query(server, &stop(number));
    }
    result
}

/// Ends what the server may still be at although its client is gone. One that has ended by itself,
/// and a server that hangs, need nothing more.
fn end_query(server: &dyn Server, sql: &str) {
    let server = server.connecting_within(END_LIMIT);
    if let Ok(mut admin) = server.connect(&ExchangeBound::within(END_LIMIT)) {
        let _ = admin.query(sql);
    }
}

/// A session until its time is over. A statement that the server ends for its time ends no
/// connection; one that has been given up refuses all further statements at once.
struct BoundedReader<'a> {
    session: AdminSession<'a>,
    begun: MonoNanos,
    until: MonoNanos,
    /// Whether an answer was not waited for any more.
    is_given_up: bool,
}

impl BoundedReader<'_> {
    fn look(
        &mut self,
        version_query: &str,
        script: &LookScript,
        depth: LookDepth,
        examined: &mut ExaminedServer,
    ) -> Result<(), String> {
        for sql in script.bounds {
            // Older versions lack some of them; the bound of the connection holds all the same.
            let _ = self.query(sql);
        }
        let version = self.query(version_query)?;
        version.value().unwrap_or_default().clone_into(&mut examined.version);
        let is_due =
            |query: &&LookQuery| depth == LookDepth::Whole || script.quick.contains(&query.name);
        for query in script.queries.iter().filter(is_due) {
            match self.guarded(script.guard, query.sql) {
                Ok(table) => examined.take(query.name, table.rows),
                Err(why) => {
                    examined.refusals.insert(query.name, why);
                }
            }
        }
        if let Some(sql) = script.end {
            let _ = self.query(sql);
        }
        Ok(())
    }

    /// A query whose failure ends nothing else.
    fn guarded(&mut self, guard: Option<[&str; 2]>, sql: &str) -> Result<QueryTable, String> {
        let Some([before, after]) = guard else { return self.query(sql) };
        self.query(before)?;
        self.query(sql).inspect_err(|_| {
            // Where the connection is gone, the next query has the reason.
            let _ = self.query(after);
        })
    }

    fn query(&mut self, sql: &str) -> Result<QueryTable, String> {
        if now() >= self.until {
            return Err(self.overdue());
        }
        self.session.query(sql).map_err(|error| {
            self.is_given_up |= error.is_lost();
            match error {
                _ if now() >= self.until => self.overdue(),
                // Without the query, which is longer than its reason.
                ServerError::Refused { failure, .. } => refusal(&failure.message, &failure.code),
                other => other.to_string(),
            }
        })
    }

    /// That there was no time for a query.
    fn overdue(&self) -> String {
        format!("was not read: the server had taken {} already", self.until - self.begun)
    }
}

/// Why a query has no rows.
fn refusal(message: &str, code: &str) -> String {
    if ABSENT.contains(&code) {
        return format!("this version does not have it: {message} ({code})");
    }
    match ENDED.contains(&code) {
        true => format!("its query takes longer than half a second: {message} ({code})"),
        false => format!("its query fails: {message} ({code})"),
    }
}

/// The memory of this machine, or of the container that dbtime is in.
pub(super) fn memory_bytes() -> u64 {
    let system = rustix::system::sysinfo();
    let all = u64::from(system.mem_unit).saturating_mul(system.totalram);
    memory_limit(&MachineTree::of_machine()).map_or(all, |limit| limit.min(all))
}

/// What the kernel reads the time from.
fn clock_source() -> Option<String> {
    const FILE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let mut name = String::new();
    File::open(FILE).ok()?.take(64).read_to_string(&mut name).ok()?;
    Some(name.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_version_lacks_is_told_apart_from_what_fails() {
        let absent = refusal("Unknown table 'innodb_metrics'", "1109");
        assert!(absent.starts_with("this version does not have it: Unknown table"), "{absent}");
        assert_eq!(refusal("denied", "1142"), "its query fails: denied (1142)");
        let late = refusal("max_statement_time exceeded", "1969");
        assert!(late.starts_with("its query takes longer than half a second: max_"), "{late}");
    }
}
