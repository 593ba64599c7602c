//! Statements that are executed once, one after the other, and whose answers are kept: what a run
//! wants to know of a database before it begins, and what it has to tidy up there.

use dbtime_load::connection_op::ConnectionOp;
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::program::Ticket;
use dbtime_load::results::ResultSets;
use dbtime_load::script::{ProgramFactory, Script, ScriptEvent, ScriptProgram, ScriptProgramStep};
use std::sync::{Arc, Mutex, PoisonError};

/// What a statement brought back.
pub type SurveyReply = Result<ResultSets, DatabaseFailure>;

/// Statements and their answers, as a script of one client and one transaction. A statement that
/// fails does not keep the others from being executed.
#[derive(Debug)]
pub struct StatementSurvey(Arc<SurveySheet>);

#[derive(Debug)]
struct SurveySheet {
    statements: Vec<String>,
    replies: Mutex<Vec<SurveyReply>>,
}

impl StatementSurvey {
    /// These statements.
    pub fn new(statements: Vec<String>) -> Self {
        Self(Arc::new(SurveySheet { statements, replies: Mutex::default() }))
    }

    /// The answers so far, in the order of the statements.
    pub fn replies(&self) -> Vec<SurveyReply> {
        self.0.replies.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Script for StatementSurvey {
    fn factory_for_thread(&self, _thread: u32) -> Result<Box<dyn ProgramFactory>, String> {
        Ok(Box::new(SurveyStep { sheet: Arc::clone(&self.0), next: 0 }))
    }
}

/// Asks one statement after the other.
struct SurveyStep {
    sheet: Arc<SurveySheet>,
    /// How many have been asked.
    next: usize,
}

impl ProgramFactory for SurveyStep {
    fn program(&mut self, _client: u32) -> Result<Box<dyn ScriptProgram>, String> {
        Ok(Box::new(Self { sheet: Arc::clone(&self.sheet), next: 0 }))
    }
}

impl SurveyStep {
    fn next(&mut self) -> ScriptProgramStep<'_> {
        let Some(sql) = self.sheet.statements.get(self.next) else {
            return ScriptProgramStep::Done;
        };
        self.next += 1;
        ScriptProgramStep::Perform { op: ConnectionOp::Query(sql), statement: None, connection: 0 }
    }
}

impl ScriptProgram for SurveyStep {
    fn start(&mut self, _ticket: &Ticket) {
        self.next = 0;
    }

    fn resume(&mut self, _event: ScriptEvent) -> ScriptProgramStep<'_> {
        self.next()
    }

    fn replied(
        &mut self,
        reply: Result<&mut ResultSets, &DatabaseFailure>,
    ) -> ScriptProgramStep<'_> {
        let reply = reply.map(std::mem::take).map_err(DatabaseFailure::clone);
        self.sheet.replies.lock().unwrap_or_else(PoisonError::into_inner).push(reply);
        self.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_statement_is_asked_and_its_answer_kept() {
        let survey = StatementSurvey::new(vec!["SELECT 1".to_owned(), "SELECT 2".to_owned()]);
        let mut program = survey
            .factory_for_thread(0)
            .and_then(|mut factory| factory.program(0))
            .expect("a program");
        let is_query = |step: ScriptProgramStep<'_>, sql: &str| match step {
            ScriptProgramStep::Perform { op: ConnectionOp::Query(text), .. } => text == sql,
            _ => false,
        };
        assert!(is_query(program.resume(ScriptEvent::Started), "SELECT 1"));
        let failure = DatabaseFailure::connection("gone", "it is gone");
        assert!(is_query(program.replied(Err(&failure)), "SELECT 2"));
        let mut results = ResultSets::default();
        results.begin_set();
        assert_eq!(program.replied(Ok(&mut results)), ScriptProgramStep::Done);
        let replies = survey.replies();
        assert_eq!(replies[0], Err(failure));
        assert_eq!(replies[1].as_ref().map(ResultSets::len), Ok(1));
    }
}
