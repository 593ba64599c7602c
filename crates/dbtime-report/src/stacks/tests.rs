//! Functions that stand for stacks, and the sentences beside them.

use super::*;
use dbtime_model::record::{FoldedStacks, StacksInfo, TraceInfo};

/// A run with stacks, a line each; the last word is the weight.
pub(crate) fn run(on_cpu: Option<&str>, off_cpu: &str) -> Run {
    let stack = |line: &str| {
        let (frames, weight) = line.rsplit_once(' ').expect("a weight");
        let frames = frames.split(';').map(str::to_owned).collect();
        FoldedStack { frames, weight: weight.parse().expect("a number") }
    };
    let stacks = |lines: &str| lines.lines().map(stack).collect::<Vec<_>>();
    let sums = |stacks: &[FoldedStack], unit: f64| {
        let weight: u64 = stacks.iter().map(|stack| stack.weight).sum();
        let time_s = weight as f64 * unit;
        StackSums { count: weight.min(7), time_s, cut_pct: Some(25.0), unnamed_pct: Some(0.0) }
    };
    let (on_cpu, off_cpu) = (on_cpu.map(stacks), stacks(off_cpu));
    let info = StacksInfo {
        sampling: on_cpu.as_ref().map(|_| "cpu-clock".to_owned()),
        samples_per_s: on_cpu.as_ref().map(|_| 199),
        on_cpu: on_cpu.as_deref().map(|stacks| sums(stacks, 0.005)),
        off_cpu: sums(&off_cpu, 1e-6),
        lost: 0,
    };
    let mut run = Run::default();
    run.record.trace = Some(TraceInfo { stacks: Some(info), ..TraceInfo::default() });
    run.stacks = FoldedStacks { on_cpu, off_cpu: Some(off_cpu) };
    run
}

fn shown(view: &StackView<'_>) -> Vec<String> {
    let line = |one: &TopFunction| {
        let TopFunction { part, function, callers, weight, share_pct } = one;
        format!("{part}|{function}|{callers}|{weight}|{share_pct}")
    };
    view.top(5).iter().map(line).collect()
}

#[test]
fn the_innermost_function_with_a_name_stands_for_a_stack() {
    let on = "pay;commit;main;work;[server]+0x1;copy_[k];fault_[k] 3\n\
              pay;commit;main;work;[server]+0x2 1\n\
              pay;read;[cut];[server]+0x2 4";
    let off = "pay;commit;sync;main;trans_commit;[server]+0x3;fsync;do_fsync_[k];schedule_[k] 90\n\
               pay;read;sync;main;trans_commit;fsync;schedule_[k] 5\n\
               pay;read;lock;[no stack] 5";
    let run = run(Some(on), off);
    let [on, off] = &StackView::of(&run)[..] else { panic!("two kinds") };
    let on_cpu = ["|[server]+0x2||4|50", "|fault_[k]|work|3|37.5", "|work|main|1|12.5"];
    assert_eq!(shown(on), on_cpu);
    assert_eq!(shown(off), ["sync|fsync|trans_commit < main|95|95", "lock|[no stack]||5|5"]);
    assert_eq!((on.weight(1), off.weight(1500)), ("1 sample".to_owned(), "1.50 ms".to_owned()));
    assert_eq!(
        on.note(),
        "7 samples at 199 a second and CPU, which stand for 40.0 ms; 25 % are cut, for lack of \
         frame pointers"
    );
    assert_eq!(
        off.note().split(';').next(),
        Some("7 waits, 100 µs in all: those for a CPU are not among them")
    );
}

#[test]
fn where_nothing_was_sampled_that_is_said() {
    let run = run(None, "pay;read;lock;main 5");
    assert_eq!(
        StackView::of(&run).iter().map(|view| view.name).collect::<Vec<_>>(),
        ["stacks-off-cpu"]
    );
    assert!(without_samples(&run).is_some_and(|text| text.contains("no event to sample")));
    assert_eq!(lost(&run), None);
    assert!(
        StackView::of(&Run::default()).is_empty() && without_samples(&Run::default()).is_none()
    );
}
