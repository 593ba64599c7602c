//! How tables of PostgreSQL are made and read.

use super::server_copy::NewDatabase;
use super::table_copy::{TableCopy, cell, no_table, rows_of};
use crate::error::LabError;
use crate::query::session::QuerySession;
use dbtime_engines::server::ServerDialect;
use std::iter::once;

/// What a session of the copy needs to take rows as they are, and soon.
pub(super) const FOR_COPY: [&str; 2] =
    ["SET datestyle = 'ISO, YMD'", "SET synchronous_commit = off"];

/// What a session of the original needs to give them.
pub(super) const FOR_ORIGINAL: [&str; 3] =
    ["SET datestyle = 'ISO, YMD'", "SET extra_float_digits = 3", "SET bytea_output = 'hex'"];

/// The database of the session, and how it is made anew.
pub(super) fn database(
    session: &mut QuerySession<'_>,
    dialect: &dyn ServerDialect,
) -> Result<NewDatabase, LabError> {
    let sql = "SELECT datname, pg_encoding_to_char(encoding), datcollate, datctype FROM \
               pg_database WHERE datname = current_database()";
    let rows = rows_of(session, sql)?;
    let row = rows.first().cloned().unwrap_or_default();
    // A new server has databases of these names.
    let name = match cell(&row, 0) {
        "postgres" | "template1" | "" => "dbtime",
        name => name,
    };
    let plain = format!("CREATE DATABASE {}", dialect.quoted(name));
    let create = format!(
        "{plain} TEMPLATE template0 ENCODING {} LC_COLLATE {} LC_CTYPE {}",
        dialect.text(cell(&row, 1)),
        dialect.text(cell(&row, 2)),
        dialect.text(cell(&row, 3))
    );
    let schemas = "SELECT string_agg(quote_ident(s), ', ') FROM unnest(current_schemas(false)) s";
    let schemas = rows_of(session, schemas)?;
    let schemas = schemas.first().map(|row| cell(row, 0)).filter(|schemas| !schemas.is_empty());
    let database = dialect.quoted(name);
    let set = |schemas: &str| format!("ALTER DATABASE {database} SET search_path = {schemas}");
    Ok(NewDatabase { name: name.to_owned(), create, plain, setting: schemas.map(set) })
}

/// The tables of this name: which of several schemas a statement means is for its copy to find.
pub(super) fn tables(
    session: &mut QuerySession<'_>,
    dialect: &dyn ServerDialect,
    name: &str,
) -> Result<Vec<TableCopy>, LabError> {
    let is_new = session.version.major >= 10;
    let partition = if is_new { "c.relispartition OR c.relkind = 'p'" } else { "false" };
    let found = format!(
        "SELECT c.oid, quote_ident(n.nspname), quote_ident(c.relname), pg_table_size(c.oid), \
         CASE WHEN {partition} THEN 't' ELSE 'f' END FROM pg_class c JOIN pg_namespace n ON n.oid \
         = c.relnamespace WHERE c.relname = {} AND c.relkind IN ('r', 'p') AND n.nspname NOT IN \
         ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_temp\\_%' ORDER BY \
         n.nspname",
        dialect.text(name)
    );
    let found = rows_of(session, &found)?;
    if found.is_empty() {
        return Err(no_table(session, name));
    }
    found.iter().map(|row| table(session, dialect, name, row)).collect()
}

/// The table of a row of the catalog.
fn table(
    session: &mut QuerySession<'_>,
    dialect: &dyn ServerDialect,
    name: &str,
    row: &[Option<String>],
) -> Result<TableCopy, LabError> {
    let major = session.version.major;
    if cell(row, 4) == "t" {
        return Err(LabError::Target(format!(
            "{name} is partitioned, and such tables are not copied: leave --on-copy out"
        )));
    }
    let (oid, schema) = (cell(row, 0), cell(row, 1));
    let full = format!("{schema}.{}", cell(row, 2));
    let columns = rows_of(session, &columns_query(oid, major))?;
    let lines: Vec<&str> = columns.iter().map(|row| cell(row, 1)).collect();
    let plain = columns.iter().filter(|row| cell(row, 2).is_empty()).map(|row| cell(row, 0));
    let plain: Vec<&str> = plain.collect();
    let read: Vec<String> = plain.iter().map(|name| format!("{name}::text")).collect();
    let behind = rows_of(session, &keys_query(oid, &full, dialect))?;
    let has_keys = rows_of(
        session,
        &format!("SELECT count(*) FROM pg_constraint WHERE conrelid = {oid} AND contype = 'f'"),
    )?;
    let has_keys = has_keys.first().is_some_and(|row| cell(row, 0) != "0");
    let note = || format!("{name} has no foreign keys on the copy");
    let select = format!("SELECT {} FROM ONLY {full}", read.join(", "));
    let types = rows_of(session, &types_query(oid))?;
    let types = types.iter().flat_map(|row| [new_schema(cell(row, 1)), cell(row, 2).to_owned()]);
    let create = format!("CREATE TABLE {full} ({})", lines.join(", "));
    Ok(TableCopy {
        bytes: cell(row, 3).parse().unwrap_or(0),
        before: once(new_schema(schema)).chain(types).chain(once(create)).collect(),
        select,
        insert: format!("INSERT INTO {full} ({}) VALUES ", plain.join(", ")),
        behind: behind.iter().map(|row| cell(row, 0).to_owned()).collect(),
        notes: has_keys.then(note).into_iter().collect(),
        name: full,
    })
}

fn new_schema(name: &str) -> String {
    format!("CREATE SCHEMA IF NOT EXISTS {name}")
}

/// Asks for the types of the database's own that a table has columns of: whether it is made of
/// another one, its schema, and what makes it where another table has not.
fn types_query(oid: &str) -> String {
    let labels = "(SELECT string_agg(quote_literal(e.enumlabel), ', ' ORDER BY e.enumsortorder) \
                  FROM pg_enum e WHERE e.enumtypid = t.oid)";
    let checks = "(SELECT string_agg(' ' || pg_get_constraintdef(c.oid), '') FROM pg_constraint c \
                  WHERE c.contypid = t.oid AND c.contype = 'c')";
    format!(
        "SELECT DISTINCT t.typtype = 'd', quote_ident(n.nspname), 'DO $dbtime$ BEGIN CREATE ' || \
         CASE t.typtype WHEN 'e' THEN 'TYPE ' ELSE 'DOMAIN ' END || quote_ident(n.nspname) || '.' \
         || quote_ident(t.typname) || ' AS ' || CASE t.typtype WHEN 'e' THEN 'ENUM (' || \
         coalesce({labels}, '') || ')' ELSE format_type(t.typbasetype, t.typtypmod) || \
         coalesce({checks}, '') END || '; EXCEPTION WHEN duplicate_object THEN NULL; END $dbtime$' \
         FROM pg_attribute a JOIN pg_type u ON u.oid = a.atttypid JOIN pg_type t ON t.oid IN \
         (u.oid, u.typelem, u.typbasetype) JOIN pg_namespace n ON n.oid = t.typnamespace WHERE \
         a.attrelid = {oid} AND a.attnum > 0 AND NOT a.attisdropped AND t.typtype IN ('d', 'e') \
         ORDER BY 1"
    )
}

/// Asks for the columns of a table: the name, the definition, and whether it is generated. Defaults
/// that count are left out: what they count is not copied.
fn columns_query(oid: &str, major: u32) -> String {
    // Generated columns are from version 12 on, those that are not stored from 18.
    let generated = if major >= 12 { "a.attgenerated::text" } else { "''" };
    let expression = "pg_get_expr(d.adbin, d.adrelid)";
    let collation = "CASE WHEN a.attcollation <> t.typcollation THEN ' COLLATE ' || \
                     quote_ident(co.collname) ELSE '' END";
    let value = format!(
        "CASE WHEN {generated} <> '' THEN ' GENERATED ALWAYS AS (' || {expression} || CASE \
         {generated} WHEN 'v' THEN ') VIRTUAL' ELSE ') STORED' END WHEN {expression} NOT LIKE \
         '%nextval(%' THEN ' DEFAULT ' || {expression} ELSE '' END"
    );
    format!(
        "SELECT quote_ident(a.attname), quote_ident(a.attname) || ' ' || format_type(a.atttypid, \
         a.atttypmod) || {collation} || {value} || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' \
         END, {generated} FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN \
         pg_collation co ON co.oid = a.attcollation LEFT JOIN pg_attrdef d ON d.adrelid = \
         a.attrelid AND d.adnum = a.attnum WHERE a.attrelid = {oid} AND a.attnum > 0 AND NOT \
         a.attisdropped ORDER BY a.attnum"
    )
}

/// Asks for the statements that make the keys and indexes of a table.
fn keys_query(oid: &str, full: &str, dialect: &dyn ServerDialect) -> String {
    let alter = dialect.text(&format!("ALTER TABLE {full} ADD CONSTRAINT "));
    format!(
        "SELECT {alter} || quote_ident(conname) || ' ' || pg_get_constraintdef(oid) FROM \
         pg_constraint WHERE conrelid = {oid} AND contype IN ('p', 'u') UNION ALL SELECT \
         pg_get_indexdef(i.indexrelid) FROM pg_index i WHERE i.indrelid = {oid} AND i.indisvalid \
         AND NOT EXISTS (SELECT 1 FROM pg_constraint c WHERE c.conindid = i.indexrelid AND \
         c.conrelid = {oid} AND c.contype IN ('p', 'u'))"
    )
}
