//! The layers under the statements: what each handled, and what an operation on it costs.

use super::figures::{CallFigures, VfsCall, WorkerFigures};
use dbtime_model::Nanos;
use dbtime_model::record::{BudgetLayer, LayerScope, Provenance, relate_layers};

/// The layer table of all workers together.
///
/// The first line is the statements as a whole, with everything below and their waits for locks:
/// `statement_wall` is the wall time of all they executed. Reads, writes and syncs were
/// timed by the VFS; what is left of the statements after these and after naps for locks is the
/// time between the application and the page cache, the cheapest layer and the unit of the others.
pub fn layers(figures: &WorkerFigures, statement_wall: Nanos) -> Vec<BudgetLayer> {
    let io = |call| figures.io.over_files(call);
    let below: u64 = VfsCall::ALL.into_iter().map(|call| io(call).wall_ns).sum();
    let above = statement_wall.0.saturating_sub(below).saturating_sub(figures.nap_ns);
    let accesses = CallFigures {
        count: figures.cache.hits + figures.cache.misses,
        wall_ns: above,
        ..CallFigures::default()
    };
    let whole = CallFigures {
        count: figures.statements,
        wall_ns: statement_wall.0,
        ..CallFigures::default()
    };
    let rows = figures.rows;
    let mut layers = vec![
        layer("statements, all layers", rows, &whole, Provenance::Measured),
        layer("SQL to page cache", rows, &accesses, Provenance::Derived),
        layer("page cache: file reads", rows, &io(VfsCall::Read), Provenance::Measured),
        layer("page cache: file writes", rows, &io(VfsCall::Write), Provenance::Measured),
        layer("file system: syncs", rows, &io(VfsCall::Sync), Provenance::Measured),
    ];
    relate_layers(&mut layers, 1);
    layers
}

fn layer(name: &str, records: u64, calls: &CallFigures, time_from: Provenance) -> BudgetLayer {
    let time = (calls.wall_ns as f64 / 1e9, time_from);
    let operations = (calls.count, Provenance::Measured);
    BudgetLayer::new(name, LayerScope::Load, Some(time), Some(operations))
        .for_records(Some((records, Provenance::Measured)))
}

#[cfg(test)]
mod tests {
    use super::super::figures::SqliteFileKind;
    use super::*;

    #[test]
    fn without_operations_there_is_no_quotient() {
        // `SELECT 1` reads no page.
        let figures = WorkerFigures { statements: 10, rows: 10, ..WorkerFigures::default() };
        let layers = layers(&figures, Nanos(1000));
        let pages = &layers[1];
        assert_eq!((pages.operations, pages.time_s), (Some(0), Some(1000e-9)));
        assert!(layers[1..].iter().all(|layer| layer.time_per_op_ns.is_none()), "{layers:?}");
        assert!(layers.iter().all(|layer| layer.relative.is_none()), "nothing to compare with");
    }

    #[test]
    fn each_layer_has_its_own_time() {
        let mut figures = WorkerFigures { rows: 100, nap_ns: 50, ..WorkerFigures::default() };
        figures.cache.hits = 8;
        figures.cache.misses = 2;
        let calls = |count, wall_ns| CallFigures { count, wall_ns, ..CallFigures::default() };
        figures.io.0[SqliteFileKind::Database as usize][VfsCall::Read as usize] = calls(2, 100);
        figures.io.0[SqliteFileKind::Wal as usize][VfsCall::Sync as usize] = calls(1, 750);
        let layers = layers(&figures, Nanos(1000));
        assert_eq!(layers[0].time_s, Some(1000e-9));
        let layers = &layers[1..];
        let each = |of: fn(&BudgetLayer) -> Option<f64>| -> Vec<_> {
            layers.iter().map(|layer| of(layer).map(f64::round)).collect()
        };
        assert_eq!(each(|layer| layer.time_per_op_ns), [Some(10.0), Some(50.0), None, Some(750.0)]);
        assert_eq!(each(|layer| layer.relative), [Some(1.0), Some(5.0), None, Some(75.0)]);
        let whole: f64 = layers.iter().filter_map(|layer| layer.time_s).sum();
        assert!((whole - 950e-9).abs() < 1e-12, "{whole}");
    }
}
