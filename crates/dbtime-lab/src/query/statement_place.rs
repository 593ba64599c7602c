//! Where a request has its statements run: on the target, or on a private copy of it.

use super::copy::{QueryCopy, copy_of, tables_of, view_of};
use super::form_text::FormText;
use super::keys::{QueryKeys, read_keys};
use super::place::{QueryPlace, SqlitePlace};
use super::plans::{PlanDepth, plan_of};
use super::progress::QueryProgress;
use super::request::QueryRequest;
use super::samples::failure_text;
use super::session::QuerySession;
use crate::error::LabError;
use dbtime_engines::databases::sqlite::SqliteTarget;
use dbtime_engines::server::StatementBound;
use dbtime_load::failure::DatabaseFailure;
use dbtime_model::plain_text::legible;

/// The target, or the database that a copy is made of.
pub(super) fn given_place(request: &QueryRequest) -> Result<Box<dyn QueryPlace>, LabError> {
    match (&request.on_copy, &request.target) {
        (Some(Some(path)), _) => {
            let url = format!("sqlite:{}", path.display());
            Ok(Box::new(SqlitePlace { target: SqliteTarget::new(path), url }))
        }
        (_, Some(target)) => target.place(),
        (_, None) => Err(LabError::Usage(
            "a statement needs a database: name one by --target, or a copy of an SQLite database \
             by --on-copy FILE"
                .to_owned(),
        )),
    }
}

/// A private copy of the tables that the forms read, and the keys: the original has the rows that
/// they may be queried from.
pub(super) fn copied(
    request: &QueryRequest,
    place: &dyn QueryPlace,
    bound: &StatementBound,
    progress: &dyn Fn(QueryProgress),
) -> Result<(QueryCopy, QueryKeys), LabError> {
    let mut session = QuerySession::open(place, bound, false)?;
    let mut tables = Vec::new();
    let forms = FormText::parse_all(&request.forms, session.product, &place.lexical_rules())?;
    let keys = read_keys(request, &forms, &mut session)?;
    let key = keys.draw(0);
    for form in &forms {
        let prepared = session.prepare(form).map_err(|failure| refused(place, form, &failure))?;
        let plan = plan_of(&mut session, &prepared, &key, PlanDepth::Estimated, false);
        let plan = plan.map_err(|why| no_tables(form, &why))?;
        tables.extend(tables_of(&mut session, form, &plan));
        session.forget(prepared);
        if let Some(view) = view_of(&mut session, form) {
            return Err(LabError::Usage(format!(
                "{} reads the view {view}, and a copy has tables alone: write the view's query in \
                 its place, or leave --on-copy out",
                form.source
            )));
        }
    }
    tables.sort();
    tables.dedup();
    Ok((copy_of(place, &tables, &bound.stop, progress)?, keys))
}

fn no_tables(form: &FormText, why: &str) -> LabError {
    LabError::Target(format!(
        "which tables {} reads is not known, because it has no plan: {why}",
        form.source
    ))
}

/// That a database refuses a form.
pub(super) fn refused(
    place: &dyn QueryPlace,
    form: &FormText,
    failure: &DatabaseFailure,
) -> LabError {
    LabError::Target(format!(
        "{} refuses {}: {} ({})",
        place.url(),
        form.source,
        legible(&failure_text(place, &form.given, failure)),
        failure.code
    ))
}
