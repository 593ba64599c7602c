//! Blocked in writes: pages or log that the one who waits has to write himself.

use crate::advice::case::AdviceCase;
use crate::advice::{AdviceRule, BudgetAdvice};
use crate::format::{clean, rate};
use dbtime_model::{Part, Product, SqlDialect};

pub(super) const RULE: AdviceRule = AdviceRule::new("page_writes", &[Part::IoWrite], advise);

/// What servers count where a statement has to write or wait for want of room, and what gives it.
const SHORTAGES: [(&str, &str, &str); 4] = [
    (
        "Innodb_buffer_pool_wait_free",
        "a larger innodb_buffer_pool_size, or more innodb_io_capacity",
        "memory, or more writes in the background",
    ),
    ("Innodb_log_waits", "a larger innodb_log_buffer_size", "memory"),
    ("wal_buffers_full", "larger wal_buffers", "shared memory, and a restart"),
    (
        "temp_bytes",
        "more work_mem: sorts and hashes went to temporary files",
        "memory for each sort of each session",
    ),
];

/// A shortage that fewer transactions than one in so many meet is none.
const MIN_EACH: f64 = 0.001;

/// What is written by those who wait for something else.
fn cause(case: &AdviceCase<'_>) -> String {
    let lacks = |name: &str| case.counted(name).is_some_and(|each| each >= MIN_EACH);
    let is_short = SHORTAGES.iter().find(|(name, ..)| lacks(name));
    let of = case.file(Part::IoWrite).map_or(String::new(), |file| format!(" of {file}"));
    match is_short {
        Some((name, ..)) => {
            format!("transactions wait for writes{of}, as the server lacked room ({name})")
        }
        None if case.product == Some(Product::Sqlite) => {
            format!("transactions wait for writes{of}")
        }
        None => format!(
            "transactions wait for writes{of}: a checkpoint or a log of the server keeps the disk \
             busy, or their own threads have to write"
        ),
    }
}

fn advise(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    advice.because(cause(case));
    case.file_place(Part::IoWrite).into_iter().for_each(|place| advice.figure(place));
    for (name, action, price) in SHORTAGES {
        if let Some(each) = case.counted(name).filter(|each| *each >= MIN_EACH) {
            advice.figure(format!("the server counted {} {name} per transaction", rate(each)));
            advice.step_at_price(action, price);
        }
    }
    match case.dialect() {
        Some(SqlDialect::Mysql) => mysql(case, advice),
        Some(SqlDialect::Postgres) => {
            let size = case.present("max_wal_size");
            advice.step_at_price(
                format!(
                    "a larger max_wal_size{size}: fewer checkpoints, after which pages go whole \
                     into the WAL"
                ),
                "disk space, and a longer recovery after a crash",
            );
        }
        Some(SqlDialect::Sqlite) => sqlite(case, advice),
        None => {}
    }
    advice.step("use a faster disk for these writes");
}

fn mysql(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    let sizes = ["innodb_redo_log_capacity", "innodb_log_file_size"];
    let name = sizes.into_iter().find(|name| case.setting(name).is_some()).unwrap_or(sizes[1]);
    advice.step_at_price(
        format!(
            "a larger {name}{}: pages are written later and more of them at once",
            case.present(name)
        ),
        "disk space, and a longer recovery after a crash",
    );
    if !case.is_set("innodb_flush_log_at_trx_commit", &["0"]) {
        advice.step_at_price(
            "innodb_flush_log_at_trx_commit=0: commits do not write the log either",
            "a crash of the server, or of the machine, can lose the last second of commits",
        );
    }
}

fn sqlite(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    let writes = case.record.files.iter().filter(|file| file.call == "write");
    if let Some(file) = writes.max_by_key(|file| file.bytes).filter(|file| file.count > 0) {
        let each = rate(file.count as f64 / case.record.counts.completed.max(1) as f64);
        let name = clean(&file.file);
        advice
            .figure(format!("most bytes go to the {name} file, in {each} writes per transaction"));
    }
    if case.is_set("journal_mode", &["wal"]) {
        advice.step_at_price(
            "a larger PRAGMA wal_autocheckpoint: the commit that makes the WAL that long also \
             copies it into the database",
            "the WAL gets larger, and reads look through more of it",
        );
    }
}
