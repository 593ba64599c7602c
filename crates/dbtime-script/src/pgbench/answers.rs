//! What a client makes of answers and errors: rows go into variables, some errors are tried again,
//! all others abort the client.

use super::block::BlockEffect;
use super::client::{ClientWait, PgbenchClient};
use super::command::{CommandKind, ResultStorage};
use super::dialect::QueryMode;
use super::notice::PgbenchNotice;
use super::plan::{PgbenchPlan, lock};
use super::program::NextStep;
use super::statistics::FailureKind;
use dbtime_load::failure::{DatabaseFailure, NO_COPY_DATA};
use dbtime_load::results::{ResultSet, ResultSets};
use dbtime_machine::now;
use dbtime_model::{ErrorClass, SqlDialect};
use dbtime_sql::{LexicalRules, StatementShapes, repeated_statement, without_repeated_passwords};
use std::ops::Range;

/// What begins lines of a report that have the code of a function, or its place.
const CODE_LINES: [&str; 3] = ["LINE ", "QUERY:", "CONTEXT:"];

impl PgbenchClient {
    /// What was asked has been done.
    pub(super) fn answered(&mut self, plan: &PgbenchPlan, results: &ResultSets) -> NextStep {
        self.trace_receiving(plan);
        match self.awaits {
            ClientWait::Open => return NextStep::Done,
            ClientWait::Connect => return self.connected(plan),
            ClientWait::Disconnect => return self.disconnected(),
            ClientWait::Rollback => {
                self.in_block = false;
                return self.try_again_or_fail(plan);
            }
            ClientWait::Prepare => {
                self.mark_prepared(plan, self.command);
                let commands = &plan.settings.scripts.scripts[self.script].commands;
                if let CommandKind::Sql(sql) = &commands[self.command].kind {
                    return self.execute(plan, sql);
                }
            }
            ClientWait::PreparePipeline(last) => {
                self.mark_prepared(plan, last);
                if let Some(next) = self.prepare_pipeline(plan, last) {
                    return next;
                }
            }
            ClientWait::Answer => {
                if let Err(error) = self.keep(plan, results) {
                    return self.abort(plan, error, Some(ErrorClass::Other));
                }
                self.succeeded(plan, self.command..self.command + 1);
            }
            ClientWait::Pipeline => {
                self.piped.clear();
                self.in_pipeline = false;
                self.succeeded(plan, self.pipeline(plan));
            }
            ClientWait::Nothing | ClientWait::Pause => {}
        }
        self.advance(plan)
    }

    /// These commands have been executed, and the present one is done with them.
    fn succeeded(&mut self, plan: &PgbenchPlan, commands: Range<usize>) {
        for ready in &plan.commands[self.script][commands] {
            self.in_block = ready.effect.leaves_open.unwrap_or(self.in_block);
        }
        self.complete(plan);
    }

    fn mark_prepared(&mut self, plan: &PgbenchPlan, command: usize) {
        self.prepared[plan.commands[self.script][command].handle as usize] = true;
    }

    /// The commands of the pipeline that ends here.
    fn pipeline(&self, plan: &PgbenchPlan) -> Range<usize> {
        let commands = &plan.settings.scripts.scripts[self.script].commands[..self.command];
        let start = commands.iter().rposition(|command| command.kind == CommandKind::StartPipeline);
        start.unwrap_or(0)..self.command
    }

    /// Puts rows into variables, where `\gset` or `\aset` says so.
    fn keep(&mut self, plan: &PgbenchPlan, results: &ResultSets) -> Result<(), String> {
        let command = &plan.settings.scripts.scripts[self.script].commands[self.command];
        let CommandKind::Sql(sql) = &command.kind else { return Ok(()) };
        match &sql.keep {
            ResultStorage::Nothing => Ok(()),
            ResultStorage::One(prefix) => {
                let last = results.len().saturating_sub(1);
                let set = results.set(last);
                // A row without columns is one, too.
                let rows = set.map_or(0, |set| set.rows());
                match set {
                    Some(set) if rows == 1 => self.store(plan, "gset", prefix, last, set),
                    _ => Err(format!("{}: expected one row, got {rows}", self.place(last))),
                }
            }
            ResultStorage::Every(prefix) => {
                for index in 0..results.len() {
                    match results.set(index) {
                        Some(set) if set.columns() > 0 && set.rows() > 0 => {
                            self.store(plan, "aset", prefix, index, set)?;
                        }
                        _ => {}
                    }
                }
                Ok(())
            }
        }
    }

    /// Puts the last row into variables. A NULL becomes an empty text.
    fn store(
        &mut self,
        plan: &PgbenchPlan,
        by: &str,
        prefix: &str,
        query: usize,
        set: ResultSet<'_>,
    ) -> Result<(), String> {
        for column in 0..set.columns() {
            let name = String::from_utf8_lossy(set.name(column).unwrap_or_default());
            let name = format!("{prefix}{name}");
            let value = set.value(set.rows() - 1, column).unwrap_or_default();
            let value = String::from_utf8_lossy(value);
            if let Err(error) = self.variables.set_named(by, &name, &value) {
                self.report_error(plan, error);
                return Err(format!("{}: error storing into variable {name}", self.place(query)));
            }
        }
        Ok(())
    }

    /// Where a client is, as messages say it.
    fn place(&self, query: usize) -> String {
        let Self { id, script, command, .. } = self;
        format!("client {id} script {script} command {command} query {query}")
    }

    /// What was asked has failed.
    pub(super) fn failed(&mut self, plan: &PgbenchPlan, failure: &DatabaseFailure) -> NextStep {
        self.trace_receiving(plan);
        let text = match self.awaits {
            ClientWait::Disconnect => return self.disconnected(),
            ClientWait::Open => {
                let id = self.id;
                let message = self.message(plan, failure);
                let text = format!("{message}\nerror: could not create connection for client {id}");
                lock(&plan.stop_reason).get_or_insert(text);
                return NextStep::EndAll(failure.class);
            }
            ClientWait::Connect => {
                self.report_error(plan, self.message(plan, failure));
                format!("client {} aborted while establishing connection", self.id)
            }
            ClientWait::Rollback => format!(
                "client {} aborted while rolling back the transaction after an error; {}",
                self.id,
                self.message(plan, failure)
            ),
            _ => return self.command_failed(plan, failure),
        };
        self.abort(plan, text, Some(failure.class))
    }

    /// The database's own words, which point into the statement.
    fn message(&self, plan: &PgbenchPlan, failure: &DatabaseFailure) -> String {
        let sql = match (self.awaits, plan.settings.mode) {
            (ClientWait::Answer, QueryMode::Simple) => Some(self.sql.as_str()),
            (ClientWait::Answer, QueryMode::Extended) | (ClientWait::Prepare, _) => {
                Some(plan.commands[self.script][self.command].sql.as_str())
            }
            _ => None,
        };
        let dialect = plan.settings.dialect;
        if sql.is_some() || matches!(self.awaits, ClientWait::Open | ClientWait::Connect) {
            return message(failure, dialect, sql, &plan.settings.target);
        }
        // It may be about any statement of a pipeline.
        let commands = &plan.settings.scripts.scripts[self.script].commands;
        let texts = commands.iter().filter_map(|command| match &command.kind {
            CommandKind::Sql(sql) => Some(&*sql.text),
            _ => None,
        });
        let target = &plan.settings.target;
        let named = without_unknown_names(failure, dialect, texts.clone(), target);
        texts.fold(message(&named, dialect, None, target), |words, text| {
            without_repeated_passwords(text, &words).into_owned()
        })
    }

    /// Tells of the answer to a command, where that is wanted.
    fn trace_receiving(&self, plan: &PgbenchPlan) {
        if plan.settings.traces && matches!(self.awaits, ClientWait::Answer | ClientWait::Pipeline)
        {
            plan.settings
                .listener
                .call(PgbenchNotice::Info(format!("client {} receiving", self.id)));
        }
    }

    /// A command has failed, or what it needs to be prepared.
    fn command_failed(&mut self, plan: &PgbenchPlan, failure: &DatabaseFailure) -> NextStep {
        self.note_block(plan, failure);
        let Self { id, script, command, .. } = *self;
        if failure.class == ErrorClass::Connection {
            let text = format!(
                "client {id} aborted in command {command} (SQL) of script {script}; \
                 perhaps the backend died while processing: {}",
                self.message(plan, failure)
            );
            return self.abort(plan, text, Some(failure.class));
        }
        if failure.message.contains(NO_COPY_DATA) {
            let text = "COPY is not supported in pgbench, aborting".to_owned();
            return self.abort(plan, text, Some(failure.class));
        }
        let Some(kind) = kind_of(failure, plan.settings.dialect) else {
            // Which statement of several it was is not told: it is called the first.
            let place = format!("in command {command} query 0");
            let message = self.message(plan, failure);
            let text = format!("client {id} script {script} aborted {place}: {message}");
            return self.abort(plan, text, Some(failure.class));
        };
        (self.failure, self.class) = (Some(kind), failure.class);
        self.report_verbose(plan, || {
            let place = format!("in command {command} (SQL) of script {script}");
            format!("client {id} got an error {place}; {}", self.message(plan, failure))
        });
        if self.in_block {
            return self.perform(ClientWait::Rollback, NextStep::Rollback);
        }
        self.try_again_or_fail(plan)
    }

    /// Finds out whether a block is open behind an error.
    fn note_block(&mut self, plan: &PgbenchPlan, failure: &DatabaseFailure) {
        let ready = &plan.commands[self.script];
        let (commands, is_alone) = match self.awaits {
            ClientWait::Pipeline => (self.pipeline(plan), false),
            ClientWait::Answer => (self.command..self.command + 1, true),
            _ => return,
        };
        let has = |expected: fn(&BlockEffect) -> bool| {
            commands.clone().any(|command| expected(&ready[command].effect))
        };
        if failure.undone {
            self.in_block = false;
        } else if has(|effect| effect.opens) {
            self.in_block = true;
        } else if is_alone && has(|effect| effect.leaves_open == Some(false)) {
            // COMMIT ends the block even when it fails, but for SQLite, where it can be repeated.
            self.in_block &= plan.settings.dialect == SqlDialect::Sqlite;
        }
    }

    /// The transaction is undone: once more, or never again.
    fn try_again_or_fail(&mut self, plan: &PgbenchPlan) -> NextStep {
        let settings = &plan.settings;
        let has_tries = settings.max_tries == 0 || self.tries < settings.max_tries;
        let has_time = settings.latency_limit.is_none_or(|limit| now() - self.due <= limit);
        let counts = &mut self.statistics.scripts[self.script].commands[self.command];
        if has_tries && has_time {
            counts.retries += 1;
            self.report_verbose(plan, || {
                self.tries_line(plan, "repeats the transaction after the error")
            });
            return self.begin_again(plan);
        }
        counts.failures += 1;
        self.report_verbose(plan, || self.tries_line(plan, "ends the failed transaction"));
        self.leave(plan)
    }

    fn tries_line(&self, plan: &PgbenchPlan, what: &str) -> String {
        let mut line = format!("client {} {what} (try {}", self.id, self.tries);
        if plan.settings.max_tries > 0 {
            line.push_str(&format!("/{}", plan.settings.max_tries));
        }
        if let Some(limit) = plan.settings.latency_limit {
            let used = 100.0 * (now() - self.due).as_secs() / limit.as_secs();
            line.push_str(&format!(", {used:.3}% of the maximum time of tries was used"));
        }
        line + ")"
    }

    fn report_verbose(&self, plan: &PgbenchPlan, text: impl FnOnce() -> String) {
        if plan.settings.verbose_errors {
            plan.settings.listener.call(PgbenchNotice::Info(text()));
        }
    }

    pub(super) fn report_error(&self, plan: &PgbenchPlan, text: String) {
        plan.settings.listener.call(PgbenchNotice::Error(text));
    }

    /// Aborts the client in the present command.
    pub(super) fn abort_in(&mut self, plan: &PgbenchPlan, name: &str, message: &str) -> NextStep {
        let Self { id, script, command, .. } = self;
        let text = format!(
            "client {id} aborted in command {command} ({name}) of script {script}; {message}"
        );
        self.abort(plan, text, Some(ErrorClass::Other))
    }

    /// Aborts the client; `failed` unless its transaction is complete.
    pub(super) fn abort(
        &mut self,
        plan: &PgbenchPlan,
        text: String,
        failed: Option<ErrorClass>,
    ) -> NextStep {
        lock(&plan.aborted).push(text.clone());
        self.report_error(plan, text);
        self.failure = failed.map(|_| FailureKind::Other);
        self.awaits = ClientWait::Nothing;
        NextStep::Abort(failed)
    }
}

/// The database's own words, as its own client shows them, with the place in the statement if its
/// text is known and has no password. A name stays that the statement has, or the target.
pub fn message(
    failure: &DatabaseFailure,
    dialect: SqlDialect,
    sql: Option<&str>,
    target: &str,
) -> String {
    let shown = sql.filter(|sql| repeated_statement(sql) == *sql);
    let named = sql.map(|sql| without_unknown_names(failure, dialect, [sql], target));
    let failure = named.as_ref().unwrap_or(failure);
    let words = match dialect {
        _ if !failure.report.is_empty() => failure.report_in(shown),
        SqlDialect::Postgres if failure.class != ErrorClass::Connection => {
            format!("ERROR:  {}", failure.own_words())
        }
        _ => failure.own_words().to_owned(),
    };
    without_repeated_passwords(sql.unwrap_or_default(), &words).into_owned()
}

/// A failure of one of these statements without names that none of them has, nor the target, nor
/// the code of a function that it shows.
fn without_unknown_names<'a>(
    failure: &DatabaseFailure,
    dialect: SqlDialect,
    statements: impl IntoIterator<Item = &'a str>,
    target: &str,
) -> DatabaseFailure {
    let code = failure.report.lines().find_map(|line| line.strip_prefix("QUERY:"));
    let shapes = StatementShapes::of(statements, &LexicalRules::unknown(dialect));
    let shapes = shapes.with_names(code.unwrap_or_default()).with_names(target);
    let shown = |text: &str| shapes.without_unknown_names(&failure.code, text).into_owned();
    let shown_line = |line: &str| match CODE_LINES.iter().any(|begin| line.starts_with(begin)) {
        true => line.to_owned(),
        false => shown(line),
    };
    let report: Vec<String> = failure.report.split('\n').map(shown_line).collect();
    DatabaseFailure {
        message: shown(failure.own_words()),
        own_length: 0,
        report: report.join("\n").into(),
        ..failure.clone()
    }
}

/// What kind of failure it is that can be tried again; `None`: it cannot.
fn kind_of(failure: &DatabaseFailure, dialect: SqlDialect) -> Option<FailureKind> {
    let is_deadlock = failure.state == "40P01" || matches!(&failure.code[..], "40P01" | "1213");
    match failure.class {
        ErrorClass::Conflict if is_deadlock => Some(FailureKind::Deadlock),
        ErrorClass::Conflict => Some(FailureKind::Serialization),
        ErrorClass::Busy if dialect != SqlDialect::Postgres => Some(FailureKind::Serialization),
        _ => None,
    }
}
