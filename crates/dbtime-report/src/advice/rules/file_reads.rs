//! Blocked in reads: what the caches do not hold.

use crate::advice::case::AdviceCase;
use crate::advice::{AdviceRule, BudgetAdvice};
use crate::format::{bytes, rate};
use dbtime_model::record::WaitedFile;
use dbtime_model::{Part, Product, SqlDialect};

pub(super) const RULE: AdviceRule = AdviceRule::new("file_reads", &[Part::IoRead], advise);

const MEMORY: &str = "less memory for other caches and processes";

/// Pages of memory that had to be read in more of the waits than this are what is short. Unit:
/// percent.
const MIN_MAPPED_PCT: f64 = 50.0;

/// What is read, and why it had to be.
fn cause(case: &AdviceCase<'_>) -> String {
    let of = case.file(Part::IoRead).map_or(String::new(), |file| format!(" of {file}"));
    let target = &case.record.target;
    let memory = case.record.environment.memory_bytes;
    let fits = memory > 0 && target.data_bytes.is_some_and(|data| data < memory / 2);
    match (mapped_pct(case) >= MIN_MAPPED_PCT, fits) {
        (true, _) => "pages of memory had to be read back from swap, programs or mapped files: \
             memory is short"
            .to_owned(),
        (false, true) => format!(
            "pages{of} are read from the disk: for the first time, or because a cache is too small"
        ),
        (false, false) => format!("pages{of} are read from the disk: the caches do not hold them"),
    }
}

/// How much of the waits was for pages of memory. Unit: percent.
fn mapped_pct(case: &AdviceCase<'_>) -> f64 {
    let rows = case.record.file_waits.iter().flatten();
    let mapped = rows.filter(|row| row.part == Part::IoRead && row.kind == WaitedFile::Mapped);
    mapped.map(|row| row.share_pct).sum()
}

fn advise(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    advice.because(cause(case));
    if mapped_pct(case) >= MIN_MAPPED_PCT {
        advice.step(
            "give the server memory: less for caches and other processes, a higher limit of its \
             control group (memory.max), no swap (vm.swappiness)",
        );
    }
    case.file_place(Part::IoRead).into_iter().for_each(|place| advice.figure(place));
    let target = &case.record.target;
    let memory = case.record.environment.memory_bytes;
    if let Some(data) = target.data_bytes.filter(|_| memory > 0) {
        let (data, memory) = (bytes(data), bytes(memory));
        advice.figure(format!("{data} of data on a machine of {memory}"));
    }
    for name in ["Innodb_buffer_pool_reads", "blks_read"] {
        if let Some(each) = case.counted(name) {
            advice.figure(format!("the server counted {} {name} per transaction", rate(each)));
        }
    }
    let cache = match case.dialect() {
        Some(SqlDialect::Mysql) => Some("innodb_buffer_pool_size"),
        Some(SqlDialect::Postgres) => Some("shared_buffers"),
        Some(SqlDialect::Sqlite) => Some("cache_size"),
        None => None,
    };
    if let Some(name) = cache {
        let present = case.present(name);
        let price = match case.product {
            Some(Product::Postgres) => "less memory for the kernel's cache, and a restart",
            _ => MEMORY,
        };
        advice.step_at_price(format!("a larger {name}{present}"), price);
    }
    if target.data_bytes.is_some_and(|data| memory > 0 && data < memory / 2) {
        advice.step("a longer --warmup: the data fits into memory, and is read from the disk once");
    }
    advice.step("read fewer pages: use a covering index");
    advice.step("use a faster disk for the data");
}
