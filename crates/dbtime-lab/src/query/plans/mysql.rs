//! Plans of MySQL and MariaDB: which `EXPLAIN` a version has, and what it says beside it.
//!
//! The richest form comes first. Where the server refuses one, or has no plan of such a statement
//! in it, the next poorer form is used, and a note says so.

use super::super::session::{QuerySession, SessionForm};
use super::literals::explained;
use super::mysql_notes::{WARNINGS, explain_notes};
use super::{NO_KEY, PlanDepth, refusal, taken_back};
use dbtime_engines::server::StatementAnswer;
use dbtime_engines::socket::QueryTable;
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::program::SqlValue;
use dbtime_model::Product;
use dbtime_model::query::StatementPlan;
use dbtime_observe::plans::{
    PlanError, mariadb_json, mysql_json, mysql_json_v2, mysql_table, mysql_tree,
};

/// Has MariaDB name the indexes that it cannot use; from 10.6.16 on.
const NOTES_ON: &str = "SET @dbtime_notes = @@SESSION.note_verbosity, \
                        SESSION note_verbosity = 'basic,explain,unusable_keys'";

/// Undoes it.
const NOTES_BACK: &str = "SET SESSION note_verbosity = @dbtime_notes";

/// A form of `EXPLAIN`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExplainForm {
    /// MySQL 8.3: JSON of version 2 with an execution, into a variable.
    IteratorJson,
    /// MySQL 8.0.18: a tree with an execution.
    IteratorTree,
    /// MariaDB 10.1: JSON with an execution.
    AnalyzedJson,
    /// MySQL 5.6.5, MariaDB 10.1: JSON, of MySQL version 1.
    EstimatedJson,
    /// All before: a table.
    EstimatedTable,
}

/// Which server explains.
#[derive(Clone, Copy, Debug)]
struct ExplainServer {
    product: Product,
    /// `(8, 0, 33)` of MySQL 8.0.33.
    release: (u32, u32, u32),
}

/// What came of an `EXPLAIN`.
struct ExplainAnswer {
    table: QueryTable,
    warnings: QueryTable,
}

/// The plan of a form.
///
/// # Errors
/// As those of all products.
pub(super) fn plan_of(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    key: &[SqlValue],
    depth: PlanDepth,
    is_raw: bool,
) -> Result<StatementPlan, String> {
    if key.is_empty() && !form.text.order.is_empty() {
        return Err(NO_KEY.to_owned());
    }
    // A version that has no such setting refuses it.
    let has_notes = session.product == Product::Mariadb && session.table(NOTES_ON).is_ok();
    let plan = richest(session, form, key, depth, is_raw);
    if has_notes && !session.connection.is_given_up() {
        session.table(NOTES_BACK).map_err(refusal)?;
    }
    plan
}

/// The plan in the richest form that the server has of the statement.
fn richest(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    key: &[SqlValue],
    depth: PlanDepth,
    is_raw: bool,
) -> Result<StatementPlan, String> {
    let server = ExplainServer::of(session);
    let sql = explained(form, key, session.product);
    let mut notes = Vec::new();
    for explain in server.forms(depth == PlanDepth::Executed) {
        let reason = match server.explain(session, form, explain, &sql) {
            Ok(answer) => match explain.plan(&answer, server, is_raw) {
                Ok(mut plan) => {
                    notes.append(&mut plan.notes);
                    return Ok(StatementPlan { notes, ..plan });
                }
                Err(error) => error.to_string(),
            },
            Err(failure) => reason(failure),
        };
        notes.push(format!("{}: {reason}", explain.title(server)));
        if session.connection.is_given_up() {
            break;
        }
    }
    Err(notes.join("; "))
}

impl ExplainServer {
    fn of(session: &QuerySession<'_>) -> Self {
        let version = session.version;
        let number = session.title.rsplit(' ').next().unwrap_or_default();
        let patch = number.split('.').nth(2).and_then(|patch| patch.parse().ok());
        let release = (version.major, version.minor, patch.unwrap_or(0));
        Self { product: session.product, release }
    }

    /// The forms it has, the richest first.
    fn forms(self, executes: bool) -> Vec<ExplainForm> {
        use ExplainForm::{
            AnalyzedJson, EstimatedJson, EstimatedTable, IteratorJson, IteratorTree,
        };
        let is_mariadb = self.product == Product::Mariadb;
        let has = |form: &ExplainForm| match form {
            IteratorJson => executes && !is_mariadb && self.has_versions(),
            IteratorTree => executes && !is_mariadb && self.release >= (8, 0, 18),
            AnalyzedJson => executes && is_mariadb && self.release >= (10, 1, 0),
            EstimatedJson if is_mariadb => self.release >= (10, 1, 0),
            EstimatedJson => self.release >= (5, 6, 5),
            EstimatedTable => true,
        };
        let all = [IteratorJson, IteratorTree, AnalyzedJson, EstimatedJson, EstimatedTable];
        all.into_iter().filter(has).collect()
    }

    /// Whether its JSON has two versions, one of which a session is set to.
    fn has_versions(self) -> bool {
        self.product != Product::Mariadb && self.release >= (8, 3, 0)
    }

    /// What is set for a form: it may come in another version of JSON by default.
    fn setting(self, explain: ExplainForm) -> Option<String> {
        let version = match explain {
            ExplainForm::IteratorJson => 2,
            ExplainForm::EstimatedJson if self.has_versions() => 1,
            _ => return None,
        };
        Some(format!("SET SESSION explain_json_format_version = {version}"))
    }

    /// Explains a statement while the form's switch is on. What an execution writes is taken back.
    fn explain(
        self,
        session: &mut QuerySession<'_>,
        form: &SessionForm,
        explain: ExplainForm,
        sql: &str,
    ) -> StatementAnswer<ExplainAnswer> {
        if let Some(setting) = self.setting(explain) {
            session.table(&setting)?;
        }
        let statement = explain.statement(self, sql);
        taken_back(session, explain.executes() && form.text.writes, |session| {
            session.under_switch(&form.text, |session| answered(session, explain, &statement))?
        })
    }
}

/// What the server answers, with its warnings, which the next statement takes away.
fn answered(
    session: &mut QuerySession<'_>,
    explain: ExplainForm,
    statement: &str,
) -> StatementAnswer<ExplainAnswer> {
    let table = session.table(statement)?;
    let warnings = session.table(WARNINGS)?;
    let table = match explain {
        ExplainForm::IteratorJson => session.table("SELECT @dbtime_plan")?,
        _ => table,
    };
    Ok(ExplainAnswer { table, warnings })
}

impl ExplainForm {
    /// Whether the server executes the statement.
    fn executes(self) -> bool {
        matches!(self, Self::IteratorJson | Self::IteratorTree | Self::AnalyzedJson)
    }

    /// What stands before the statement: the format is named, because its default changes between
    /// versions.
    fn title(self, server: ExplainServer) -> &'static str {
        let has_extended = server.product == Product::Mariadb || server.release < (5, 7, 0);
        match self {
            Self::IteratorJson => "EXPLAIN ANALYZE FORMAT=JSON",
            Self::IteratorTree => "EXPLAIN ANALYZE FORMAT=TREE",
            Self::AnalyzedJson => "ANALYZE FORMAT=JSON",
            Self::EstimatedJson => "EXPLAIN FORMAT=JSON",
            Self::EstimatedTable if has_extended => "EXPLAIN EXTENDED",
            Self::EstimatedTable => "EXPLAIN FORMAT=TRADITIONAL",
        }
    }

    fn statement(self, server: ExplainServer, sql: &str) -> String {
        let title = self.title(server);
        match self {
            Self::IteratorJson => format!("{title} INTO @dbtime_plan {sql}"),
            _ => format!("{title} {sql}"),
        }
    }

    /// Reads an answer.
    fn plan(
        self,
        answer: &ExplainAnswer,
        server: ExplainServer,
        is_raw: bool,
    ) -> Result<StatementPlan, PlanError> {
        let QueryTable { columns, rows } = &answer.table;
        let text = answer.table.value().unwrap_or_default();
        let plan = match self {
            Self::IteratorJson => mysql_json_v2(text, is_raw)?,
            Self::IteratorTree => mysql_tree(text, is_raw)?,
            Self::AnalyzedJson => mariadb_json(text, is_raw)?,
            Self::EstimatedJson if server.product == Product::Mariadb => {
                mariadb_json(text, is_raw)?
            }
            Self::EstimatedJson => mysql_json(text, is_raw)?,
            Self::EstimatedTable => mysql_table(columns, rows, is_raw)?,
        };
        let is_text = self != Self::EstimatedTable && is_raw;
        Ok(StatementPlan {
            source: self.title(server).to_owned(),
            notes: explain_notes(&answer.warnings, is_raw),
            verbatim: is_text.then(|| text.to_owned()),
            ..plan
        })
    }
}

/// Why the server explains nothing. What it says of a syntax that it does not know would repeat the
/// statement with its key.
fn reason(failure: Box<DatabaseFailure>) -> String {
    match failure.code.as_str() {
        "1064" => "the server does not know it, or not of such a statement".to_owned(),
        _ => refusal(failure),
    }
}

#[cfg(test)]
mod tests {
    use super::ExplainForm::{
        AnalyzedJson, EstimatedJson, EstimatedTable, IteratorJson, IteratorTree,
    };
    use super::*;

    fn server(product: Product, release: (u32, u32, u32)) -> ExplainServer {
        ExplainServer { product, release }
    }

    #[test]
    fn each_version_has_its_richest_form_first() {
        let first = |product, release| server(product, release).forms(true)[0];
        assert_eq!(first(Product::Mysql, (5, 5, 9)), EstimatedTable);
        assert_eq!(first(Product::Mysql, (5, 6, 24)), EstimatedJson);
        assert_eq!(first(Product::Mysql, (8, 0, 17)), EstimatedJson);
        assert_eq!(first(Product::Mysql, (8, 0, 18)), IteratorTree);
        assert_eq!(first(Product::Mysql, (8, 3, 0)), IteratorJson);
        assert_eq!(first(Product::Mariadb, (5, 5, 68)), EstimatedTable);
        assert_eq!(first(Product::Mariadb, (11, 8, 9)), AnalyzedJson);
        let mysql = server(Product::Mysql, (9, 7, 4));
        assert_eq!(mysql.forms(false), [EstimatedJson, EstimatedTable]);
        let all = [IteratorJson, IteratorTree, EstimatedJson, EstimatedTable];
        assert_eq!(mysql.forms(true), all);
    }

    #[test]
    fn formats_and_their_versions_are_named() {
        let [old, new] = [(5, 6, 24), (9, 7, 4)].map(|release| server(Product::Mysql, release));
        let statement = |form: ExplainForm| form.statement(new, "SELECT 1");
        assert_eq!(
            statement(IteratorJson),
            "EXPLAIN ANALYZE FORMAT=JSON INTO @dbtime_plan SELECT 1"
        );
        assert_eq!(statement(EstimatedTable), "EXPLAIN FORMAT=TRADITIONAL SELECT 1");
        assert_eq!(EstimatedTable.title(old), "EXPLAIN EXTENDED");
        assert!(new.setting(EstimatedJson).is_some_and(|sql| sql.ends_with("= 1")));
        assert!(new.setting(IteratorJson).is_some_and(|sql| sql.ends_with("= 2")));
        assert_eq!(old.setting(EstimatedJson), None);
    }

    #[test]
    fn a_refused_syntax_is_not_repeated() {
        let of = |code| DatabaseFailure::statement(code, "42000", "near 'secret'");
        assert!(!reason(Box::new(of("1064"))).contains("secret"));
        assert!(reason(Box::new(of("1142"))).contains("near"));
    }
}
