//! What the text alone shows: to be thought about, and not to be tried.

use super::evidence::{is_full_scan, is_sort};
use super::{AdviceInput, AdviceProposal, ProposedTrial, untried};

pub(super) fn proposals(input: &AdviceInput<'_>) -> Vec<AdviceProposal> {
    let of_one = |finding: &dbtime_sql::TextFinding| {
        // The plan says more of these than that they are written.
        let found = match finding.rule {
            "leading-wildcard" | "huge-in-list" => input.evidence(is_full_scan),
            "order-by-random" => input.evidence(is_sort),
            "offset-paging" => input.evidence(|step| is_full_scan(step) || is_sort(step)),
            _ => None,
        };
        let found = found.unwrap_or_default();
        let proposal = vec![finding.proposal.clone()];
        let (text, caveats) = (finding.finding.clone(), finding.caveats.clone());
        AdviceProposal {
            advice: untried(finding.rule, text, found.lines, proposal, caveats),
            trial: ProposedTrial::None,
            share: found.share,
        }
    };
    input.findings.iter().map(of_one).collect()
}
