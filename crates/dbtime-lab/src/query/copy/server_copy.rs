//! A private server of the same version with copies of tables.

use super::row_inserter::RowInserter;
use super::table_copy::{TableCopy, rows_of};
use super::{INTERRUPTED, QueryCopy, mysql_tables, postgres_tables};
use crate::error::LabError;
use crate::query::place::{QueryPlace, ServerPlace};
use crate::query::progress::QueryProgress;
use crate::query::session::QuerySession;
use crate::servers::{PrivateServer, ServerRequest, installed};
use crate::targets::megabytes;
use dbtime_engines::drive::plan::RunStop;
use dbtime_engines::server::{AdminSession, ServerDialect, StatementBound};
use dbtime_engines::socket::ExchangeBound;
use dbtime_load::failure::DatabaseFailure;
use dbtime_model::{Nanos, Product, SqlDialect};
use std::path::PathBuf;
use std::sync::Arc;

/// What the tables of a copy may have on disk at most.
const MOST_BYTES: u64 = 1_000_000_000;

/// How long reading or writing a table may take.
const TABLE_TIMEOUT: Nanos = Nanos::from_secs(3_600);

/// A database to be made for a copy.
pub(super) struct NewDatabase {
    pub(super) name: String,
    /// With the character set and collation of the original.
    pub(super) create: String,
    /// Without, where the copy does not have those.
    pub(super) plain: String,
    /// What its sessions are set to, so that names mean the same tables.
    pub(super) setting: Option<String>,
}

pub(super) fn make(
    place: &dyn QueryPlace,
    tables: &[String],
    stop: &RunStop,
    progress: &dyn Fn(QueryProgress),
) -> Result<QueryCopy, LabError> {
    let Some(server) = place.server() else { return Err(no_tables(place)) };
    if tables.is_empty() {
        return Err(no_tables(place));
    }
    let bound = StatementBound { limit: TABLE_TIMEOUT, stop: stop.clone() };
    let mut original = QuerySession::open(place, &bound, false)?;
    let dialect = server.dialect();
    let (database, tables) = examined(&mut original, dialect, tables)?;
    check_size(&tables)?;
    let step = |step: String| progress(QueryProgress { step, ..QueryProgress::default() });
    step(format!("starting another {} for a copy", original.title));
    let private = start(&original, stop)?;
    let mut notes = vec!["the copy has the settings of a new server".to_owned()];
    notes.extend(make_database(&private, &database, stop)?);
    let server = Arc::from(private.server().with_database(&database.name));
    let copy = ServerPlace { server, pid: Some(private.pid()) };
    let filled = fill(&mut original, &copy, &tables, &bound, progress);
    filled.map_err(|error| if stop.is_set() { INTERRUPTED } else { private.cause_of(error) })?;
    notes.extend(tables.into_iter().flat_map(|table| table.notes));
    let (place, original) = (Box::new(copy), place.url());
    Ok(QueryCopy { place, original, notes, _home: Box::new(private) })
}

fn no_tables(place: &dyn QueryPlace) -> LabError {
    LabError::Usage(format!(
        "the statement has no table of {} that could be copied: name the database of its tables in \
         the target, or leave --on-copy out",
        place.url()
    ))
}

/// What is there to be copied.
fn examined(
    original: &mut QuerySession<'_>,
    dialect: &dyn ServerDialect,
    names: &[String],
) -> Result<(NewDatabase, Vec<TableCopy>), LabError> {
    match original.product.dialect() {
        SqlDialect::Postgres => {
            set_all(original, &postgres_tables::FOR_ORIGINAL)?;
            let database = postgres_tables::database(original, dialect)?;
            let named = |name: &String| postgres_tables::tables(original, dialect, name);
            let tables: Vec<Vec<TableCopy>> = names.iter().map(named).collect::<Result<_, _>>()?;
            Ok((database, tables.concat()))
        }
        SqlDialect::Mysql | SqlDialect::Sqlite => {
            set_all(original, &mysql_tables::FOR_ORIGINAL)?;
            let database = mysql_tables::database(original, dialect)?;
            let table = |name: &String| mysql_tables::table(original, dialect, name);
            Ok((database, names.iter().map(table).collect::<Result<_, _>>()?))
        }
    }
}

fn set_all(session: &mut QuerySession<'_>, settings: &[&str]) -> Result<(), LabError> {
    settings.iter().try_for_each(|sql| rows_of(session, sql).map(drop))
}

fn check_size(tables: &[TableCopy]) -> Result<(), LabError> {
    let bytes: u64 = tables.iter().map(|table| table.bytes).sum();
    if bytes <= MOST_BYTES {
        return Ok(());
    }
    let each = |table: &TableCopy| format!("{} {}", table.name, megabytes(table.bytes));
    Err(LabError::Target(format!(
        "the tables are too large for a copy ({}), which has at most {}: leave --on-copy out, or \
         name a server with a part of the rows",
        tables.iter().map(each).collect::<Vec<_>>().join(", "),
        megabytes(MOST_BYTES)
    )))
}

/// Starts a server of the original's version.
fn start(original: &QuerySession<'_>, stop: &RunStop) -> Result<PrivateServer, LabError> {
    let product = original.product;
    let version = (original.version.major, original.version.minor);
    let here = installed(product, stop)?;
    let same = here.iter().find(|(_, number)| is_same(product, version, *number));
    let Some((binary, _)) = same else { return Err(not_installed(&original.title, &here)) };
    // Rows of any length are sent.
    let packet = ("max_allowed_packet".to_owned(), "1073741824".to_owned());
    let settings = if product.speaks_mysql() { vec![packet] } else { Vec::new() };
    let prefix = Some(binary.clone());
    let request = ServerRequest { prefix, settings, ..ServerRequest::new(product) };
    PrivateServer::start(&request, &|_| {}, stop)
}

/// Whether two versions plan alike. Of PostgreSQL the second number is that of a correction, from
/// 10 on.
fn is_same(product: Product, original: (u32, u32), found: (u32, u32)) -> bool {
    let has_one_number = product == Product::Postgres && original.0 >= 10;
    if has_one_number { original.0 == found.0 } else { original == found }
}

fn not_installed(title: &str, here: &[(PathBuf, (u32, u32))]) -> LabError {
    let each = |(binary, (major, minor)): &(PathBuf, (u32, u32))| {
        format!("{major}.{minor} ({})", binary.display())
    };
    let found = match here.iter().map(each).collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => "no version".to_owned(),
        found => found,
    };
    LabError::Target(format!(
        "a copy needs a server of the same version, {title}, and here is {found}: install it, or \
         leave --on-copy out"
    ))
}

/// Makes the database. Returns how it differs.
fn make_database(
    private: &PrivateServer,
    database: &NewDatabase,
    stop: &RunStop,
) -> Result<Option<String>, LabError> {
    let server = private.server();
    let mut admin = server.connect(&ExchangeBound::until(stop))?;
    let target = server.to_string();
    let mut session = AdminSession { target: &target, admin: &mut *admin };
    let note = if session.build(&database.create).is_ok() {
        None
    } else {
        session.build(&database.plain)?;
        Some("the copy has another collation: the order of texts may differ".to_owned())
    };
    if let Some(setting) = &database.setting {
        session.build(setting)?;
    }
    Ok(note)
}

/// Makes the tables and copies their rows, all of one moment.
fn fill(
    original: &mut QuerySession<'_>,
    place: &ServerPlace,
    tables: &[TableCopy],
    bound: &StatementBound,
    progress: &dyn Fn(QueryProgress),
) -> Result<(), LabError> {
    let mut copy = QuerySession::open(place, bound, true)?;
    match copy.product.dialect() {
        SqlDialect::Postgres => set_all(&mut copy, &postgres_tables::FOR_COPY)?,
        SqlDialect::Mysql | SqlDialect::Sqlite => set_all(&mut copy, &mysql_tables::FOR_COPY)?,
    }
    let url = original.place.url();
    original.begin_snapshot().map_err(|failure| refused(&url, failure))?;
    for (table, done) in tables.iter().zip(0..) {
        let (step, of) = (format!("copying {}", table.name), tables.len() as u64);
        progress(QueryProgress { step, done, of });
        fill_table(original, &mut copy, place, table)?;
    }
    original.end_snapshot();
    for table in tables {
        rows_of(&mut copy, &place.server.dialect().analyze(&table.name))?;
    }
    Ok(())
}

fn fill_table(
    original: &mut QuerySession<'_>,
    copy: &mut QuerySession<'_>,
    place: &ServerPlace,
    table: &TableCopy,
) -> Result<(), LabError> {
    for sql in &table.before {
        rows_of(copy, sql).map_err(|error| not_made(&table.name, &error))?;
    }
    rows_of(copy, "BEGIN")?;
    let mut rows = RowInserter::new(copy, place.server.dialect(), &table.insert);
    let read = original.connection.run_text(&table.select, &mut rows);
    let written = rows.finish();
    let read = read.map_err(|failure| refused(&original.place.url(), failure))?;
    written.map_err(|failure| refused(&copy.place.url(), failure))?;
    if read.unlisted_rows > 0 {
        let name = &table.name;
        return Err(LabError::Target(format!(
            "{name} has rows of more than 16 MiB, which are not copied: leave --on-copy out"
        )));
    }
    rows_of(copy, "COMMIT")?;
    table.behind.iter().try_for_each(|sql| rows_of(copy, sql).map(drop))
}

/// That a table has something which its copy cannot have, such as types of extensions.
fn not_made(name: &str, error: &LabError) -> LabError {
    LabError::Target(format!("{name} cannot be made on the copy: {error}; leave --on-copy out"))
}

fn refused(url: &str, failure: Box<DatabaseFailure>) -> LabError {
    LabError::Refused { target: url.to_owned(), failure }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_plans_as_itself_alone() {
        use Product::{Mariadb, Mysql, Postgres};
        assert!(is_same(Postgres, (15, 18), (15, 2)) && !is_same(Postgres, (15, 0), (16, 0)));
        assert!(!is_same(Postgres, (9, 6), (9, 5)) && is_same(Postgres, (9, 6), (9, 6)));
        assert!(!is_same(Mariadb, (10, 11), (10, 6)) && !is_same(Mysql, (8, 0), (8, 4)));
    }

    #[test]
    fn what_is_here_and_what_is_needed_are_named() {
        let error = not_installed("MySQL 5.5.9", &[("/usr/sbin/mysqld".into(), (8, 0))]);
        let text = error.to_string();
        assert!(text.contains("MySQL 5.5.9, and here is 8.0 (/usr/sbin/mysqld)"), "{text}");
        assert!(not_installed("MySQL 5.5.9", &[]).to_string().contains("here is no version"));
    }

    #[test]
    fn large_tables_are_refused_with_their_sizes() {
        let table =
            |name: &str, bytes| TableCopy { name: name.to_owned(), bytes, ..TableCopy::default() };
        assert!(check_size(&[table("a", MOST_BYTES)]).is_ok());
        let error = check_size(&[table("a", MOST_BYTES), table("b", 1)]).expect_err("too large");
        assert!(error.to_string().contains("a 1.0 GB, b 0 MB"), "{error}");
    }
}
