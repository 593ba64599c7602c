//! A client's way through its script: which command is next, and what it makes of the answer.

use super::command::{Keep, Kind, Length, Sql};
use super::dialect::{Dialect, Mode};
use super::evaluate::Scope;
use super::expression::Expression;
use super::meta::leading_int;
use super::notice::Notice;
use super::plan::Plan;
use super::program::Next;
use super::random::Prng;
use super::shell;
use super::statistics::{FailureKind, Statistics};
use super::value::Value;
use super::variables::Variables;
use dbtime_load::program::Value as Parameter;
use dbtime_load::request::Piped;
use dbtime_model::{ErrorClass, MonoNanos, Nanos, now};

/// What a client waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Awaits {
    /// Nothing: the next command.
    Nothing,
    Connect,
    Disconnect,
    /// A command is prepared; then it is executed.
    Prepare,
    /// The commands of a pipeline are prepared; this one was last.
    PreparePipeline(usize),
    /// The answer to a command.
    Answer,
    /// The answer to a pipeline.
    Pipeline,
    /// The answer to ROLLBACK.
    Rollback,
    /// The end of `\sleep`.
    Pause,
}

/// Commands without a request after which the engine gets a turn.
const MOST_AT_ONCE: u32 = 1000;

/// One client.
pub(super) struct Client {
    pub(super) id: u32,
    pub(super) variables: Variables,
    prng: Prng,
    /// As it was when the transaction began.
    prng_at_start: Prng,
    pub(super) script: usize,
    pub(super) command: usize,
    pub(super) awaits: Awaits,
    /// The text of a simple query.
    pub(super) sql: String,
    /// The parameters of a query.
    pub(super) parameters: Vec<Parameter>,
    /// By handle.
    pub(super) prepared: Vec<bool>,
    /// The pipeline that is being filled.
    pub(super) piped: Vec<Piped>,
    pub(super) in_pipeline: bool,
    pub(super) in_block: bool,
    is_connected: bool,
    /// Attempts so far, the present one included.
    pub(super) tries: u32,
    pub(super) due: MonoNanos,
    /// When the command began, where commands are timed.
    command_began: MonoNanos,
    /// Why the transaction has failed.
    pub(super) failure: Option<FailureKind>,
    /// The class of that failure.
    pub(super) class: ErrorClass,
    at_once: u32,
    pub(super) statistics: Statistics,
}

impl Client {
    pub(super) fn new(plan: &Plan, id: u32, variables: Variables, prng: Prng) -> Self {
        Self {
            id,
            variables,
            prng_at_start: prng.clone(),
            prng,
            script: 0,
            command: 0,
            awaits: Awaits::Nothing,
            sql: String::new(),
            parameters: Vec::new(),
            prepared: vec![false; plan.handles as usize],
            piped: Vec::new(),
            in_pipeline: false,
            in_block: false,
            is_connected: false,
            tries: 0,
            due: MonoNanos(0),
            command_began: MonoNanos(0),
            failure: None,
            class: ErrorClass::Other,
            at_once: 0,
            statistics: plan.statistics(),
        }
    }

    /// Sets it to the beginning of a transaction.
    pub(super) fn start(&mut self, script: usize, due: MonoNanos) {
        self.prng_at_start = self.prng.clone();
        (self.script, self.due, self.tries, self.failure) = (script, due, 1, None);
        self.rewind();
    }

    /// Sets it to the first command.
    fn rewind(&mut self) {
        (self.command, self.in_pipeline, self.awaits) = (0, false, Awaits::Nothing);
        self.piped.clear();
    }

    /// The transaction begins again. Variables keep what they hold.
    pub(super) fn begin_again(&mut self, plan: &Plan) -> Next {
        self.prng = self.prng_at_start.clone();
        self.tries += 1;
        self.failure = None;
        self.rewind();
        self.advance(plan)
    }

    /// The first step of a transaction.
    pub(super) fn begin(&mut self, plan: &Plan) -> Next {
        if plan.settings.reconnects && !self.is_connected {
            return self.ask(Awaits::Connect, Next::Connect);
        }
        self.advance(plan)
    }

    /// There is a new connection, on which nothing is prepared.
    pub(super) fn connected(&mut self, plan: &Plan) -> Next {
        self.is_connected = true;
        self.prepared.fill(false);
        self.advance(plan)
    }

    /// The connection is closed, and with it ends the transaction.
    pub(super) fn disconnected(&mut self) -> Next {
        self.is_connected = false;
        self.end()
    }

    /// The pause is over.
    pub(super) fn resumed(&mut self, plan: &Plan) -> Next {
        if self.awaits == Awaits::Pause {
            self.complete(plan);
        }
        self.advance(plan)
    }

    pub(super) fn ask(&mut self, awaits: Awaits, next: Next) -> Next {
        (self.awaits, self.at_once) = (awaits, 0);
        next
    }

    /// Runs commands up to the next one that has to wait.
    pub(super) fn advance(&mut self, plan: &Plan) -> Next {
        self.awaits = Awaits::Nothing;
        let commands = &plan.settings.scripts.scripts[self.script].commands;
        while let Some(command) = commands.get(self.command) {
            self.at_once += 1;
            if self.at_once > MOST_AT_ONCE {
                self.at_once = 0;
                return Next::Sleep(Nanos::ZERO);
            }
            if plan.settings.times_commands {
                self.command_began = now();
            }
            let next = match &command.kind {
                Kind::Sql(sql) => self.sql(plan, sql),
                kind => self.meta(plan, kind),
            };
            if let Some(next) = next {
                return next;
            }
        }
        self.finish(plan)
    }

    /// The command is done: the next one's turn.
    pub(super) fn complete(&mut self, plan: &Plan) {
        self.complete_and_go(plan, self.command + 1);
    }

    fn complete_and_go(&mut self, plan: &Plan, command: usize) {
        if plan.settings.times_commands {
            let time = (now() - self.command_began).as_secs();
            self.statistics.scripts[self.script].commands[self.command].time.add(time);
        }
        self.command = command;
    }

    /// The end of the script.
    fn finish(&mut self, plan: &Plan) -> Next {
        if self.in_pipeline {
            let message =
                format!("client {} aborted: end of script reached with pipeline open", self.id);
            return self.abort(plan, message, Some(ErrorClass::Other));
        }
        if self.in_block {
            let message = format!(
                "client {} aborted: end of script reached without completing the last transaction",
                self.id
            );
            return self.abort(plan, message, None);
        }
        self.leave(plan)
    }

    /// The transaction is over, one way or the other.
    pub(super) fn leave(&mut self, plan: &Plan) -> Next {
        if plan.settings.reconnects {
            return self.ask(Awaits::Disconnect, Next::Disconnect);
        }
        self.end()
    }

    fn end(&mut self) -> Next {
        self.awaits = Awaits::Nothing;
        // A script that asks for nothing must not keep the engine from its other clients.
        if self.failure.is_some() { Next::Failed(self.class) } else { Next::Done }
    }

    /// Sends SQL, or puts it into the pipeline.
    fn sql(&mut self, plan: &Plan, sql: &Sql) -> Option<Next> {
        if self.in_pipeline {
            return self.pipe(plan, sql);
        }
        Some(match plan.settings.mode {
            Mode::Simple => {
                self.sql.clear();
                sql.template.fill(&self.variables, &mut self.sql);
                self.ask(Awaits::Answer, Next::Query)
            }
            Mode::Extended => {
                self.fill_parameters(plan, sql);
                self.ask(Awaits::Answer, Next::QueryWith)
            }
            Mode::Prepared if self.is_prepared(plan, self.command) => self.execute(plan, sql),
            Mode::Prepared => self.ask(Awaits::Prepare, Next::Prepare(self.command)),
        })
    }

    /// Executes the command that is prepared.
    pub(super) fn execute(&mut self, plan: &Plan, sql: &Sql) -> Next {
        self.fill_parameters(plan, sql);
        self.ask(Awaits::Answer, Next::Execute)
    }

    fn is_prepared(&self, plan: &Plan, command: usize) -> bool {
        self.prepared[plan.commands[self.script][command].handle as usize]
    }

    fn fill_parameters(&mut self, plan: &Plan, sql: &Sql) {
        let (variables, dialect) = (&self.variables, plan.settings.dialect);
        self.parameters.clear();
        self.parameters
            .extend(sql.template.slots().map(|slot| parameter(variables.shown(slot), dialect)));
    }

    fn pipe(&mut self, plan: &Plan, sql: &Sql) -> Option<Next> {
        let name = match sql.keep {
            Keep::Nothing => {
                self.fill_parameters(plan, sql);
                let parameters = std::mem::take(&mut self.parameters);
                let ready = &plan.commands[self.script][self.command];
                self.piped.push(match plan.settings.mode {
                    Mode::Prepared => Piped::Execute { handle: ready.handle, parameters },
                    _ => Piped::QueryWith { sql: ready.sql.clone(), parameters },
                });
                self.complete(plan);
                return None;
            }
            Keep::One(_) => "gset",
            Keep::Every(_) => "aset",
        };
        Some(self.abort_in(plan, name, &format!("\\{name} is not allowed in pipeline mode")))
    }

    /// Whether the answer's rows are needed.
    pub(super) fn keeps_rows(&self, plan: &Plan) -> bool {
        let command = &plan.settings.scripts.scripts[self.script].commands[self.command];
        matches!(&command.kind, Kind::Sql(sql) if sql.keep != Keep::Nothing)
    }

    /// Runs a backslash command; `None`: the next one's turn.
    fn meta(&mut self, plan: &Plan, kind: &Kind) -> Option<Next> {
        let done = match kind {
            Kind::Sql(_) => unreachable!("SQL is sent"),
            Kind::Sleep { length, unit } => return self.sleep(plan, *length, *unit),
            Kind::StartPipeline => return self.start_pipeline(plan),
            Kind::SyncPipeline | Kind::EndPipeline if !self.in_pipeline => {
                return Some(self.abort_in(plan, kind.name(), "not in pipeline mode"));
            }
            Kind::EndPipeline => return self.end_pipeline(plan),
            Kind::SyncPipeline => {
                self.piped.push(Piped::Sync);
                Ok(())
            }
            Kind::Set(slot, expression) => match self.evaluate(plan, expression) {
                Err(error) => return Some(self.cannot_evaluate(plan, kind, error)),
                Ok(value) => self.variables.set("set", *slot, value),
            },
            Kind::If { condition, otherwise } => {
                return self.condition(plan, kind, condition, *otherwise);
            }
            Kind::Elif { end, .. } | Kind::Else { end } => {
                self.complete_and_go(plan, *end + 1);
                return None;
            }
            Kind::Endif => Ok(()),
            Kind::Shell(words) => self.shell(plan, words, None),
            Kind::SetShell(slot, words) => self.shell(plan, words, Some(*slot)),
        };
        match done {
            Ok(()) => {
                self.complete(plan);
                None
            }
            Err(error) => {
                self.say_error(plan, error);
                let what = if let Kind::Set(..) = kind { "assignment" } else { "execution" };
                Some(self.abort_in(plan, kind.name(), &format!("{what} of meta-command failed")))
            }
        }
    }

    fn evaluate(&mut self, plan: &Plan, expression: &Expression) -> Result<Value, String> {
        let (script, command, listener) = (self.script, self.command, &plan.settings.listener);
        let mut debug = |value| listener.say(Notice::Line(debug_line(script, command, value)));
        let (variables, prng) = (&mut self.variables, &mut self.prng);
        Scope { variables, prng, debug: &mut debug }.value(expression)
    }

    fn cannot_evaluate(&mut self, plan: &Plan, kind: &Kind, error: String) -> Next {
        self.say_error(plan, error);
        self.abort_in(plan, kind.name(), "evaluation of meta-command failed")
    }

    /// `\if`, and every `\elif` that it leads to: goes on behind the first whose condition holds.
    fn condition(
        &mut self,
        plan: &Plan,
        kind: &Kind,
        condition: &Expression,
        otherwise: usize,
    ) -> Option<Next> {
        match self.evaluate(plan, condition) {
            Err(error) => return Some(self.cannot_evaluate(plan, kind, error)),
            Ok(value) if value.holds() => {
                self.complete(plan);
                return None;
            }
            Ok(_) => self.complete_and_go(plan, otherwise),
        }
        let commands = &plan.settings.scripts.scripts[self.script].commands;
        match &commands[otherwise].kind {
            kind @ Kind::Elif { condition, otherwise, .. } => {
                self.condition(plan, kind, condition, *otherwise)
            }
            _ => {
                self.command += 1;
                None
            }
        }
    }

    fn sleep(&mut self, plan: &Plan, length: Length, unit: i64) -> Option<Next> {
        let length = match length {
            Length::Fixed(length) => Ok(length),
            Length::Variable(slot) => {
                let mut text = String::new();
                let name = self.variables.name(slot);
                let is_set = self.variables.write(slot, &mut text);
                match leading_int(&text) {
                    _ if !is_set => Err(format!("sleep: undefined variable \"{name}\"")),
                    0 if !text.starts_with(|first: char| first.is_ascii_digit()) => {
                        Err(format!("sleep: invalid sleep time \"{text}\" for variable \"{name}\""))
                    }
                    length => Ok(length),
                }
            }
        };
        match length {
            Err(error) => {
                self.say_error(plan, error);
                Some(self.abort_in(plan, "sleep", "execution of meta-command failed"))
            }
            Ok(length) if length <= 0 => {
                self.complete(plan);
                None
            }
            Ok(length) => {
                let length = Nanos::from_micros((length * unit) as u64);
                Some(self.ask(Awaits::Pause, Next::Sleep(length)))
            }
        }
    }

    fn shell(
        &mut self,
        plan: &Plan,
        words: &[super::command::Word],
        slot: Option<super::names::Slot>,
    ) -> Result<(), String> {
        if !plan.settings.allow_shell {
            return Err("scripts may run no programs here, unless --allow-shell says so".to_owned());
        }
        let line = shell::line(words, &self.variables)?;
        let name = shell::first(words, &self.variables);
        match slot {
            None => shell::run(&line, &name),
            Some(slot) => {
                let value = Value::Int(shell::run_for_int(&line, &name)?);
                self.variables.set("setshell", slot, value)
            }
        }
    }

    fn start_pipeline(&mut self, plan: &Plan) -> Option<Next> {
        let flaw = match plan.settings.mode {
            Mode::Simple => "cannot use pipeline mode with the simple query protocol",
            _ if plan.settings.dialect != Dialect::Postgres => "only PostgreSQL has pipelines",
            _ if self.in_pipeline => "already in pipeline mode",
            Mode::Extended => {
                self.in_pipeline = true;
                self.complete(plan);
                return None;
            }
            Mode::Prepared => return self.prepare_pipeline(plan, self.command),
        };
        Some(self.abort_in(plan, "startpipeline", flaw))
    }

    /// Prepares what the pipeline holds and is not prepared yet, behind the command `last`; then
    /// enters it.
    pub(super) fn prepare_pipeline(&mut self, plan: &Plan, last: usize) -> Option<Next> {
        let commands = &plan.settings.scripts.scripts[self.script].commands;
        let inside = commands.iter().enumerate().skip(last + 1);
        let inside = inside.take_while(|(_, command)| command.kind != Kind::EndPipeline);
        for (index, command) in inside {
            if matches!(command.kind, Kind::Sql(_)) && !self.is_prepared(plan, index) {
                return Some(self.ask(Awaits::PreparePipeline(index), Next::Prepare(index)));
            }
        }
        self.in_pipeline = true;
        self.complete(plan);
        None
    }

    fn end_pipeline(&mut self, plan: &Plan) -> Option<Next> {
        if self.piped.is_empty() {
            self.in_pipeline = false;
            self.complete(plan);
            return None;
        }
        Some(self.ask(Awaits::Pipeline, Next::Pipeline))
    }
}

/// A parameter as the original sends it: everything is a text to PostgreSQL, a NULL too. The
/// others are told of types, for they do not look into texts.
fn parameter(shown: Option<Result<Value, &str>>, dialect: Dialect) -> Parameter {
    let value = match shown {
        None => return Parameter::Null,
        Some(Ok(Value::Int(value))) => return Parameter::Integer(value),
        Some(Err(text)) if dialect == Dialect::Postgres => return Parameter::Text(text.to_owned()),
        Some(Ok(value)) if dialect == Dialect::Postgres => {
            let mut text = String::new();
            value.write(&mut text);
            return Parameter::Text(text);
        }
        Some(Err(text)) => match text.parse::<i64>().map(Value::Int) {
            Ok(value) => Ok(value),
            Err(_) => text.parse::<f64>().map(Value::Double).map_err(|_| text),
        },
        Some(Ok(value)) => Ok(value),
    };
    match value {
        Err(text) => Parameter::Text(text.to_owned()),
        Ok(Value::Null) => Parameter::Null,
        Ok(Value::Bool(value)) => Parameter::Integer(i64::from(value)),
        Ok(Value::Int(value)) => Parameter::Integer(value),
        Ok(Value::Double(value)) => Parameter::Real(value),
    }
}

/// What `debug()` shows.
fn debug_line(script: usize, command: usize, value: Value) -> String {
    let mut line = format!("debug(script={script},command={}): ", command + 1);
    if value == Value::Null {
        line.push_str("null");
    } else {
        line.push_str(value.type_name());
        line.push(' ');
        value.write(&mut line);
    }
    line
}
