//! The layers under the transactions of a traced run: a pure function of what else its record has,
//! so that no two figures of a report contradict each other.

use dbtime_model::Part;
use dbtime_model::counters::CounterReport;
use dbtime_model::record::{
    BudgetInfo, BudgetLayer, BudgetMethod, BudgetUs, LayerCell, LayerScope, Provenance, RunRecord,
    ServerInfo, relate_layers,
};
use dbtime_observe::block_device::{DeviceRequests, DeviceSample};
use dbtime_observe::counters::page_accesses;

/// The layer whose operations are the unit of the others: accesses to the buffer pool.
const UNIT: usize = 2;

/// Waits for files, as their layers are called.
const FILE_LAYERS: [(Part, &str); 3] = [
    (Part::IoRead, "waits for file reads"),
    (Part::IoWrite, "waits for file writes"),
    (Part::Sync, "waits for file syncs"),
];

/// The layers of a run whose parts were traced, from the client down to the device under the
/// server's data; none where no transaction has traced parts.
///
/// `counters` is what the server counted, `device` what its device served in the window; `None`
/// where that is not known.
pub(crate) fn server_layers(
    record: &RunRecord,
    counters: Option<&CounterReport>,
    device: Option<&DeviceSample>,
) -> Vec<BudgetLayer> {
    let info = record.budget.as_ref().filter(|info| info.method == BudgetMethod::Traced);
    let Some((budget, info)) = record.budget_us.as_ref().zip(info) else { return Vec::new() };
    let rows = measured(record.statements.iter().map(|statement| statement.rows).sum());
    let mut layers = vec![transactions(record, info), statements(record)];
    layers.extend(buffer_pool(budget, info, counters));
    layers.extend(record.server.iter().flat_map(calls));
    // Rows of transactions that were not matched would be in the records and not in the waits.
    let traced_rows = rows.filter(|_| info.sampled == info.of);
    let mut layers: Vec<_> = layers.into_iter().map(|layer| layer.for_records(rows)).collect();
    let waits = FILE_LAYERS.map(|(part, name)| file_waits(record, budget, info, part, name));
    layers.extend(waits.map(|layer| layer.for_records(traced_rows)));
    layers.extend(device.map(device_layers).into_iter().flatten());
    relate_layers(&mut layers, UNIT);
    layers
}

fn measured<T>(figure: T) -> LayerCell<T> {
    Some((figure, Provenance::Measured))
}

fn transactions(record: &RunRecord, info: &BudgetInfo) -> BudgetLayer {
    let time = record.budgeted_mean_us().and_then(|us| measured(us * info.of as f64 / 1e6));
    let operations = measured(info.of);
    BudgetLayer::new("transactions, all layers", LayerScope::Load, time, operations)
}

fn statements(record: &RunRecord) -> BudgetLayer {
    let took_us = record.statements.iter().map(|one| one.latency_us.mean * one.count as f64);
    let (time, count) = (took_us.sum::<f64>() / 1e6, record.statements.iter().map(|one| one.count));
    let (time, operations) = (measured(time), measured(count.sum()));
    BudgetLayer::new("statements, all layers", LayerScope::Load, time, operations)
}

/// No server times an access to its buffer pool. What is known is the CPU time of the statements
/// that made them, whatever else they did on it.
fn buffer_pool(
    budget: &BudgetUs,
    info: &BudgetInfo,
    counters: Option<&CounterReport>,
) -> [BudgetLayer; 2] {
    let cpu_s = budget.cpu.map(|mean_us| (mean_us * info.of as f64 / 1e6, Provenance::Derived));
    let pages = counters.and_then(page_accesses);
    let accesses = pages.and_then(|pages| measured(pages.all));
    let reads = pages.and_then(|pages| measured(pages.reads));
    [
        BudgetLayer::new("SQL to buffer pool: CPU", LayerScope::Server, cpu_s, accesses),
        BudgetLayer::new("buffer pool: page reads", LayerScope::Server, None, reads),
    ]
}

/// Reads and writes that the server's processes requested of the kernel. Nobody times these calls:
/// where a statement waits in one, the waits for files have it.
fn calls(server: &ServerInfo) -> impl Iterator<Item = BudgetLayer> {
    let calls = [("read calls", server.read_calls), ("write calls", server.write_calls)];
    let layer = |name, calls| BudgetLayer::new(name, LayerScope::Server, None, measured(calls));
    calls.into_iter().filter_map(move |(name, calls)| Some(layer(name, calls?)))
}

/// What the statements' threads waited for in their calls, as the tracer saw it; one call may wait
/// several times.
fn file_waits(
    record: &RunRecord,
    budget: &BudgetUs,
    info: &BudgetInfo,
    part: Part,
    name: &str,
) -> BudgetLayer {
    let time = budget.get(part).map(|mean_us| mean_us * info.sampled as f64 / 1e6);
    let rows = record.file_waits.iter().flatten().filter(|row| row.part == part);
    // Unknown as a whole where that of one row is.
    let count: Option<u64> = rows.map(|row| row.count).sum();
    let count = count.filter(|_| record.file_waits.is_some());
    BudgetLayer::new(name, LayerScope::Traced, time.and_then(measured), count.and_then(measured))
}

fn device_layers(device: &DeviceSample) -> Vec<BudgetLayer> {
    let layer = |kind: &str, requests: DeviceRequests| {
        let name = format!("device {}: {kind}", device.name);
        let (time, count) = (measured(requests.time.as_secs()), measured(requests.count));
        BudgetLayer::new(name, LayerScope::Machine, time, count)
    };
    let mut layers = vec![layer("reads", device.reads), layer("writes", device.writes)];
    layers.extend(device.flushes.map(|flushes| layer("flushes", flushes)));
    layers
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::counters::{CounterSample, CounterSource};
    use dbtime_model::record::{BudgetFileWait, LatencyUs, StatementSummary, WaitedFile};
    use dbtime_model::{Nanos, Product};
    use dbtime_observe::counters::{add_rows, difference};

    fn statement(count: u64, rows: u64, mean: f64) -> StatementSummary {
        let latency_us = LatencyUs { mean, ..LatencyUs::default() };
        StatementSummary { count, rows, latency_us, ..StatementSummary::default() }
    }

    fn wait(part: Part, count: Option<u64>) -> BudgetFileWait {
        let (kind, wait_s, share_pct) = (WaitedFile::Named, 0.0, 0.0);
        BudgetFileWait { waiter: None, kind, file: None, part, count, wait_s, share_pct }
    }

    /// A thousand transactions of two statements, all of which have traced parts.
    fn record() -> RunRecord {
        let mut record = RunRecord::default();
        record.latency_us.response.mean = 900.0;
        let method = BudgetMethod::Traced;
        let info = BudgetInfo { sampled: 1_000, of: 1_000, method, ..BudgetInfo::default() };
        record.budget = Some(info);
        record.budget_us = Some(BudgetUs {
            cpu: Some(300.0),
            io_read: Some(20.0),
            io_write: Some(0.0),
            sync: Some(400.0),
            total: 900.0,
            ..BudgetUs::default()
        });
        record.statements = vec![statement(1_000, 1_000, 200.0), statement(1_000, 0, 500.0)];
        let waits = [(Part::IoRead, 40), (Part::IoRead, 10), (Part::Sync, 1_000)];
        record.file_waits = Some(waits.map(|(part, count)| wait(part, Some(count))).to_vec());
        let (read_calls, write_calls) = (Some(81), Some(1_500));
        record.server = Some(ServerInfo { read_calls, write_calls, ..ServerInfo::default() });
        record
    }

    fn counted() -> CounterReport {
        let source = CounterSource { product: Product::Mariadb, version: None, url: None };
        let sample = |all: u64, reads: u64| {
            let mut sample = CounterSample::new(source.clone());
            let row = |name: &str, count: u64| {
                vec![Some(format!("Innodb_buffer_pool_{name}")), Some(count.to_string())]
            };
            let rows = [row("read_requests", all), row("reads", reads)];
            add_rows(&mut sample, "global_status", &["Variable_name", "Value"], &rows);
            sample
        };
        difference(&sample(7, 1), &sample(30_007, 81)).expect("one server")
    }

    fn device() -> DeviceSample {
        let requests = |count, ms| DeviceRequests { count, time: Nanos::from_millis(ms) };
        let (reads, writes) = (requests(60, 30), requests(2_000, 500));
        DeviceSample { name: "vda".to_owned(), reads, writes, flushes: Some(requests(900, 180)) }
    }

    fn rounded(figure: Option<f64>) -> Option<f64> {
        figure.map(f64::round)
    }

    #[test]
    fn each_layer_has_its_time_its_records_and_its_operations() {
        let layers = server_layers(&record(), Some(&counted()), Some(&device()));
        let shown: Vec<_> = layers
            .iter()
            .map(|l| (&*l.name, rounded(l.time_s.map(|s| s * 1e3)), l.operations, l.records))
            .collect();
        let rows = Some(1_000);
        let expected = [
            ("transactions, all layers", Some(900.0), Some(1_000), rows),
            ("statements, all layers", Some(700.0), Some(2_000), rows),
            ("SQL to buffer pool: CPU", Some(300.0), Some(30_000), rows),
            ("buffer pool: page reads", None, Some(80), rows),
            ("read calls", None, Some(81), rows),
            ("write calls", None, Some(1_500), rows),
            ("waits for file reads", Some(20.0), Some(50), rows),
            ("waits for file writes", Some(0.0), Some(0), rows),
            ("waits for file syncs", Some(400.0), Some(1_000), rows),
            ("device vda: reads", Some(30.0), Some(60), None),
            ("device vda: writes", Some(500.0), Some(2_000), None),
            ("device vda: flushes", Some(180.0), Some(900), None),
        ];
        assert_eq!(shown, expected);
        let each: Vec<_> = layers.iter().map(|layer| rounded(layer.time_per_op_ns)).collect();
        assert_eq!(each[..4], [Some(900_000.0), Some(350_000.0), Some(10_000.0), None]);
        assert_eq!(each[6..9], [Some(400_000.0), None, Some(400_000.0)]);
        let relative: Vec<_> = layers.iter().map(|layer| rounded(layer.relative)).collect();
        assert_eq!(relative[..4], [Some(90.0), Some(35.0), Some(1.0), None]);
        assert_eq!(relative[6..8], [Some(40.0), None]);
        let derived = layers.iter().filter(|l| l.time_from == Some(Provenance::Derived));
        assert_eq!(derived.map(|l| &*l.name).collect::<Vec<_>>(), ["SQL to buffer pool: CPU"]);
    }

    #[test]
    fn what_nobody_has_counted_is_null() {
        let mut record = record();
        // Of half of the transactions not all statements were matched.
        record.budget.as_mut().expect("there").of = 2_000;
        record.file_waits.as_mut().expect("there").push(wait(Part::Sync, None));
        record.server = None;
        let layers = server_layers(&record, None, None);
        assert_eq!(layers.len(), 7, "without calls and a device: {layers:#?}");
        let pool = &layers[UNIT];
        assert_eq!(
            (pool.operations, pool.operations_from, pool.time_per_op_ns),
            (None, None, None)
        );
        // The mean of those with parts stands for all.
        assert_eq!(rounded(pool.time_s.map(|s| s * 1e3)), Some(600.0));
        assert!(layers.iter().all(|layer| layer.relative.is_none()), "nothing to compare with");
        let [reads, _, syncs] = &layers[4..] else { panic!("{layers:#?}") };
        assert_eq!((reads.operations, reads.records), (Some(50), None));
        assert_eq!(rounded(syncs.time_s.map(|s| s * 1e3)), Some(400.0));
        assert_eq!((syncs.operations, syncs.time_per_op_ns), (None, None));
        record.file_waits = None;
        assert_eq!(server_layers(&record, None, None)[4].operations, None);
        record.budget_us = None;
        assert!(server_layers(&record, Some(&counted()), Some(&device())).is_empty());
    }
}
