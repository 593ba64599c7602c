//! Which clients wait for a program of `\shell` or `\setshell`, for the watch over scripts that do
//! not come back.

use super::plan::lock;
use dbtime_load::script::ScriptVisit;
use std::sync::Mutex;

/// The programs that clients wait for. Each client waits for one at most.
#[derive(Debug, Default)]
pub(super) struct AwaitedPrograms(Mutex<AwaitedList>);

#[derive(Debug, Default)]
struct AwaitedList {
    /// How many there have been.
    count: u64,
    present: Vec<AwaitedProgram>,
}

#[derive(Debug)]
struct AwaitedProgram {
    visit: ScriptVisit,
    command: String,
}

impl AwaitedPrograms {
    /// A client waits as long as `run` runs; `command` is what messages call the program.
    pub(super) fn during<T>(&self, client: u32, command: String, run: impl FnOnce() -> T) -> T {
        {
            let mut list = lock(&self.0);
            list.count += 1;
            let visit = ScriptVisit { client, number: list.count, awaits_program: true };
            list.present.push(AwaitedProgram { visit, command });
        }
        let ended = run();
        lock(&self.0).present.retain(|program| program.visit.client != client);
        ended
    }

    /// The clients that wait at this moment.
    pub(super) fn visits(&self) -> Vec<ScriptVisit> {
        lock(&self.0).present.iter().map(|program| program.visit).collect()
    }

    /// The command of the program that a client waits for.
    pub(super) fn command_of(&self, client: u32) -> Option<String> {
        let list = lock(&self.0);
        let program = list.present.iter().find(|program| program.visit.client == client)?;
        Some(program.command.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_waits_until_its_program_has_ended() {
        let awaited = AwaitedPrograms::default();
        let visit = |client, number| ScriptVisit { client, number, awaits_program: true };
        awaited.during(3, "\\shell a".to_owned(), || {
            awaited.during(1, "\\setshell b".to_owned(), || {
                assert_eq!(awaited.visits(), [visit(3, 1), visit(1, 2)]);
                assert_eq!(awaited.command_of(1).as_deref(), Some("\\setshell b"));
            });
            assert_eq!(awaited.visits(), [visit(3, 1)]);
            assert_eq!(awaited.command_of(1), None);
        });
        assert_eq!(awaited.visits(), []);
        awaited.during(3, String::new(), || assert_eq!(awaited.visits(), [visit(3, 3)]));
    }
}
