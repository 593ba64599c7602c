//! Chains of waits for locks in words.

use dbtime_model::Part;
use dbtime_model::record::{BudgetLockChain, BudgetLockHolder, ChainCause, MAX_CHAIN_DEPTH};

/// What the last holder of a chain did, or why nothing is known of it.
fn cause_text(cause: ChainCause) -> String {
    let text = match cause {
        ChainCause::Part(Part::Client) => "waiting for its client",
        ChainCause::Part(Part::Lock) => "waiting for a lock whose holder is not known",
        ChainCause::Part(part) => return format!("{}, {}", part.name(), part.meaning()),
        ChainCause::Running => "executing, or waiting for a CPU",
        ChainCause::Released => "it had already released the lock",
        ChainCause::ServerThread => BudgetLockHolder::SERVER_THREAD,
        ChainCause::Nobody => BudgetLockHolder::NOBODY,
        ChainCause::NotKnown => "not known",
        ChainCause::Others => "others",
    };
    text.to_owned()
}

/// The lines of a chain: who waited, below it who had the lock, and behind the last what that did.
/// Each is indented below the one that waited for it, but for those deeper than any chain is
/// followed: a record may say anything.
pub(crate) fn lines(chain: &BudgetLockChain) -> Vec<String> {
    let cause = cause_text(chain.cause);
    let mut names = chain.statements.clone();
    // Nobody is known whose doing it was.
    let is_foreign = matches!(chain.cause, ChainCause::ServerThread | ChainCause::Nobody);
    match names.last_mut() {
        Some(last) if chain.statements.len() > 1 && !is_foreign => {
            *last = format!("{last}: {cause}")
        }
        _ => names.push(cause),
    }
    let line = |(depth, name): (usize, &String)| match depth {
        0 => name.clone(),
        _ => format!("{}└ {name}", "  ".repeat(depth.min(MAX_CHAIN_DEPTH) - 1)),
    };
    names.iter().enumerate().map(line).collect()
}

/// How long was waited along all chains. Unit: seconds.
pub(crate) fn all_s(chains: &[BudgetLockChain]) -> f64 {
    chains.iter().map(|chain| chain.wait_s).sum()
}

/// The share of all chains, along which so long was waited; in percent.
pub(crate) fn share_pct(chain: &BudgetLockChain, all_s: f64) -> f64 {
    if all_s > 0.0 { 100.0 * chain.wait_s / all_s } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(statements: &[&str], cause: ChainCause) -> Vec<String> {
        let statements = statements.iter().map(|&text| text.to_owned()).collect();
        lines(&BudgetLockChain { statements, cause, count: 1, wait_s: 1.0 })
    }

    #[test]
    fn each_holder_stands_below_who_waited_for_it() {
        let sync = ChainCause::Part(Part::Sync);
        let expected = ["update", "└ update", "  └ commit: sync, blocked in fsync"];
        assert_eq!(chain(&["update", "update", "commit"], sync), expected);
        let expected = ["update", "└ nobody: a timer or signal ended it"];
        assert_eq!(chain(&["update"], ChainCause::Nobody), expected);
        let expected = ["update", "└ commit", "  └ a thread of the server"];
        assert_eq!(chain(&["update", "commit"], ChainCause::ServerThread), expected);
        assert_eq!(chain(&[], ChainCause::Others), ["others"]);
        assert_eq!(chain(&["update"], ChainCause::NotKnown), ["update", "└ not known"]);
        let deep = chain(&[""; 100], ChainCause::Others);
        assert!(deep.iter().all(|line| line.len() < 40), "{deep:?}");
    }
}
