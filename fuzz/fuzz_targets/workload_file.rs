//! No text makes the reader of workload files, or a program made from it, panic or hang.
#![cfg_attr(feature = "link", no_main)]

use dbtime_load::program::{ProgramEvent, ProgramStep, Ticket};
use dbtime_load::workload::Workload;
use dbtime_model::{MonoNanos, OperationId};
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|input: (u8, &str)| {
    let (scale, text) = input;
    let scale = [0, 1, 2, 1000, u64::MAX][usize::from(scale) % 5];
    let Ok(workload) = Workload::parse(text, Path::new("fuzz.toml")) else { return };
    let _ = (workload.check_scale(scale), workload.size(scale));
    let mut program = workload.program(scale, 1);
    for operation in 0..workload.operations.len().min(3) {
        for index in [0, u64::MAX] {
            let operation = OperationId(operation as u16);
            program.start(&Ticket { index, operation, due: MonoNanos(0), client: 0 });
            for _ in 0..50 {
                if program.resume(ProgramEvent::Answered { rows: 0, first: &[] })
                    == ProgramStep::Done
                {
                    break;
                }
            }
        }
    }
    let mut row = Vec::new();
    for table in 0..workload.tables.len().min(3) {
        let data = workload.table_data(table, scale, 1);
        [0, 1, u64::MAX].iter().for_each(|index| data.fill_row(*index, &mut row));
    }
});

/// Where it is only checked.
#[cfg(not(feature = "link"))]
fn main() {}
