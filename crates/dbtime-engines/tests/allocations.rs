//! Nothing is allocated per transaction in the steady state.

mod counting;

use counting::ALLOCATIONS;
use dbtime_engines::databases::null::{self, NullTarget};
use dbtime_engines::databases::sqlite::SqlitePool;
use dbtime_engines::databases::sqlite::{MeasureLevel, SqliteAdmin, SqliteTarget};
use dbtime_engines::drive::observer::NoObserver;
use dbtime_engines::drive::plan::{LoadDemand, LoadPlan, RunStop};
use dbtime_engines::drive::pool;
use dbtime_engines::load_marker::LoadMarker;
use dbtime_load::pipelining::Pipelining;
use dbtime_load::queue::Backlog;
use dbtime_load::workload::Workload;
use dbtime_model::Nanos;
use std::sync::Arc;
use std::sync::atomic::Ordering;

fn plan(workload: &str, transactions: u64) -> LoadPlan {
    LoadPlan {
        workload: Arc::new(Workload::find(workload).expect("shipped")),
        scale: 1,
        seed: 1,
        first: 0,
        demand: LoadDemand::Closed { clients: 1, think: None },
        backlog: Backlog::Wait,
        concurrency: 1,
        warmup: Nanos::ZERO,
        measure: None,
        transactions: Some(transactions),
        rundown: Nanos::ZERO,
        late_start: Nanos::ZERO,
        budget_every: 1,
        shards: 1,
        pipelining: Pipelining::Off,
    }
}

/// Allocations of a run of 2000 transactions beyond those of a run of 1000, the least of twenty
/// tries: the test harness allocates too, now and then, and so does who notes that it stood still.
fn growth(mut run: impl FnMut(u64)) -> u64 {
    let mut allocations = |transactions| {
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        run(transactions);
        ALLOCATIONS.load(Ordering::Relaxed) - before
    };
    allocations(1000);
    let mut least = u64::MAX;
    for _ in 0..20 {
        let (short, long) = (allocations(1000), allocations(2000));
        least = least.min(long.saturating_sub(short));
        if least == 0 {
            break;
        }
    }
    least
}

/// One test, so that nothing else allocates meanwhile.
#[test]
fn nothing_is_allocated_per_transaction() {
    for workload in ["values1", "point-select", "atm", "oltp-read-write", "tpcb"] {
        let grown = growth(|transactions| {
            let stop = RunStop::default();
            null::drive(&plan(workload, transactions), NullTarget::default(), &NoObserver, &stop)
                .expect("driven");
        });
        assert_eq!(grown, 0, "{workload} on null allocates");
    }

    let folder = tempfile::tempdir().expect("a folder");
    let target = SqliteTarget::new(folder.path().join("atm.db"));
    let atm = Workload::find("atm").expect("shipped");
    let admin = SqliteAdmin::create(&target).expect("a new file");
    admin.create_tables(&atm.tables).expect("tables");
    for (index, table) in atm.tables.iter().enumerate() {
        let data = atm.table_data(index, 1, 1);
        let fill = |row, values: &mut Vec<_>| data.fill_row(row, values);
        admin.load(table, data.row_count(), fill, |_| true).expect("rows");
    }
    let (workload, version) = ("atm".to_owned(), String::new());
    admin.finish(&LoadMarker { workload, scale: 1, seed: 1, version }).expect("whole");
    let grown = growth(|transactions| {
        let plan = plan("atm", transactions);
        let database =
            SqlitePool::new(target.clone(), &plan.workload.statements, 1, MeasureLevel::Budget);
        let stop = RunStop::default();
        pool::drive(&plan, &database, &NoObserver, &stop).expect("a connection");
    });
    // SQLite's own allocator is the C library's and not counted here.
    assert_eq!(grown, 0, "atm on SQLite allocates");
}
