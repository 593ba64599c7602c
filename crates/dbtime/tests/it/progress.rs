//! What is shown of work that takes long, where stderr is no terminal.

use crate::sandbox::Sandbox;

#[test]
fn a_log_gets_a_line_every_ten_seconds_unless_quiet() {
    let sandbox = Sandbox::new();
    // Long enough for a line that comes late, and not for a second one.
    let line = "run values1 --target null --rate 20 --warmup 1 --time 13 --no-record --json";
    let shown = sandbox.start(line);
    let quiet = sandbox.start(&format!("{line} --quiet"));
    let (shown, quiet) = (shown.end().fine(), quiet.end().fine());
    let [line] = shown.err.lines().collect::<Vec<_>>()[..] else { panic!("{shown:?}") };
    let in_course = line.starts_with("progress: measuring ") && line.contains(" of 14 s, ");
    assert!(in_course && line.contains(" s left, ") && line.contains("/s, p50 "), "{line}");
    assert_eq!(quiet.err, "");
}
