//! No record, whatever its figures and names, makes a report panic or hang, or lets a text of the
//! record become markup.
#![no_main]

use dbtime_report::{html, terminal};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let run = dbtime_fuzz::run(bytes);
    let page = html::report(&run);
    assert!(!page.contains("<script"), "a text of the record became markup");
    let style = terminal::PageStyle::default();
    let options = terminal::TerminalOptions { style, histogram: true, threads: true };
    let text = terminal::run_report(&run, &options);
    let is_control = |c: char| c.is_control() && c != '\n';
    assert!(!text.contains(is_control), "a control character reached the terminal");
});
