//! The server waits on its client in mid-statement.

use crate::advice::case::AdviceCase;
use crate::advice::{AdviceRule, BudgetAdvice};
use crate::format::{bytes, count, percent};
use dbtime_model::Part;

pub(super) const RULE: AdviceRule = AdviceRule::new("network", &[Part::Net], advise);

fn advise(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    advice.because(match case.large_result() {
        Some((of, rows)) => format!(
            "results are large, or their client reads slowly: {} returns {} rows each time",
            case.statement_name(of),
            count(rows.round() as u64)
        ),
        None => {
            "the client, or the way to it, takes answers more slowly than the server sends them"
                .to_owned()
        }
    });
    if let Some(each) = case.counted("Bytes_sent") {
        advice.figure(format!("the server sent {} per transaction", bytes(each.max(0.0) as u64)));
    }
    let busy = percent(100.0 * case.record.client.busy);
    advice.figure(format!(
        "the client did not read an answer, or did not send the rest of a request; the busiest \
         driver thread worked {busy} of the time"
    ));
    advice.step(
        "return fewer and smaller rows: needed columns alone, LIMIT, sums made in the database",
    );
    advice.step("read faster: more --shards on free CPUs (--client-cpus)");
    advice.step("compare the bytes sent with the capacity of the network");
}
