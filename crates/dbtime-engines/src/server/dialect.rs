//! How a database writes names, types and tables.

use dbtime_load::workload::{TableIndex, WorkloadColumn, WorkloadTable};

/// How a database writes names, types and tables.
pub trait ServerDialect: Sync {
    /// A name as SQL takes it, whatever it contains.
    fn quoted(&self, name: &str) -> String;

    /// A column's type, with whatever makes the database assign it.
    fn type_of(&self, column: &WorkloadColumn) -> String;

    /// A text as SQL takes it.
    fn text(&self, text: &str) -> String;

    /// What follows the parenthesis of CREATE TABLE.
    fn table_options(&self) -> &'static str {
        ""
    }

    /// An expression of how many tables there are of a name, given as SQL, in the database.
    fn count_tables(&self, name: &str) -> String;

    /// Statements after all rows and indexes are there, so that the optimiser knows them.
    fn analyze(&self, table: &str) -> String;

    /// What asks the server for its version.
    fn version_query(&self) -> &'static str;

    /// What asks the server where the client that asks is: an address or a name, a colon and a
    /// port, all as the server sees it; no port of a Unix socket.
    fn client_address_query(&self) -> &'static str;

    /// What asks the server for the folder of its data.
    fn data_folder_query(&self) -> &'static str;

    /// Whether rows are loaded faster before there is a primary key.
    fn adds_key_after_loading(&self) -> bool;

    /// CREATE TABLE, with its primary key where that comes first.
    fn create_table(&self, table: &WorkloadTable) -> String {
        let column = |c: &WorkloadColumn| format!("{} {}", self.quoted(&c.name), self.type_of(c));
        let mut lines: Vec<String> = table.columns.iter().map(column).collect();
        let key = primary_key(table);
        if !key.is_empty() && !self.adds_key_after_loading() {
            lines.push(format!("PRIMARY KEY ({})", quoted_list(self, &key)));
        }
        let name = self.quoted(&table.name);
        let options = self.table_options();
        format!("CREATE TABLE {name} ({}){options}", lines.join(", "))
    }

    /// ALTER TABLE and CREATE INDEX for whatever comes after the rows.
    fn create_indexes(&self, table: &WorkloadTable) -> Vec<String> {
        let name = self.quoted(&table.name);
        let mut statements = Vec::new();
        let key = primary_key(table);
        if !key.is_empty() && self.adds_key_after_loading() {
            let columns = quoted_list(self, &key);
            statements.push(format!("ALTER TABLE {name} ADD PRIMARY KEY ({columns})"));
        }
        let create = |index: &TableIndex| {
            let unique = if index.unique { "UNIQUE " } else { "" };
            let columns: Vec<&str> = index.columns.iter().map(String::as_str).collect();
            let index = self.quoted(&index.name);
            let columns = quoted_list(self, &columns);
            format!("CREATE {unique}INDEX {index} ON {name} ({columns})")
        };
        statements.extend(table.indexes.iter().map(create));
        statements
    }
}

/// Names with commas between them.
pub(crate) fn quoted_list<D: ServerDialect + ?Sized>(dialect: &D, names: &[&str]) -> String {
    names.iter().map(|name| dialect.quoted(name)).collect::<Vec<_>>().join(", ")
}

/// The columns that a load fills, as a statement names them: the others count by themselves.
pub(crate) fn loaded_columns<D: ServerDialect + ?Sized>(
    dialect: &D,
    table: &WorkloadTable,
) -> String {
    let loaded = table.columns.iter().filter(|column| !column.auto);
    let names: Vec<&str> = loaded.map(|column| column.name.as_str()).collect();
    quoted_list(dialect, &names)
}

fn primary_key(table: &WorkloadTable) -> Vec<&str> {
    table.columns.iter().filter(|c| c.primary_key).map(|c| c.name.as_str()).collect()
}
