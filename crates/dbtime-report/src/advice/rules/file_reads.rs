//! Blocked in reads: what the caches do not hold.

use crate::advice::case::AdviceCase;
use crate::advice::{AdviceRule, BudgetAdvice};
use crate::format::{bytes, rate};
use dbtime_model::{Part, Product};

pub(super) const RULE: AdviceRule =
    AdviceRule { name: "file_reads", parts: &[Part::IoRead], steps: advise };

const MEMORY: &str = "memory that other caches and processes lack then";

fn advise(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
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
    let cache = match case.product {
        Some(Product::Mariadb | Product::Mysql) => Some("innodb_buffer_pool_size"),
        Some(Product::Postgres) => Some("shared_buffers"),
        Some(Product::Sqlite) => Some("cache_size"),
        None => None,
    };
    if let Some(name) = cache {
        let present = case.present(name);
        let price = match case.product {
            Some(Product::Postgres) => "memory that the kernel's cache lacks then, and a restart",
            _ => MEMORY,
        };
        advice.step_at_price(format!("a larger {name}{present}"), price);
    }
    if target.data_bytes.is_some_and(|data| memory > 0 && data < memory / 2) {
        advice.step("a longer --warmup: the data fits into memory, and is read from the disk once");
    }
    advice.step("read fewer pages: an index that has all they need");
    advice.step("use a faster disk for the data");
}
