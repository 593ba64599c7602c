//! What backslash commands do when their turn comes.

use super::client::{ClientWait, PgbenchClient};
use super::command::{CommandKind, CommandLength, ShellWord};
use super::dialect::QueryMode;
use super::evaluate::EvaluationScope;
use super::expression::Expression;
use super::meta::leading_int;
use super::names::NameSlot;
use super::notice::PgbenchNotice;
use super::plan::{PgbenchPlan, lock};
use super::program::NextStep;
use super::shell;
use super::value::ScriptValue;
use dbtime_load::connection_op::PipelineEntry;
use dbtime_model::{Nanos, SqlDialect};

/// What a client that is to end pauses for in place of a program. Then its turn has come again.
const END_PAUSE: Nanos = Nanos::from_secs(1);

impl PgbenchClient {
    /// Runs a backslash command; `None`: the next one's turn.
    pub(super) fn meta(&mut self, plan: &PgbenchPlan, kind: &CommandKind) -> Option<NextStep> {
        let done = match kind {
            CommandKind::Sql(_) => unreachable!("SQL is sent"),
            CommandKind::Sleep { length, unit } => return self.sleep(plan, *length, *unit),
            CommandKind::StartPipeline => return self.start_pipeline(plan),
            CommandKind::SyncPipeline | CommandKind::EndPipeline if !self.in_pipeline => {
                return Some(self.abort_in(plan, kind.name(), "not in pipeline mode"));
            }
            CommandKind::EndPipeline => return self.end_pipeline(plan),
            CommandKind::SyncPipeline => {
                self.piped.push(PipelineEntry::Sync);
                Ok(())
            }
            CommandKind::Set(slot, expression) => match self.evaluate(plan, expression) {
                Err(error) => return Some(self.cannot_evaluate(plan, kind, error)),
                Ok(value) => self.variables.set("set", *slot, value),
            },
            CommandKind::If { .. } => return self.condition(plan),
            CommandKind::Elif { end, .. } | CommandKind::Else { end } => {
                self.complete_and_go(plan, *end + 1);
                return None;
            }
            CommandKind::Endif => Ok(()),
            CommandKind::Shell(_) | CommandKind::SetShell(..) if is_to_end(plan) => {
                return Some(self.perform(ClientWait::Nothing, NextStep::Sleep(END_PAUSE)));
            }
            CommandKind::Shell(words) => self.shell(plan, words, None),
            CommandKind::SetShell(slot, words) => self.shell(plan, words, Some(*slot)),
        };
        match done {
            Ok(()) => {
                self.complete(plan);
                None
            }
            Err(error) => {
                self.report_error(plan, error);
                let what = if let CommandKind::Set(..) = kind { "assignment" } else { "execution" };
                Some(self.abort_in(plan, kind.name(), &format!("{what} of meta-command failed")))
            }
        }
    }

    fn evaluate(
        &mut self,
        plan: &PgbenchPlan,
        expression: &Expression,
    ) -> Result<ScriptValue, String> {
        let Self { script, command, variables, prng, .. } = self;
        let listener = &plan.settings.listener;
        let mut debug =
            |value| listener.call(PgbenchNotice::Line(debug_line(*script, *command, value)));
        EvaluationScope { variables, prng, debug: &mut debug }.value(expression)
    }

    fn cannot_evaluate(
        &mut self,
        plan: &PgbenchPlan,
        kind: &CommandKind,
        error: String,
    ) -> NextStep {
        self.report_error(plan, error);
        self.abort_in(plan, kind.name(), "evaluation of meta-command failed")
    }

    /// `\if`, and every `\elif` that it leads to: goes on behind the first whose condition holds,
    /// or behind `\else` or `\endif`, which are not run themselves.
    fn condition(&mut self, plan: &PgbenchPlan) -> Option<NextStep> {
        let commands = &plan.settings.scripts.scripts[self.script].commands;
        loop {
            let kind = &commands[self.command].kind;
            let (CommandKind::If { condition, otherwise }
            | CommandKind::Elif { condition, otherwise, .. }) = kind
            else {
                self.command += 1;
                return None;
            };
            match self.evaluate(plan, condition) {
                Err(error) => return Some(self.cannot_evaluate(plan, kind, error)),
                Ok(value) if value.holds() => {
                    self.complete(plan);
                    return None;
                }
                Ok(_) => self.complete_and_go(plan, *otherwise),
            }
        }
    }

    fn sleep(&mut self, plan: &PgbenchPlan, length: CommandLength, unit: i64) -> Option<NextStep> {
        let length = match length {
            CommandLength::Fixed(length) => Ok(length),
            CommandLength::Variable(slot) => {
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
                self.report_error(plan, error);
                Some(self.abort_in(plan, "sleep", "execution of meta-command failed"))
            }
            Ok(length) if length <= 0 => {
                self.complete(plan);
                None
            }
            Ok(length) => {
                let length = Nanos::from_micros((length * unit) as u64);
                Some(self.perform(ClientWait::Pause, NextStep::Sleep(length)))
            }
        }
    }

    fn shell(
        &mut self,
        plan: &PgbenchPlan,
        words: &[ShellWord],
        slot: Option<NameSlot>,
    ) -> Result<(), String> {
        if !plan.settings.allow_shell {
            return Err("scripts run programs only under `dbtime pgbench --allow-shell`".to_owned());
        }
        let line = shell::line(words, &self.variables)?;
        let name = shell::first(words, &self.variables);
        let kind = if slot.is_some() { "setshell" } else { "shell" };
        let command = format!("\\{kind} {}", shell::without_literals(&name));
        plan.awaited.during(self.id, command, || match slot {
            None => shell::run(&line, &name),
            Some(slot) => {
                let value = ScriptValue::Int(shell::run_for_int(&line, &name)?);
                self.variables.set(kind, slot, value)
            }
        })
    }

    fn start_pipeline(&mut self, plan: &PgbenchPlan) -> Option<NextStep> {
        let flaw = match plan.settings.mode {
            QueryMode::Simple => "cannot use pipeline mode with the simple query protocol",
            _ if plan.settings.dialect != SqlDialect::Postgres => "only PostgreSQL has pipelines",
            _ if self.in_pipeline => "already in pipeline mode",
            QueryMode::Extended => {
                self.in_pipeline = true;
                self.complete(plan);
                return None;
            }
            QueryMode::Prepared => return self.prepare_pipeline(plan, self.command),
        };
        Some(self.abort_in(plan, "startpipeline", flaw))
    }

    /// Prepares what the pipeline holds and is not prepared yet, behind the command `last`; then
    /// enters it.
    pub(super) fn prepare_pipeline(&mut self, plan: &PgbenchPlan, last: usize) -> Option<NextStep> {
        let commands = &plan.settings.scripts.scripts[self.script].commands;
        let inside = commands.iter().enumerate().skip(last + 1);
        let inside = inside.take_while(|(_, command)| command.kind != CommandKind::EndPipeline);
        for (index, command) in inside {
            if matches!(command.kind, CommandKind::Sql(_)) && !self.is_prepared(plan, index) {
                return Some(
                    self.perform(ClientWait::PreparePipeline(index), NextStep::Prepare(index)),
                );
            }
        }
        self.in_pipeline = true;
        self.complete(plan);
        None
    }

    fn end_pipeline(&mut self, plan: &PgbenchPlan) -> Option<NextStep> {
        if self.piped.is_empty() {
            self.in_pipeline = false;
            self.complete(plan);
            return None;
        }
        Some(self.perform(ClientWait::Pipeline, NextStep::Pipeline))
    }
}

/// Whether scripts that may start programs are to start no more: they come no further, as at a
/// statement that is not answered.
fn is_to_end(plan: &PgbenchPlan) -> bool {
    plan.settings.allow_shell && lock(&plan.end_condition).is_met()
}

/// What `debug()` shows.
fn debug_line(script: usize, command: usize, value: ScriptValue) -> String {
    let mut line = format!("debug(script={script},command={}): ", command + 1);
    if value == ScriptValue::Null {
        line.push_str("null");
    } else {
        line.push_str(value.type_name());
        line.push(' ');
        value.write(&mut line);
    }
    line
}
