//! A `SELECT` in its parts: what rules look at, and how it is written again. Names and expressions
//! are texts as they were printed; nothing here knows what a table has for columns.

/// A statement that rules can look at.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum StatementTree {
    /// One `SELECT`.
    Select(Box<SelectParts>),
    /// Several, with nothing but `UNION` without `ALL` between them.
    Union {
        /// Each of them.
        arms: Vec<String>,
        /// `ORDER BY` and `LIMIT` of them all, with a space before them.
        tail: String,
    },
}

/// One `SELECT` without windows, locks, hints and the like.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SelectParts {
    pub(super) is_distinct: bool,
    pub(super) items: Vec<SelectedItem>,
    /// Behind `FROM`, in order.
    pub(super) tables: Vec<JoinedTable>,
    /// What `WHERE` joins with `AND`.
    pub(super) conditions: Vec<SqlCondition>,
    pub(super) group_by: Vec<String>,
    pub(super) having: Option<String>,
    pub(super) order_by: Vec<OrderedTerm>,
    /// `LIMIT` and `OFFSET` as a text with a space before it, or nothing.
    pub(super) limit: String,
    /// What is behind `OFFSET`.
    pub(super) offset: Option<String>,
    /// Every column that is named in it, in subqueries too.
    pub(super) columns: Vec<ColumnName>,
    /// Whether an aggregate function is called in its items.
    pub(super) has_aggregate: bool,
}

/// What is selected.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SelectedItem {
    /// With its alias.
    pub(super) text: String,
    pub(super) term: SqlTerm,
    pub(super) alias: Option<String>,
}

/// A table behind `FROM`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct JoinedTable {
    /// The table with its alias.
    pub(super) text: String,
    /// How columns name it: its alias or its name.
    pub(super) name: String,
    /// What it is called in the database; `None`: it is derived.
    pub(super) table: Option<String>,
    pub(super) link: TableLink,
}

/// How a table is joined to those before it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TableLink {
    /// It is the first one, or there is a comma before it.
    Listed,
    /// `JOIN … ON` these conditions.
    Inner(Vec<SqlCondition>),
    /// As the text says, with the table.
    Other(String),
}

/// A column as it is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ColumnName {
    pub(super) qualifier: Option<String>,
    pub(super) name: String,
}

/// A part of an expression.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SqlTerm {
    pub(super) text: String,
    pub(super) kind: TermKind,
    /// The columns in it.
    pub(super) columns: Vec<ColumnName>,
}

/// What a term is.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum TermKind {
    Column(ColumnName),
    /// A literal.
    Literal,
    /// The place of a parameter.
    Parameter,
    /// A function, its name in lower case.
    Call {
        name: String,
        arguments: Vec<SqlTerm>,
    },
    /// A subquery.
    Scalar(Box<SelectParts>),
    /// `*`, `t.*`.
    Star,
    #[default]
    Other,
}

/// A condition as it can stand between `AND`s.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SqlCondition {
    pub(super) text: String,
    pub(super) kind: ConditionKind,
    /// The columns in it.
    pub(super) columns: Vec<ColumnName>,
}

/// What a condition is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ConditionKind {
    /// A comparison by `=`, `<>`, `<`, `<=`, `>` or `>=`.
    Compare {
        left: SqlTerm,
        op: &'static str,
        right: SqlTerm,
    },
    /// `IN (SELECT …)`.
    InSelect {
        left: SqlTerm,
        query: Box<SelectParts>,
        is_negated: bool,
    },
    /// `IN` a list of so many values.
    InList {
        count: usize,
    },
    /// `LIKE` and its kin.
    Like {
        left: SqlTerm,
        pattern: String,
    },
    /// Conditions with `OR` between them.
    Any(Vec<SqlCondition>),
    Other,
}

/// What rows are ordered by.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OrderedTerm {
    pub(super) term: SqlTerm,
    /// ` DESC` and the like.
    pub(super) tail: String,
}

impl SelectParts {
    /// The statement as text.
    pub(super) fn sql(&self) -> String {
        let distinct = if self.is_distinct { "DISTINCT " } else { "" };
        let items: Vec<&str> = self.items.iter().map(|item| item.text.as_str()).collect();
        let mut sql = format!("SELECT {distinct}{}", items.join(", "));
        self.tables.iter().enumerate().for_each(|(at, table)| table.add_to(&mut sql, at == 0));
        add_list(&mut sql, " WHERE ", " AND ", self.conditions.iter().map(|one| one.text.clone()));
        add_list(&mut sql, " GROUP BY ", ", ", self.group_by.iter().cloned());
        add_list(&mut sql, " HAVING ", "", self.having.iter().cloned());
        let order = |one: &OrderedTerm| format!("{}{}", one.term.text, one.tail);
        add_list(&mut sql, " ORDER BY ", ", ", self.order_by.iter().map(order));
        sql + &self.limit
    }

    /// Whether each of its rows comes from one row of its tables, and all of them are returned.
    pub(super) fn is_plain(&self) -> bool {
        self.has_all_rows() && !self.is_distinct && !self.is_grouped()
    }

    /// Whether rows are made of groups of rows.
    pub(super) fn is_grouped(&self) -> bool {
        self.has_aggregate || !self.group_by.is_empty() || self.having.is_some()
    }

    /// Whether no `LIMIT` leaves rows out.
    pub(super) fn has_all_rows(&self) -> bool {
        self.limit.is_empty()
    }

    /// Whether one of its tables is called so.
    pub(super) fn has_table(&self, name: &str) -> bool {
        self.tables.iter().any(|table| is_same_name(&table.name, name))
    }

    /// Whether a name is used for tables of both.
    pub(super) fn shares_names(&self, other: &Self) -> bool {
        self.tables.iter().any(|table| other.has_table(&table.name))
    }

    /// Whether it surely names columns of tables that are not its own.
    pub(super) fn is_correlated(&self) -> bool {
        self.columns.iter().any(|column| !self.may_own(column))
    }

    /// Whether a column may be of its tables.
    pub(super) fn may_own(&self, column: &ColumnName) -> bool {
        column.qualifier.as_deref().is_none_or(|name| self.has_table(name))
    }

    /// A column by a name that means the same within a subquery; `None`: it may be of any table.
    pub(super) fn qualified(&self, column: &ColumnName) -> Option<String> {
        match (&column.qualifier, self.tables.as_slice()) {
            (Some(qualifier), _) if self.has_table(qualifier) => Some(column.text()),
            (None, [only]) => Some(format!("{}.{}", only.name, column.name)),
            _ => None,
        }
    }

    /// Writes `*` as the columns of the tables it has now, so that another table adds none; `None`:
    /// a join by names of columns makes one of two.
    pub(super) fn name_stars(&mut self) -> Option<()> {
        let merges = |table: &JoinedTable| match &table.link {
            TableLink::Other(text) => text.contains(" USING(") || text.starts_with("NATURAL "),
            TableLink::Listed | TableLink::Inner(_) => false,
        };
        let has_merged = self.tables.iter().any(merges);
        let of_all: Vec<String> =
            self.tables.iter().map(|table| format!("{}.*", table.name)).collect();
        for item in self.items.iter_mut().filter(|item| item.text == "*") {
            item.text = (!has_merged).then(|| of_all.join(", "))?;
        }
        Some(())
    }

    /// Joins a table by these words, behind all others.
    pub(super) fn join(&mut self, name: &str, words: String) {
        // A comma binds less than JOIN, whose condition may name any of them.
        let others = self.tables.iter_mut().skip(1);
        for table in others.filter(|table| table.link == TableLink::Listed) {
            table.link = TableLink::Other(format!("CROSS JOIN {}", table.text));
        }
        let (text, link) = (name.to_owned(), TableLink::Other(words));
        self.tables.push(JoinedTable { name: text.clone(), text, table: None, link });
    }
}

impl SelectedItem {
    /// An item of which nothing but its text matters.
    pub(super) fn written(text: &str) -> Self {
        Self { text: text.to_owned(), term: SqlTerm::default(), alias: None }
    }
}

impl JoinedTable {
    fn add_to(&self, sql: &mut String, is_first: bool) {
        match &self.link {
            TableLink::Listed => {
                sql.push_str(if is_first { " FROM " } else { ", " });
                sql.push_str(&self.text);
            }
            TableLink::Inner(conditions) => {
                let conditions = conditions.iter().map(|one| one.text.clone());
                sql.push_str(&format!(" JOIN {}", self.text));
                add_list(sql, " ON ", " AND ", conditions);
            }
            TableLink::Other(text) => sql.push_str(&format!(" {text}")),
        }
    }
}

impl ColumnName {
    /// As it is written.
    pub(super) fn text(&self) -> String {
        match &self.qualifier {
            Some(qualifier) => format!("{qualifier}.{}", self.name),
            None => self.name.clone(),
        }
    }

    /// Whether both name the same column, as far as names tell.
    pub(super) fn is(&self, other: &Self) -> bool {
        let qualifiers = (&self.qualifier, &other.qualifier);
        let may_be = match qualifiers {
            (Some(one), Some(other)) => is_same_name(one, other),
            _ => true,
        };
        may_be && is_same_name(&self.name, &other.name)
    }
}

impl SqlTerm {
    /// The column that it is.
    pub(super) fn column(&self) -> Option<&ColumnName> {
        match &self.kind {
            TermKind::Column(column) => Some(column),
            _ => None,
        }
    }

    /// Whether it is the same for all rows: a literal or a parameter.
    pub(super) fn is_value(&self) -> bool {
        matches!(self.kind, TermKind::Literal | TermKind::Parameter)
    }

    /// The arguments, where it calls this function.
    pub(super) fn call(&self, function: &str) -> Option<&[SqlTerm]> {
        match &self.kind {
            TermKind::Call { name, arguments, .. } if name == function => Some(arguments),
            _ => None,
        }
    }
}

impl SqlCondition {
    /// A condition of which nothing but its text matters any more.
    pub(super) fn written(text: String) -> Self {
        Self { text, kind: ConditionKind::Other, columns: Vec::new() }
    }

    /// The column, the comparison and the value, whichever side they are on.
    pub(super) fn column_and_value(&self) -> Option<(&ColumnName, &'static str, &SqlTerm)> {
        let ConditionKind::Compare { left, op, right } = &self.kind else { return None };
        match (left.column(), right.column()) {
            (Some(column), None) if right.is_value() => Some((column, *op, right)),
            (None, Some(column)) if left.is_value() => Some((column, turned(op), left)),
            _ => None,
        }
    }

    /// The same of a comparison that bounds the column on one side.
    pub(super) fn range(&self) -> Option<(&ColumnName, &'static str, &SqlTerm)> {
        self.column_and_value().filter(|(_, op, _)| op.starts_with(['<', '>']) && *op != "<>")
    }

    /// Both columns of an equation of columns.
    pub(super) fn equation(&self) -> Option<(&ColumnName, &ColumnName)> {
        match &self.kind {
            ConditionKind::Compare { left, op: "=", right } => {
                Some((left.column()?, right.column()?))
            }
            _ => None,
        }
    }
}

/// The comparison that says the same with its sides exchanged.
fn turned(op: &'static str) -> &'static str {
    match op {
        "<" => ">",
        "<=" => ">=",
        ">" => "<",
        ">=" => "<=",
        same => same,
    }
}

/// The comparison that is true where this one is false.
pub(super) fn opposite(op: &str) -> Option<&'static str> {
    match op {
        "<" => Some(">="),
        "<=" => Some(">"),
        ">" => Some("<="),
        ">=" => Some("<"),
        _ => None,
    }
}

/// Whether two names are the same but for case and quotes.
pub(super) fn is_same_name(one: &str, other: &str) -> bool {
    let bare = |name: &str| name.replace(['"', '`', '[', ']'], "");
    bare(one).eq_ignore_ascii_case(&bare(other))
}

/// Adds a clause, unless it has nothing.
fn add_list(sql: &mut String, clause: &str, separator: &str, parts: impl Iterator<Item = String>) {
    for (at, part) in parts.enumerate() {
        sql.push_str(if at == 0 { clause } else { separator });
        sql.push_str(&part);
    }
}
