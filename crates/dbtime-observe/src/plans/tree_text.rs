//! A tree in a few words, as the tests of readers compare it; times and notes are not in it.

use dbtime_model::query::PlanNode;
use std::fmt::Write;

/// A line for each step, below which those stand that it takes its rows from.
pub(super) fn drawn(root: &PlanNode) -> String {
    let mut text = String::new();
    draw(root, 0, &mut text);
    text
}

fn draw(node: &PlanNode, depth: usize, text: &mut String) {
    let mut line = format!("{}{} [{}]", "  ".repeat(depth), node.label, node.operation.name());
    let words = [
        ("", &node.relation),
        ("as ", &node.alias),
        ("by ", &node.index),
        ("where ", &node.condition),
    ];
    for (word, value) in words {
        if let Some(value) = value {
            let _ = write!(line, " {word}{value}");
        }
    }
    let removed = node.removed_rows.filter(|removed| *removed > 0.0);
    let figures = [
        ("est", node.estimated_rows),
        ("rows", node.actual_rows),
        ("x", node.loops),
        ("removed", removed),
    ];
    for (word, value) in figures {
        if let Some(value) = value {
            let _ = write!(line, " {word} {value}");
        }
    }
    line.push_str(if node.is_dependent { " dependent" } else { "" });
    line.push_str(if node.is_covering { " covering" } else { "" });
    text.push_str(&line);
    text.push('\n');
    node.children.iter().for_each(|child| draw(child, depth + 1, text));
}
