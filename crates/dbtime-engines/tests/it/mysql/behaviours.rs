//! All that a rogue may do: it ends with an error that says why, soon, in little memory, and
//! without the password.

use crate::mysql::rogue::{RogueMeeting, RogueStep};
use crate::mysql::{greetings, plugins, sessions};
use std::collections::BTreeSet;

/// One way to misbehave.
pub(super) struct RogueBehaviour {
    pub(super) name: String,
    pub(super) steps: Vec<RogueStep>,
    /// What is said of it.
    pub(super) failure: &'static str,
    /// Of the target.
    pub(super) parameters: &'static str,
}

impl RogueBehaviour {
    pub(super) fn new(
        name: impl Into<String>,
        steps: Vec<RogueStep>,
        failure: &'static str,
    ) -> Self {
        // As for any host of a network.
        Self { name: name.into(), steps, failure, parameters: "ssl-mode=preferred" }
    }

    /// The same for a target with these parameters.
    pub(super) fn with(self, parameters: &'static str) -> Self {
        Self { parameters, ..self }
    }

    fn check(&self) {
        let Self { name, .. } = self;
        let met = RogueMeeting::new(&self.steps, self.parameters);
        assert!(met.failure.contains(self.failure), "{name}: {}", met.failure);
        met.assert_kept_secret(name);
        met.assert_nothing_hidden(name);
    }
}

#[test]
fn no_rogue_gets_the_password_or_a_panic() {
    let kinds = [greetings::all(), plugins::all(), sessions::all()];
    let all: Vec<RogueBehaviour> = kinds.into_iter().flatten().collect();
    let names: BTreeSet<&str> = all.iter().map(|behaviour| behaviour.name.as_str()).collect();
    assert_eq!(names.len(), all.len(), "each has a name of its own");
    assert!(all.len() >= 110, "{}", all.len());
    all.iter().for_each(RogueBehaviour::check);
}
