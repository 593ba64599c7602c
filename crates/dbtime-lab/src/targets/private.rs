//! A private server: started for the run, gone after it.

use super::room::DiskRoom;
use super::server::{ReadyServer, check_data, fill};
use super::{Dataset, PreparedTarget, ProgressListener, TargetKind, allow_files};
use crate::counters::CounterSampler;
use crate::error::LabError;
use crate::request::RunRequest;
use crate::servers::{PrivateServer, ServerRequest};
use dbtime_engines::drive::plan::RunStop;
use dbtime_engines::load_marker::ReplaceScope;
use dbtime_engines::server::{AdminSession, Server, ServerError};
use dbtime_engines::socket::ExchangeBound;
use dbtime_model::Product;
use dbtime_model::secret_text::{first_word, holds_secret};
use dbtime_model::spec::TargetSpec;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The database that is made for the workload.
const DATABASE: &str = "dbtime";

/// `mariadb`, `mysql`, `postgres`, with the prefix of an installation behind a colon.
#[derive(Clone, Debug)]
pub(super) struct PrivateTarget {
    product: Product,
    prefix: Option<PathBuf>,
    url: String,
}

impl PrivateTarget {
    pub(super) fn parse(text: &str, product: Product) -> Result<Self, LabError> {
        let word = product.name();
        let (named, prefix) = match text.split_once(':') {
            Some((named, prefix)) => (named, Some(prefix)),
            None => (text, None),
        };
        // What may hold a password was meant as a server that runs.
        if named != word || prefix.is_some_and(|prefix| !is_path(prefix)) {
            return Err(LabError::Usage(format!(
                "`{}` is no target: write {word} for a private server, {word}:/PREFIX for one \
                 installed there, or {word}://USER@HOST/DATABASE for one that runs",
                first_word(text)
            )));
        }
        Ok(Self { product, prefix: prefix.map(PathBuf::from), url: text.to_owned() })
    }

    /// What is started for a run.
    fn server_request(&self, request: &RunRequest) -> ServerRequest {
        let TargetSpec { server_cpus, server_data, .. } = &request.spec.target;
        ServerRequest {
            prefix: self.prefix.clone(),
            settings: request.server_settings(),
            environment: request.environment.clone(),
            cpus: server_cpus.clone(),
            data: server_data.as_ref().map(PathBuf::from),
            connections: Some(request.spec.load.servers()),
            snapshot: request.snapshot(),
            ..ServerRequest::new(self.product)
        }
    }
}

impl TargetKind for PrivateTarget {
    fn is_private(&self) -> bool {
        true
    }

    fn check(&self, request: &RunRequest) -> Result<(), LabError> {
        self.server_request(request).check()
    }

    fn prepare(
        &self,
        request: &RunRequest,
        progress: ProgressListener<'_>,
        stop: &RunStop,
    ) -> Result<Box<dyn PreparedTarget>, LabError> {
        let connections = request.spec.load.servers();
        allow_files(connections.into(), &format!("{connections} connections"))?;
        let mut private = PrivateServer::start(&self.server_request(request), progress, stop)?;
        let scale = request.spec.workload.scale.unwrap_or(1);
        let server: Arc<dyn Server> = Arc::from(private.server().with_database(DATABASE));
        match private.restored() {
            None => {
                let loaded = load(&mut private, &*server, request, progress, stop);
                loaded.map_err(|failure| private.cause_of(failure))?;
            }
            Some(snapshot) => {
                let checked = check_data(&*server, request, Some(scale), stop);
                checked.map_err(|error| match is_unanswered(&error) {
                    true => error,
                    false => snapshot.incomplete(&request.workload.name),
                })?;
            }
        }
        let (options, url, detail) = (request.server(), self.url.clone(), request.detail);
        let (private, is_pooled) = (Some(private), AtomicBool::new(false));
        Ok(Box::new(ReadyServer { server, options, scale, private, url, detail, is_pooled }))
    }

    fn sampler(&self) -> Result<Box<dyn CounterSampler>, LabError> {
        let word = self.product.name();
        Err(LabError::Usage(format!(
            "a private server lives for a run, whose record has its counters; name one that is \
             there: --target {word}://USER@HOST"
        )))
    }

    fn init(
        &self,
        _: &Dataset<'_>,
        _: ProgressListener<'_>,
        _: &RunStop,
    ) -> Result<String, LabError> {
        let word = self.product.name();
        Err(LabError::Usage(format!(
            "init needs a place that stays: --target {word}://USER@HOST/DATABASE (a private server \
             is loaded by run)"
        )))
    }
}

/// Whether a text is the path of an installation, and neither a login nor a connection string.
fn is_path(text: &str) -> bool {
    let has = |signs: &[char]| text.contains(signs);
    match text.starts_with('/') {
        true => !has(&[':', '?']) && !holds_secret(text),
        false => !text.is_empty() && !has(&[':', '?', '@', '=', ' ']),
    }
}

/// Makes the workload's tables on a new server, and keeps a snapshot of them where one is wanted.
fn load(
    private: &mut PrivateServer,
    server: &dyn Server,
    request: &RunRequest,
    progress: ProgressListener<'_>,
    stop: &RunStop,
) -> Result<(), LabError> {
    create_database(&*private.server(), stop)?;
    let (workload, scale) = (&request.workload, request.spec.workload.scale.unwrap_or(1));
    if workload.tables.is_empty() {
        return Ok(());
    }
    let (seed, replacing) = (request.rows_seed(), ReplaceScope::Same);
    let room = DiskRoom {
        folder: &private.data(),
        name: private.data().display().to_string(),
        freed: 0,
        elsewhere: "choose another disk with --server-data",
    };
    room.check(workload, scale)?;
    fill(server, &Dataset { workload, scale, seed, replacing }, progress, stop)?;
    private.save_data(progress, stop)
}

fn create_database(server: &dyn Server, stop: &RunStop) -> Result<(), LabError> {
    let mut admin = server.connect(&ExchangeBound::until(stop))?;
    let sql = format!("CREATE DATABASE {}", server.dialect().quoted(DATABASE));
    // It copies another one.
    AdminSession { target: &server.to_string(), admin: &mut *admin }.build(&sql)?;
    Ok(())
}

/// Whether it is not known what data a server has: nobody waited for it, or it did not answer.
fn is_unanswered(error: &LabError) -> bool {
    match error {
        LabError::Interrupted(_) => true,
        // One that cannot be connected to has no such database.
        LabError::Server(error) => {
            matches!(**error, ServerError::Refused { .. }) && error.is_lost()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_load::failure::DatabaseFailure;

    #[test]
    fn a_server_that_does_not_answer_speaks_against_no_snapshot() {
        let refused = |failure: DatabaseFailure| {
            let (target, what, failure) = (String::new(), String::new(), Box::new(failure));
            LabError::from(ServerError::Refused { target, what, failure })
        };
        assert!(is_unanswered(&LabError::Interrupted("while it was waited for")));
        assert!(is_unanswered(&refused(DatabaseFailure::connection("closed", "gone"))));
        let no_table = DatabaseFailure::statement("1146", "42S02", "no such table");
        assert!(!is_unanswered(&refused(no_table)));
        let failure = Box::new(DatabaseFailure::connection("1049", "no such database"));
        let connect = ServerError::Connect { target: String::new(), failure };
        assert!(!is_unanswered(&LabError::from(connect)));
    }
}
