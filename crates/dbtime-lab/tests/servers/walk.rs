//! A client that asks a private server one thing after the other, and writes down what it is told.

use dbtime_engines::drive::plan::RunStop;
use dbtime_lab::{LabError, OneShot, RunRequest, command, operation};
use dbtime_load::connection_op::{ConnectionOp, OwnedConnectionOp};
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::results::ResultSets;
use dbtime_load::script::{
    ProgramFactory, ProgramPhase, Script, ScriptEvent, ScriptProgram, ScriptProgramStep,
};
use dbtime_load::workload::Workload;
use std::sync::{Arc, Mutex};

/// Asks one thing after the other, and writes down what it is told.
#[derive(Debug)]
struct Walk {
    requests: Vec<(u16, OwnedConnectionOp)>,
    /// How many of them are asked before the load.
    before: usize,
    shown: Shown,
    told: Arc<Mutex<Vec<String>>>,
}

/// How results are written down.
pub(crate) type Shown = fn(&ResultSets) -> String;

impl Script for Walk {
    fn factory_for_thread(&self, _: u32) -> Result<Box<dyn ProgramFactory>, String> {
        let (requests, told) = (self.requests.clone(), Arc::clone(&self.told));
        let (before, shown) = (self.before, self.shown);
        Ok(Box::new(Walker { requests, before, shown, told, at: 0, until: 0 }))
    }

    fn connects(&self) -> bool {
        true
    }
}

#[derive(Clone)]
struct Walker {
    requests: Vec<(u16, OwnedConnectionOp)>,
    before: usize,
    shown: Shown,
    told: Arc<Mutex<Vec<String>>>,
    at: usize,
    /// Where the present part of the walk ends.
    until: usize,
}

impl ProgramFactory for Walker {
    fn program(&mut self, _: u32) -> Result<Box<dyn ScriptProgram>, String> {
        Ok(Box::new(self.clone()))
    }
}

impl Walker {
    fn next(&mut self) -> ScriptProgramStep<'_> {
        if self.at == self.until {
            return ScriptProgramStep::Done;
        }
        self.at += 1;
        let (connection, op) = &self.requests[self.at - 1];
        ScriptProgramStep::Perform { op: op.borrow(), statement: None, connection: *connection }
    }
}

impl ScriptProgram for Walker {
    fn begin(&mut self, phase: ProgramPhase) -> Option<ScriptProgramStep<'_>> {
        self.until = self.before;
        (phase == ProgramPhase::Open).then(|| self.next())
    }

    fn resume(&mut self, _: ScriptEvent) -> ScriptProgramStep<'_> {
        self.until = self.requests.len();
        self.next()
    }

    fn replied(
        &mut self,
        reply: Result<&mut ResultSets, &DatabaseFailure>,
    ) -> ScriptProgramStep<'_> {
        let line = match reply {
            Ok(results) => (self.shown)(results),
            Err(failure) => format!("{} {}", failure.class.name(), failure.code),
        };
        self.told.lock().expect("no panic").push(line);
        self.next()
    }
}

/// What each of the requests over several connections was told; the first `before` are asked before
/// the load.
pub(crate) fn walk_on(
    target: &str,
    requests: &[(u16, ConnectionOp<'_>)],
    before: usize,
    shown: Shown,
) -> Result<Vec<String>, LabError> {
    let requests = requests.iter().map(|(nth, request)| (*nth, request.to_owned())).collect();
    let told = Arc::new(Mutex::new(Vec::new()));
    let script = Arc::new(Walk { requests, before, shown, told: Arc::clone(&told) });
    let workload = Workload::from_script("walk".to_owned(), vec![operation("walk")], script);
    let request = RunRequest::new(workload, target.parse()?);
    command(&request, OneShot::Command, &|_| {}, &RunStop::default())?;
    let told = told.lock().expect("no panic").clone();
    Ok(told)
}
