//! Sorts and hashes that did not fit into the memory they may take.

use super::{AdviceInput, AdviceProposal, ProposedTrial, untried};
use crate::query::form_text::PlanSwitch;
use dbtime_model::query::EvidenceLevel;
use dbtime_model::{Product, SqlDialect};

/// The least and the most that is tried. Unit: MiB.
const LIMITS_MIB: (u64, u64) = (16, 1024);
const BYTES_PER_MIB: f64 = 1_048_576.0;

pub(super) fn proposals(input: &AdviceInput<'_>) -> Vec<AdviceProposal> {
    let spills = |bytes: Option<f64>| bytes.is_some_and(|bytes| bytes > 0.0);
    let found = input.evidence(|step| spills(step.spilled_bytes)).unwrap_or_default();
    let mut evidence = found.lines;
    let is_counted = evidence.is_empty();
    evidence.extend(counted(input));
    let Some(switch) = switch(input).filter(|_| !evidence.is_empty()) else { return Vec::new() };
    let finding = "a sort or a hash did not fit into its memory, and went to disk".to_owned();
    let caveats = vec![
        "each session, and in PostgreSQL each step, may take so much: set it for this statement \
         and not for all"
            .to_owned(),
    ];
    let shown = switch.before.clone();
    let mut advice = untried("spilled-sort", finding, evidence, shown, caveats);
    if is_counted {
        advice.level = EvidenceLevel::Counters;
    }
    vec![AdviceProposal { advice, trial: ProposedTrial::Setting(switch), share: found.share }]
}

/// What MySQL and MariaDB count.
fn counted(input: &AdviceInput<'_>) -> Vec<String> {
    let is_one = |name: &str| name == "Sort_merge_passes" && input.dialect() == SqlDialect::Mysql;
    let counters = input.scene.counters.iter().filter(|one| is_one(&one.name) && one.value > 0.0);
    counters.map(|one| format!("{}: {}", one.name, one.value)).collect()
}

/// The setting with what undoes it; `None`: the product has no such one.
fn switch(input: &AdviceInput<'_>) -> Option<PlanSwitch> {
    let mib = enough_mib(input);
    let (before, after) = match input.scene.product {
        Product::Postgres => (format!("SET work_mem = '{mib}MB'"), "RESET work_mem"),
        Product::Mysql | Product::Mariadb => (
            format!("SET SESSION sort_buffer_size = {}", mib << 20),
            "SET SESSION sort_buffer_size = DEFAULT",
        ),
        Product::Sqlite => return None,
    };
    Some(PlanSwitch { before: vec![before], after: vec![after.to_owned()] })
}

/// Four times what was written: rows take more room in memory than on disk.
fn enough_mib(input: &AdviceInput<'_>) -> u64 {
    let spilled = input.steps.iter().filter_map(|step| step.spilled_bytes).fold(0.0, f64::max);
    let mib = (4.0 * spilled / BYTES_PER_MIB).ceil() as u64;
    let (least, most) = LIMITS_MIB;
    mib.clamp(least, most).next_power_of_two()
}
