//! Server and wire as one number: to be split by a trace.

use crate::advice::case::{AdviceCase, trips_per_transaction};
use crate::advice::{AdviceRule, BudgetAdvice};
use crate::format::us;
use dbtime_model::Part;
use dbtime_model::record::{RunRecord, WarningKind};

pub(super) const RULE: AdviceRule = AdviceRule::new("untraced", &[Part::ServerAndWire], advise);

/// What to do where `--trace` was given in vain.
pub(super) const HOW_TO_TRACE: &str = "do what the warning on --trace names, such as to run it as \
                                       root, or with the capabilities (docs/installing.md, Rights)";

/// Whether the run was to be traced, and was not, or not wholly.
pub(super) fn is_missing(record: &RunRecord) -> bool {
    record.validity.warnings.iter().any(|warning| warning.kind == WarningKind::Untraced)
}

fn advise(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    let record = case.record;
    let is_missing = is_missing(record);
    let is_traced = record.trace.is_some() && !is_missing;
    advice.because(match (&record.load.reconnect, is_traced) {
        (Some(_), true) => "a connection is made for each transaction",
        (Some(_), false) => {
            "a connection is made for each transaction, and its statements are executed: nothing \
             splits that"
        }
        (None, true) => {
            "connections are made in mid-transaction, or answers never came: nothing splits that"
        }
        (None, false) => {
            "the server and the way to it, which nothing splits: the run was not traced"
        }
    });
    if record.load.reconnect.is_some() {
        advice.step("keep connections open, with a pool in the application or before the server");
    }
    if let Some(trips) = case.round_trips() {
        advice.figure(trips_per_transaction(trips));
    }
    let server = record.server.as_ref();
    if let Some(cpu) = server.and_then(|server| server.cpu_us_per_tx) {
        advice.figure(format!(
            "the server used {} of CPU per transaction, helpers included",
            us(cpu)
        ));
    }
    case.simulated_network(advice);
    advice.step(match (is_missing, server.is_some()) {
        _ if is_traced => {
            "look at the connections: which are made when, and why (connections, in the report)"
                .to_owned()
        }
        (true, _) => format!("{HOW_TO_TRACE}: a trace splits this number"),
        (false, true) => "run it with --trace: it splits this number into wire, CPU, locks, reads \
                          and syncs of each statement"
            .to_owned(),
        (false, false) => {
            "`dbtime trace` on the server's machine during the load, or the same run \
                           there with --trace: it splits this number"
                .to_owned()
        }
    });
}
