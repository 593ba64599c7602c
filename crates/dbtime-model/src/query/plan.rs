//! How a server executes a statement.

use super::{PlanNode, PlanOperation};
use serde::{Deserialize, Serialize};

/// A plan, whichever product made it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StatementPlan {
    /// What it was read from: `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON)`.
    pub source: String,
    /// [`StatementPlan::shape_of`] its tree.
    pub shape: String,
    /// The tree.
    pub root: PlanNode,
    /// What planning took, as the server says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planning_us: Option<f64>,
    /// What the execution took that the plan's own figures are from, as the server says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_us: Option<f64>,
    /// By how much that is longer than a plain execution with the same key: a ratio. Above 1.5 the
    /// times of nodes are shares and no durations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inflation: Option<f64>,
    /// What the server says of indexes it cannot use, of conversions and of rewriting; literals
    /// are `?`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// How it differs from that of a record; `None`: there is no record to compare with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<PlanChange>,
    /// The server's own text, with `--raw-sql`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verbatim: Option<String>,
}

/// A plan beside an earlier one of the same statement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanChange {
    /// The record of the earlier one.
    pub since: String,
    /// Its shape.
    pub shape: String,
    /// Whether both have the same shape.
    pub is_same: bool,
}

impl StatementPlan {
    /// What two executions have in common that go the same way: a hash of operations, relations
    /// and indexes, and of no estimate, figure or condition. Shape: 16 hexadecimal digits.
    pub fn shape_of(root: &PlanNode) -> String {
        let mut hash = ShapeHash::default();
        add(root, &mut hash);
        format!("{:016x}", hash.0)
    }

    /// The same plan with its shape filled in.
    #[must_use]
    pub fn with_shape(self) -> Self {
        Self { shape: Self::shape_of(&self.root), ..self }
    }
}

fn add(node: &PlanNode, hash: &mut ShapeHash) {
    hash.add(node.operation.name().as_bytes());
    // What is unknown to dbtime is known by its words alone.
    let words = (node.operation == PlanOperation::Other).then_some(node.label.as_str());
    let names = [node.relation.as_deref(), node.index.as_deref(), words];
    names.into_iter().for_each(|name| hash.add(name.unwrap_or_default().as_bytes()));
    hash.add(&(node.children.len() as u64).to_le_bytes());
    node.children.iter().for_each(|child| add(child, hash));
}

/// FNV-1a, whose values do not change with a compiler.
struct ShapeHash(u64);

impl Default for ShapeHash {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl ShapeHash {
    /// Adds bytes and their end.
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes.iter().chain(&[0xff]) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(index: Option<&str>) -> PlanNode {
        PlanNode {
            operation: PlanOperation::IndexRange,
            relation: Some("events".to_owned()),
            index: index.map(str::to_owned),
            ..PlanNode::default()
        }
    }

    #[test]
    fn figures_change_no_shape_and_another_index_does() {
        let one = scan(Some("by_date"));
        let counted = PlanNode {
            actual_rows: Some(7.0),
            condition: Some("x".into()),
            ..scan(Some("by_date"))
        };
        assert_eq!(StatementPlan::shape_of(&one), StatementPlan::shape_of(&counted));
        for other in [scan(None), scan(Some("by_user"))] {
            assert_ne!(StatementPlan::shape_of(&one), StatementPlan::shape_of(&other));
        }
        let nested = PlanNode { children: vec![scan(None), one], ..PlanNode::default() };
        let flat = PlanNode {
            children: vec![PlanNode { children: vec![scan(Some("by_date"))], ..scan(None) }],
            ..PlanNode::default()
        };
        assert_ne!(StatementPlan::shape_of(&nested), StatementPlan::shape_of(&flat));
    }

    #[test]
    fn a_shape_is_the_same_for_ever() {
        assert_eq!(StatementPlan::shape_of(&scan(Some("by_date"))).len(), 16);
    }
}
