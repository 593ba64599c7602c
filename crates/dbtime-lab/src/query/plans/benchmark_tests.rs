//! Plans of 135 queries, live: each product's are read with every table of the query, and without a
//! step that dbtime has no word for.

mod queries;

use super::super::form_text::FormText;
use super::super::place::{QueryPlace, ServerPlace, SqlitePlace};
use super::super::request::FormSource;
use super::super::session::QuerySession;
use super::{PlanDepth, plan_of};
use crate::servers::{PrivateServer, ServerRequest};
use dbtime_engines::databases::sqlite::SqliteTarget;
use dbtime_engines::drive::plan::RunStop;
use dbtime_engines::server::StatementBound;
use dbtime_engines::socket::ExchangeBound;
use dbtime_model::query::{PlanNode, PlanOperation, StatementPlan};
use dbtime_model::{Nanos, Product, SqlDialect};
use dbtime_sql::LexicalRules;
use queries::BenchmarkQuery;
use std::fs::File;
use std::sync::Arc;

/// How long a statement may take: the data are small, and the machine may be busy.
const LIMIT: Nanos = Nanos::from_secs(60);

/// Without it MySQL searches for minutes for the best order of a dozen tables.
const SHALLOW_SEARCH: &str = "SET SESSION optimizer_search_depth = 5";

/// Fills an empty database and reads the plans of all queries there. Returns what is wrong with
/// them.
fn problems_at(place: &dyn QueryPlace) -> Vec<String> {
    let bound = StatementBound { limit: LIMIT, stop: RunStop::default() };
    let mut session = QuerySession::open(place, &bound, true).expect("a session");
    let dialect = session.product.dialect();
    for sql in queries::data(dialect) {
        session.table(&sql).expect(&sql);
    }
    if dialect == SqlDialect::Mysql {
        session.set(SHALLOW_SEARCH).expect("a setting");
    }
    let title = session.title.clone();
    let queries = queries::queries(dialect);
    let problems = queries.iter().flat_map(|query| problems_of(&mut session, query));
    problems.map(|problem| format!("{title}, {problem}")).collect()
}

fn problems_of(session: &mut QuerySession<'_>, query: &BenchmarkQuery) -> Vec<String> {
    let BenchmarkQuery { name, sql, .. } = query;
    let source = FormSource { source: name.clone(), sql: sql.clone() };
    let rules = LexicalRules::defaults(session.product.dialect());
    let forms = FormText::parse_all(&[source], session.product, &rules).expect(name);
    let form = match session.prepare(&forms[0]) {
        Ok(form) => form,
        Err(failure) => return vec![format!("{name}: {}", failure.message)],
    };
    let mut problems = Vec::new();
    for depth in [PlanDepth::Estimated, PlanDepth::Executed] {
        let plan = plan_of(session, &form, &[], depth, false);
        if let Err(problem) = plan.and_then(|plan| check(&plan, query)) {
            problems.push(format!("{name}, {depth:?}: {problem}"));
        }
    }
    session.forget(form);
    problems
}

/// Whether a plan has all of its query.
fn check(plan: &StatementPlan, query: &BenchmarkQuery) -> Result<(), String> {
    let steps = plan.root.steps();
    let names: Vec<&str> = steps.iter().filter_map(|step| name_of(step)).collect();
    let is_lost = |range: &&String| !names.contains(&range.as_str());
    let lost: Vec<&String> = query.ranges.iter().filter(is_lost).collect();
    let unknown = steps.iter().filter(|step| step.operation == PlanOperation::Other);
    let unknown: Vec<&str> = unknown.map(|step| step.label.as_str()).collect();
    if lost.is_empty() && unknown.is_empty() {
        return Ok(());
    }
    Err(format!("{} lacks {lost:?} and has unknown {unknown:?}", plan.source))
}

/// What the query calls the table that a step reads.
fn name_of(step: &PlanNode) -> Option<&str> {
    step.alias.as_deref().or(step.relation.as_deref())
}

/// A server with an empty database, and how it is reached.
fn server_of(request: &ServerRequest) -> (PrivateServer, ServerPlace) {
    let private = PrivateServer::start(request, &|_| {}, &RunStop::default());
    let private = private.expect("make setup-test installs the servers on Debian");
    let mut admin = private.server().connect(&ExchangeBound::within(LIMIT)).expect("a login");
    admin.build("CREATE DATABASE benchmarks").expect("a database");
    let server = Arc::from(private.server().with_database("benchmarks"));
    (private, ServerPlace { server, pid: None })
}

fn problems_on(request: &ServerRequest) -> Vec<String> {
    let (_private, place) = server_of(request);
    problems_at(&place)
}

fn assert_none(problems: &[String]) {
    assert!(problems.is_empty(), "{} plans:\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn all_plans_of_mariadb_are_read() {
    assert_none(&problems_on(&ServerRequest::new(Product::Mariadb)));
}

#[test]
fn all_plans_of_postgres_are_read() {
    assert_none(&problems_on(&ServerRequest::new(Product::Postgres)));
}

#[test]
fn all_plans_of_sqlite_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("benchmarks.db");
    File::create(&path).expect("an empty database");
    let url = path.display().to_string();
    assert_none(&problems_at(&SqlitePlace { target: SqliteTarget::new(&path), url }));
}

/// Those fetched by `scripts/versions.sh`.
#[cfg(feature = "versions")]
#[test]
fn all_plans_of_other_versions_are_read() {
    let folder = std::env::var_os("DBTIME_VERSIONS");
    let folder = folder.expect("make test-versions says where they are");
    let (mut problems, mut count) = (Vec::new(), 0);
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let word = name.split('-').next().unwrap_or_default();
        let product = Product::named(word).filter(|_| !name.ends_with(".part"));
        let Some(product) = product else { continue };
        let request = ServerRequest { prefix: Some(entry.path()), ..ServerRequest::new(product) };
        problems.extend(problems_on(&request));
        count += 1;
    }
    assert!(count > 0, "none is there");
    assert_none(&problems);
}
