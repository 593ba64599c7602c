//! The examples of `docs/workloads.md` are true.

use dbtime_load::workload::{SHIPPED, Workload};
use std::path::Path;

fn text() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/workloads.md");
    std::fs::read_to_string(path).expect("the description of the format")
}

/// The blocks whose fence says `language`, with the line each begins at.
fn blocks(language: &str) -> Vec<(usize, String)> {
    let text = text();
    let mut lines = text.lines().enumerate();
    let mut blocks = Vec::new();
    while let Some((number, line)) = lines.next() {
        if line.strip_prefix("```") != Some(language) {
            continue;
        }
        let inside = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```");
        let block = inside.fold(String::new(), |block, line| block + line + "\n");
        blocks.push((number + 1, block));
    }
    blocks
}

#[test]
fn whole_files_parse() {
    let blocks = blocks("toml");
    assert_eq!(blocks.len(), 3);
    for (line, block) in blocks {
        let workload = Workload::parse(&block, Path::new("docs/workloads.md"))
            .unwrap_or_else(|error| panic!("the example at line {line}: {error}"));
        workload.check_scale(1).unwrap_or_else(|error| panic!("line {line}: {error}"));
    }
}

#[test]
fn lists_of_keys_parse() {
    let blocks = blocks("toml keys");
    assert_eq!(blocks.len(), 2);
    for (line, block) in blocks {
        let names = block.lines().filter_map(|line| line.split_once(" = ")).map(|(name, _)| name);
        let parameters: Vec<String> = names.map(|name| format!(":{name}")).collect();
        let file = format!(
            "name = \"keys\"\n[[operation]]\nname = \"o\"\n[operation.keys]\n{block}\n\
             [[operation.statement]]\nsql = \"SELECT {}\"\n",
            parameters.join(", ")
        );
        let workload = Workload::parse(&file, Path::new("docs/workloads.md"))
            .unwrap_or_else(|error| panic!("the example at line {line}: {error}"));
        workload.check_scale(1).unwrap_or_else(|error| panic!("line {line}: {error}"));
    }
}

#[test]
fn every_shipped_workload_is_listed() {
    let text = text();
    for (name, _) in SHIPPED {
        assert!(text.contains(&format!("| `{name}` |")), "{name}");
    }
}
