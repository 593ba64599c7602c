//! No text makes the reader of workloads, or a program made from it, panic or hang.

use dbtime_load::program::{ProgramEvent, ProgramStep, Ticket};
use dbtime_load::workload::{SHIPPED, Workload};
use dbtime_model::spec::WorkloadLimit;
use dbtime_model::{MonoNanos, OperationId};
use proptest::prelude::*;
use std::path::Path;

/// Parses, and runs what was accepted: one transaction per operation, the first and the last row of
/// every table, at a scale that may make no sense.
fn exercise(text: &str, scale: u64) {
    let Ok(workload) = Workload::parse(text, Path::new("hostile.toml")) else { return };
    let _ = workload.check_scale(scale);
    workload.size(scale);
    let plan = workload.plan(scale, 1);
    let mut program = plan.program();
    for operation in 0..workload.operations.len().min(5) {
        let operation = OperationId(operation as u16);
        for index in [0, 1, u64::MAX] {
            program.start(&Ticket { index, operation, due: MonoNanos(0), client: 0 });
            for _ in 0..100 {
                if program.resume(ProgramEvent::Answered { rows: 0, first: &[] })
                    == ProgramStep::Done
                {
                    break;
                }
            }
        }
    }
    let mut row = Vec::new();
    for table in 0..workload.tables.len() {
        let data = workload.table_data(table, scale, 1);
        [0, 1, u64::MAX].iter().for_each(|index| data.fill_row(*index, &mut row));
    }
}

/// Numbers and formulas at the edges, in the place of any number or formula.
fn edges() -> impl Strategy<Value = String> {
    let fixed = [
        "0",
        "-1",
        "1",
        "9223372036854775807",
        "-9223372036854775808",
        "1e308",
        "-0.0",
        "nan",
        "inf",
        "\"\"",
        "\"row\"",
        "\"scale * 9223372036854775807\"",
        "\"t.rows / 0\"",
        "[]",
        "{}",
        "true",
        "[1, 2]",
        "[-9223372036854775808, 9223372036854775807]",
    ];
    prop_oneof![
        prop::sample::select(fixed.to_vec()).prop_map(str::to_owned),
        any::<i64>().prop_map(|n| n.to_string()),
        any::<f64>().prop_map(|n| format!("{n:?}")),
        "[a-z+*/%() 0-9.:'\"-]{0,20}".prop_map(|s| format!("{s:?}")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_text(text in "\\PC*") {
        exercise(&text, 1);
    }

    /// A shipped file with a piece replaced by noise.
    #[test]
    fn a_damaged_file(which in 0..SHIPPED.len(), at in any::<prop::sample::Index>(),
                      length in 0usize..40, noise in "[ -~\n]{0,12}", scale in any::<u64>()) {
        let text = SHIPPED[which].1;
        let chars: Vec<char> = text.chars().collect();
        let at = at.index(chars.len());
        let end = (at + length).min(chars.len());
        let damaged: String = chars[..at].iter().copied().chain(noise.chars())
            .chain(chars[end..].iter().copied()).collect();
        exercise(&damaged, scale);
    }

    /// Every generator with edge cases for its numbers.
    #[test]
    fn generators_at_the_edges(low in edges(), high in edges(), option in edges(), scale in any::<u64>()) {
        for generator in [
            format!("{{ uniform = [{low}, {high}] }}"),
            format!("{{ zipf = [{low}, {high}], exponent = {option}, scramble = true }}"),
            format!("{{ gaussian = [{low}, {high}], parameter = 2 }}"),
            format!("{{ exponential = [{low}, {high}], parameter = {option} }}"),
            format!("{{ nurand = [{low}, {high}], a = {option}, c = 9223372036854775807 }}"),
            format!("{{ hot_spot = [{low}, {high}], draws = {option}, keys = 50 }}"),
            format!("{{ sequence = [{low}, {high}] }}"),
            format!("{{ sequence = {low} }}"),
            format!("{{ unique = {low} }}"),
            format!("{{ permutation = [{low}, {high}] }}"),
            format!("{{ real = [{low}, {high}] }}"),
            format!("{{ constant = {low} }}"),
            format!("{{ choose = [{{ weight = {option}, constant = {low} }}] }}"),
            option.clone(),
        ] {
            let text = format!(
                "name = \"w\"\n[[table]]\nname = \"t\"\nrows_per_scale = 3\ncolumns = [\n\
                 {{ name = \"a\", type = \"bigint\", data = {generator} }} ]\n\
                 [keys]\nx = {generator}\n[[operation]]\nname = \"o\"\n\
                 [[operation.statement]]\nsql = \"SELECT :x\"\nrepeat = 3\n"
            );
            exercise(&text, scale);
        }
    }

    #[test]
    fn any_sql(sql in "[a-z0-9:;'\"`$?/*\\-\n é]{0,60}") {
        let _ = Workload::from_sql(&sql);
    }

    #[test]
    fn any_limit(text in "(p|avg|max|share|errors|throughput|)[ -~±≤≥]{0,20}") {
        if let Ok(limit) = text.parse::<WorkloadLimit>() {
            let _ = (limit.passed(f64::NAN), limit.required_text());
        }
    }
}

#[test]
fn deep_nests_are_refused() {
    for (open, close) in [("[", "]"), ("{ choose = [{ weight = 1, choose = [", "] }] }")] {
        let text = format!("name = \"w\"\n[keys]\nx = {}{}", open.repeat(5000), close.repeat(5000));
        assert!(Workload::parse(&text, Path::new("w.toml")).is_err());
    }
    let formula = format!("name = \"w\"\n[keys]\nx = \"{}1\"", "(".repeat(100_000));
    assert!(Workload::parse(&formula, Path::new("w.toml")).is_err());
}

#[test]
fn long_chains_of_keys_end() {
    let keys: String = (0..1500).map(|n| format!("k{n} = \"k{} + 1\"\n", n + 1)).collect();
    let text = format!(
        "name = \"w\"\n[keys]\n{keys}k1500 = 1\n[[operation]]\nname = \"o\"\n\
         [[operation.statement]]\nsql = \"SELECT :k0\"\n"
    );
    assert!(Workload::parse(&text, Path::new("w.toml")).is_err());
}
