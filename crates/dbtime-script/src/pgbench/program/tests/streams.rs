//! The statements of whole runs, client by client, against those that pgbench 15.18 sent to a
//! server which wrote them down.

use super::*;
use crate::pgbench::builtin::BuiltinScript;
use crate::pgbench::dialect::QueryMode;
use dbtime_model::SqlDialect;

/// The statements of every client: `client: statement`, parameters behind tabs.
fn streams(settings: PgbenchSettings, transactions: usize) -> String {
    let clients = settings.clients;
    let script = PgbenchScript::new(settings).expect("settings that go together");
    let mut factory = script.factory_for_thread(0).expect("a factory");
    let mut out = String::new();
    for client in 0..clients {
        let mut program = factory.program(client).expect("a client");
        let mut prepared = Vec::new();
        for _ in 0..transactions {
            for step in play(program.as_mut(), &mut well) {
                for sql in statements(&step, &mut prepared) {
                    out.push_str(&format!("{client}: {}\n", sql.replace('\n', "\\n")));
                }
            }
        }
    }
    out
}

/// The statements of a step, as a server writes them down.
fn statements(step: &str, prepared: &mut Vec<String>) -> Vec<String> {
    let (word, rest) = step.split_once(' ').unwrap_or((step, ""));
    match word {
        "query" | "with" => vec![rest.to_owned()],
        "prepare" => {
            prepared.push(rest.split_once(' ').expect("handle and text").1.to_owned());
            Vec::new()
        }
        "execute" | "executekeep" => {
            let (handle, parameters) =
                rest.split_once('\t').map_or((rest, None), |(h, p)| (h, Some(p)));
            let sql = &prepared[handle.parse::<usize>().expect("a handle")];
            vec![
                parameters.map_or_else(|| sql.clone(), |parameters| format!("{sql}\t{parameters}")),
            ]
        }
        "pipeline" => rest.split('|').flat_map(|entry| statements(entry, prepared)).collect(),
        _ => Vec::new(),
    }
}

fn same(found: &str, expected: &str) {
    let lines = found.lines().zip(expected.lines()).enumerate();
    for (number, (found, expected)) in lines {
        assert_eq!(found, expected, "line {}", number + 1);
    }
    assert_eq!(found.lines().count(), expected.lines().count());
}

fn settings(clients: u32, threads: u32, seed: u64, scripts: &[(&str, u32)]) -> PgbenchSettings {
    let mut settings = PgbenchSettings { clients, threads, seed, ..PgbenchSettings::default() };
    for (index, (text, weight)) in scripts.iter().enumerate() {
        settings.scripts.add(&format!("{index}.sql"), text, *weight).expect("a script");
    }
    settings
}

#[test]
fn random_functions_draw_what_pgbench_draws() {
    let settings = settings(5, 2, 42, &[(include_str!("../../testdata/random.sql"), 1)]);
    same(&streams(settings, 4), include_str!("../../testdata/random.txt"));
}

#[test]
fn scripts_take_the_same_way() {
    let mut settings = settings(3, 1, 7, &[(include_str!("../../testdata/flow.sql"), 1)]);
    settings.variables = [("given", "100"), ("text", "hello")]
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
        .to_vec();
    settings.scale = 3;
    same(&streams(settings, 6), include_str!("../../testdata/flow.txt"));
}

#[test]
fn parameters_are_the_same_in_both_modes() {
    for mode in [QueryMode::Extended, QueryMode::Prepared] {
        let mut settings = settings(2, 1, 3, &[(include_str!("../../testdata/pipe.sql"), 1)]);
        settings.mode = mode;
        same(&streams(settings, 2), include_str!("../../testdata/pipe.txt"));
    }
}

#[test]
fn scripts_are_chosen_alike() {
    let scripts = [
        ("\\set r random(1, 9)\nSELECT :client_id AS c, 1, :r;", 5),
        ("\\set r random(1, 9)\nSELECT :client_id AS c, 2, :r;", 3),
        ("SELECT :client_id AS c, 3;", 2),
    ];
    same(&streams(settings(4, 4, 99, &scripts), 8), include_str!("../../testdata/mix.txt"));
}

#[test]
fn the_built_in_script_is_the_same() {
    let mut settings = settings(1, 1, 123_456_789, &[]);
    settings
        .scripts
        .add_builtin(BuiltinScript::TPCB_LIKE, 1, SqlDialect::Postgres)
        .expect("a script");
    settings.scale = 2;
    same(&streams(settings, 4), include_str!("../../testdata/tpcb.txt"));
}
