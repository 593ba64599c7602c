//! The layers under the statements: what each handled, and what an operation on it costs.

use super::figures::{CallFigures, VfsCall, WorkerFigures};
use dbtime_model::Nanos;
use dbtime_model::record::{BudgetLayer, Provenance};

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
    let mut layers = vec![
        layer("statements, all layers", figures.rows, &whole, Provenance::Measured),
        layer("SQL to page cache", figures.rows, &accesses, Provenance::Derived),
        layer("page cache: file reads", figures.rows, &io(VfsCall::Read), Provenance::Measured),
        layer("page cache: file writes", figures.rows, &io(VfsCall::Write), Provenance::Measured),
        layer("file system: syncs", figures.rows, &io(VfsCall::Sync), Provenance::Measured),
    ];
    let unit = layers[1].time_per_op_ns;
    for layer in &mut layers {
        layer.relative = if unit > 0.0 { layer.time_per_op_ns / unit } else { 0.0 };
    }
    layers
}

fn layer(name: &str, records: u64, calls: &CallFigures, time_from: Provenance) -> BudgetLayer {
    BudgetLayer {
        name: name.to_owned(),
        time_s: calls.wall_ns as f64 / 1e9,
        time_from,
        records,
        records_from: Provenance::Measured,
        operations: calls.count,
        operations_from: Provenance::Measured,
        time_per_op_ns: match calls.count {
            0 => 0.0,
            count => calls.wall_ns as f64 / count as f64,
        },
        relative: 0.0,
    }
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
        assert_eq!((pages.operations, pages.time_s), (0, 1000e-9));
        assert!(layers[1..].iter().all(|layer| layer.time_per_op_ns == 0.0), "{layers:?}");
        assert!(layers.iter().all(|layer| layer.relative == 0.0), "nothing to compare with");
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
        assert_eq!(layers[0].time_s, 1000e-9);
        let layers = &layers[1..];
        let times: Vec<f64> = layers.iter().map(|layer| layer.time_per_op_ns).collect();
        assert_eq!(times, [10.0, 50.0, 0.0, 750.0]);
        assert_eq!(layers.iter().map(|l| l.relative).collect::<Vec<_>>(), [1.0, 5.0, 0.0, 75.0]);
        let whole: f64 = layers.iter().map(|layer| layer.time_s).sum();
        assert!((whole - 950e-9).abs() < 1e-12, "{whole}");
    }
}
