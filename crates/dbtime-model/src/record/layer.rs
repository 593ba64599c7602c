//! The layers of a run in `run.json`, from the client down to the disk: what each handled, and what
//! an operation on it costs.

use serde::{Deserialize, Serialize};

/// Whether a figure was read off a clock or counter, or computed from others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// Read off a clock or counter.
    #[default]
    Measured,
    /// Computed.
    Derived,
}

/// Whose work a layer's figures are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LayerScope {
    /// The window's transactions.
    #[default]
    Load,
    /// Those with traced parts.
    Traced,
    /// The server (PostgreSQL: the database) with its other clients, between two readings of its
    /// counters.
    Server,
    /// The machine, over the window.
    Machine,
}

/// A figure and where it comes from; `None`: it is not known.
pub type LayerCell<T> = Option<(T, Provenance)>;

/// A layer, over the whole window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BudgetLayer {
    /// Such as `page cache`.
    pub name: String,
    /// Whose work its figures are.
    pub scope: LayerScope,
    /// Time in it without the layers below; of `all layers` the whole.
    pub time_s: Option<f64>,
    /// Source of `time_s`.
    pub time_from: Option<Provenance>,
    /// Returned or changed by statements of the load.
    pub records: Option<u64>,
    /// Of `records`.
    pub records_from: Option<Provenance>,
    /// Operations on the layer.
    pub operations: Option<u64>,
    /// Of `operations`.
    pub operations_from: Option<Provenance>,
    /// `time_s / operations`.
    pub time_per_op_ns: Option<f64>,
    /// `time_per_op_ns` relative to an access to the page cache or buffer pool.
    pub relative: Option<f64>,
}

impl BudgetLayer {
    /// A layer with what an operation costs, in `time` seconds for all of them.
    pub fn new(
        name: impl Into<String>,
        scope: LayerScope,
        time: LayerCell<f64>,
        operations: LayerCell<u64>,
    ) -> Self {
        let counted = operations.map(|(count, _)| count).filter(|count| *count > 0);
        let each = time.zip(counted).map(|((time_s, _), count)| time_s * 1e9 / count as f64);
        Self {
            name: name.into(),
            scope,
            time_s: time.map(|(time_s, _)| time_s),
            time_from: time.map(|(_, from)| from),
            operations: operations.map(|(count, _)| count),
            operations_from: operations.map(|(_, from)| from),
            time_per_op_ns: each,
            ..Self::default()
        }
    }

    /// The same for so many records.
    pub fn for_records(self, records: LayerCell<u64>) -> Self {
        let (records, records_from) = records.unzip();
        Self { records, records_from, ..self }
    }
}

/// Compares what an operation costs with what it costs at the layer of that index, the unit.
pub fn relate_layers(layers: &mut [BudgetLayer], unit: usize) {
    let unit_ns = layers.get(unit).and_then(|layer| layer.time_per_op_ns).filter(|ns| *ns > 0.0);
    for layer in layers {
        layer.relative = layer.time_per_op_ns.zip(unit_ns).map(|(each, unit)| each / unit);
    }
}

#[cfg(test)]
mod tests {
    use super::Provenance::{Derived, Measured};
    use super::*;

    #[test]
    fn what_is_not_known_is_null_and_has_no_quotient() {
        let layer = |time, operations| BudgetLayer::new("x", LayerScope::Server, time, operations);
        let mut layers = [
            layer(Some((2e-6, Derived)), Some((100, Measured))),
            layer(Some((1e-6, Measured)), Some((2, Measured))),
            layer(Some((0.0, Measured)), Some((0, Measured))),
            layer(None, Some((7, Measured))),
            layer(Some((1.0, Measured)), None),
        ];
        relate_layers(&mut layers, 0);
        let each = layers.each_ref().map(|layer| layer.time_per_op_ns.map(f64::round));
        assert_eq!(each, [Some(20.0), Some(500.0), None, None, None]);
        assert_eq!(
            layers.each_ref().map(|l| l.relative),
            [Some(1.0), Some(25.0), None, None, None]
        );
        assert_eq!((layers[3].time_from, layers[3].operations_from), (None, Some(Measured)));
        relate_layers(&mut layers, 3);
        assert!(layers.iter().all(|layer| layer.relative.is_none()), "nothing to compare with");
        let json = serde_json::to_value(&layers[3]).expect("plain data");
        for field in ["time_s", "time_from", "records", "records_from", "time_per_op_ns"] {
            assert_eq!(json[field], serde_json::Value::Null, "{field}");
        }
        assert_eq!((&json["scope"], &json["operations"]), (&"server".into(), &7.into()));
    }

    #[test]
    fn a_layer_of_before_is_read() {
        let old = r#"{"name":"SQL to page cache","time_s":7.95,"time_from":"derived","records":5,
            "records_from":"measured","operations":0,"operations_from":"measured",
            "time_per_op_ns":0.0,"relative":0.0}"#;
        let layer: BudgetLayer = serde_json::from_str(old).expect("a record of before");
        assert_eq!((layer.scope, layer.time_s), (LayerScope::Load, Some(7.95)));
        assert_eq!((layer.time_from, layer.records), (Some(Derived), Some(5)));
        assert_eq!((layer.time_per_op_ns, layer.relative), (Some(0.0), Some(0.0)));
        let new = serde_json::to_string(&layer).expect("plain data");
        assert_eq!(serde_json::from_str::<BudgetLayer>(&new).expect("a record"), layer);
    }
}
