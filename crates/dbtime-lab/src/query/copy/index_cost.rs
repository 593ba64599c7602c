//! What an index costs, tried where nothing else is: on a copy.

use crate::query::session::QuerySession;
use dbtime_engines::server::StatementAnswer;
use dbtime_model::SqlDialect;

/// What an index costs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct IndexCost {
    /// What it has on disk; `None`: the database does not show that. Unit: bytes.
    pub(crate) bytes: Option<u64>,
    /// How long building it took. Unit: seconds.
    pub(crate) build_s: f64,
}

/// Builds an index of a table by `sql`, and has the planner know it. The table is as statements
/// write it: with its schema, and in quotes where it needs them.
///
/// # Errors
/// What the database says.
pub(crate) fn build_index(
    session: &mut QuerySession<'_>,
    table: &str,
    sql: &str,
) -> StatementAnswer<IndexCost> {
    let before = size_of_indexes(session, table);
    let built = session.connection.run_text(sql, &mut ())?;
    let after = size_of_indexes(session, table);
    let analyze = analyze(session, table);
    session.table(&analyze)?;
    let bytes = after.zip(before).map(|(after, before)| after.saturating_sub(before));
    Ok(IndexCost { bytes, build_s: (built.done - built.sent).as_secs() })
}

/// What all indexes of a table have on disk; of SQLite, all that is in the file.
fn size_of_indexes(session: &mut QuerySession<'_>, table: &str) -> Option<u64> {
    let server = session.place.server();
    let name = match session.product.dialect() {
        SqlDialect::Mysql => bare(table),
        SqlDialect::Postgres | SqlDialect::Sqlite => table.to_owned(),
    };
    let text = server.map(|server| server.dialect().text(&name)).unwrap_or_default();
    let queries = match session.product.dialect() {
        SqlDialect::Postgres => vec![format!("SELECT pg_indexes_size(to_regclass({text}))")],
        SqlDialect::Mysql => vec![
            format!(
                "SELECT SUM(stat_value) * @@innodb_page_size FROM mysql.innodb_index_stats WHERE \
                 stat_name = 'size' AND database_name = DATABASE() AND table_name = {text}"
            ),
            // Servers before 5.6 have no such statistics.
            format!(
                "SELECT index_length FROM information_schema.tables WHERE table_schema = \
                 DATABASE() AND table_name = {text}"
            ),
        ],
        SqlDialect::Sqlite => vec![
            "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, \
             pragma_freelist_count, pragma_page_size"
                .to_owned(),
        ],
    };
    queries.iter().find_map(|sql| {
        let answer = session.table(sql).ok()?;
        // A sum is a decimal number.
        answer.value()?.split('.').next()?.parse().ok()
    })
}

/// The name of a table without its database and without quotes.
fn bare(table: &str) -> String {
    table.rsplit('.').next().unwrap_or(table).replace(['`', '"'], "")
}

fn analyze(session: &QuerySession<'_>, table: &str) -> String {
    match session.place.server() {
        Some(server) => server.dialect().analyze(table),
        None => format!("ANALYZE {table}"),
    }
}
