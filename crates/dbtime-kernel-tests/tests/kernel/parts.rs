//! Where the time of a request goes, by timelines of the thread that serves it.

use super::server::{WatchedServer, streamed};
use super::timeline::{
    BEGIN, FILE, SOCKET, SchedulerEvent, ThreadState, ThreadTimeline, TimelineEvent, UNIT,
};
use dbtime_kernel_tests::HostTask;
use dbtime_model::traced::TracedRequest;
use dbtime_model::traced_stacks::TracedStack;
use dbtime_model::{Nanos, Part, Parts, WireProtocol};
use dbtime_observe::trace::CaptureConfig;
use dbtime_observe::trace::fuzzing::server_row;

/// A query of PostgreSQL's, and its answer.
pub(crate) const QUERY: &[u8] = b"Q\0\0\0\x0dSELECT 1\0";
pub(crate) const ANSWER: &[u8] = b"C\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I";

/// Has the first row's thread serve a request from the first letter to the last, and the others run
/// beside it. The programs are told of these events alone, in this order.
pub(crate) fn served(
    timeline: &ThreadTimeline,
    events: &[TimelineEvent],
) -> (WatchedServer, TracedRequest) {
    let config = CaptureConfig { stacks: true, ..streamed() };
    let mut server = WatchedServer::new(WireProtocol::Postgres, &config);
    let request = serve(&mut server, timeline, events);
    assert_eq!(server.requests().len(), 1);
    (server, request)
}

/// The same with the thread that the server has now.
fn serve(
    server: &mut WatchedServer,
    timeline: &ThreadTimeline,
    events: &[TimelineEvent],
) -> TracedRequest {
    let tasks = tasks_of(server, timeline);
    begins(server, timeline, BEGIN);
    server.reads(QUERY);
    events.iter().for_each(|event| happens(server, &tasks, event));
    ends(server, timeline, &tasks);
    server.sends(ANSWER);
    server.finds_nothing();
    let request = server.requests().pop().expect("it was seen");
    assert_eq!((request.start.0, request.end.0), (BEGIN, timeline.end()));
    check_stacks(&request);
    request
}

/// Has the first row's thread read a request behind the last letter, which comes with the letter
/// of this number. It has answered one before the first letter.
pub(crate) fn read_behind(timeline: &ThreadTimeline, arrival: usize) -> TracedRequest {
    let mut server = WatchedServer::new(WireProtocol::Postgres, &streamed());
    let tasks = tasks_of(&mut server, timeline);
    begins(&mut server, timeline, BEGIN - UNIT);
    server.reads(QUERY);
    server.sends(ANSWER);
    server.finds_nothing();
    let arrived = BEGIN + UNIT * arrival as u64;
    let events = timeline.events();
    let (before, behind) = events.split_at(events.partition_point(|event| event.at < arrived));
    before.iter().for_each(|event| happens(&mut server, &tasks, event));
    server.machine.set_clock(arrived);
    server.capture.data_ready(&mut server.machine, server.socket, 1);
    behind.iter().for_each(|event| happens(&mut server, &tasks, event));
    ends(&mut server, timeline, &tasks);
    server.machine.set_unread(server.socket, 0);
    server.reads(QUERY);
    server.sends(ANSWER);
    server.finds_nothing();
    server.requests().pop().expect("it was seen")
}

/// The threads of the rows, of which the server's is the first.
fn tasks_of(server: &mut WatchedServer, timeline: &ThreadTimeline) -> Vec<HostTask> {
    const REGULAR: u32 = 0o100_000;
    const CONNECTION: u32 = 0o140_000;
    let names = timeline.names.iter().enumerate().skip(1);
    let others = names.map(|(number, name)| server.machine.task(200 + number as u32, None, name));
    let tasks = [server.task].into_iter().chain(others).collect();
    server.machine.open_file(server.task, FILE, REGULAR, ("base", "ibdata1"));
    server.machine.open_file(server.task, SOCKET, CONNECTION, ("", "socket"));
    tasks
}

/// The server's thread has the CPU of its first letter.
fn begins(server: &mut WatchedServer, timeline: &ThreadTimeline, at: u64) {
    let ThreadState::On(cpu) = timeline.rows[0][0] else {
        panic!("it begins on a CPU: {timeline:?}")
    };
    server.machine.set_clock(at);
    server.machine.run(server.task, cpu);
}

/// It has that of its last one.
fn ends(server: &mut WatchedServer, timeline: &ThreadTimeline, tasks: &[HostTask]) {
    let Some(ThreadState::On(cpu)) = timeline.rows[0].last() else { panic!("it ends on a CPU") };
    let facts = timeline.last_facts();
    tasks.iter().zip(&facts).for_each(|(task, facts)| server.machine.set_facts(*task, facts));
    server.machine.set_clock(timeline.end());
    server.machine.run(server.task, *cpu);
}

/// Where a thread waited is known for each part that is waiting, and all of it.
fn check_stacks(request: &TracedRequest) {
    let mut waits = Parts::default();
    for TracedStack { part, user, kernel, count, length } in &request.stacks {
        assert!(*user > 0 && *kernel > 0 && user != kernel && *count > 0, "{:?}", request.stacks);
        waits.add(*part, length.signed());
    }
    let has_cpu = [Part::Cpu, Part::RunqPreempted, Part::RunqWoken, Part::Throttled];
    for part in Part::TRACED.into_iter().filter(|part| !has_cpu.contains(part)) {
        assert_eq!(waits.get(part), request.parts.get(part), "{}: {request:?}", part.name());
    }
}

fn happens(server: &mut WatchedServer, tasks: &[HostTask], event: &TimelineEvent) {
    let facts = tasks.iter().zip(&event.facts);
    facts.for_each(|(task, facts)| server.machine.set_facts(*task, facts));
    server.machine.set_clock(event.at);
    server.machine.set_throttled(&event.throttled);
    let idle = server.idle;
    let WatchedServer { machine, capture, .. } = server;
    let task = |thread: Option<usize>| thread.map_or(idle, |thread| tasks[thread]);
    match event.what {
        SchedulerEvent::Wakes(thread) => {
            // Whoever runs wakes it, or an interrupt of nobody's.
            let waker = (0..tasks.len()).find(|one| event.facts[*one].is_on_cpu > 0);
            machine.run(task(waker), 0);
            capture.waking(machine, tasks[thread], waker.is_none());
        }
        SchedulerEvent::Switches { cpu, from, to, next } => {
            let is_preempted = next == ThreadState::Preempted;
            machine.run(task(from), cpu);
            capture.switch(machine, (task(from), task(to)), next.left_for(), is_preempted);
        }
    }
}

/// Parts that are something, in letters: `cpu 3, lock 2`. All of them are the whole.
fn parts_of(drawn: &str) -> String {
    let timeline = ThreadTimeline::of(drawn);
    let (_, request) = served(&timeline, &timeline.events());
    assert_eq!(request.parts.total().unsigned_abs(), timeline.end() - BEGIN, "{:?}", request.parts);
    shown(&request.parts)
}

/// The parts with their names, in the kernel's order.
pub(crate) fn named(parts: &Parts) -> [(&'static str, Nanos); 12] {
    Part::TRACED.map(|part| (part.name(), parts.duration(part)))
}

fn shown(parts: &Parts) -> String {
    let some = named(parts).into_iter().filter(|(_, part)| part.0 > 0);
    let some = some.map(|(name, part)| format!("{name} {}", part.0 as f64 / UNIT as f64));
    some.collect::<Vec<_>>().join(", ")
}

/// Who had the CPU while it could have run, and for how many letters.
fn rivals(request: &TracedRequest) -> Vec<(&str, u64)> {
    request.preemptors.iter().map(|one| (&*one.name, one.length.0 / UNIT)).collect()
}

#[test]
fn a_thread_that_keeps_its_cpu_has_all_its_time_there() {
    assert_eq!(parts_of("A 000000"), "cpu 6");
}

#[test]
fn whoever_has_the_cpu_instead_is_a_pre_emptor() {
    let timeline = ThreadTimeline::of(
        "A  000ppp000pp0
         B  ...000......
         C  .........00.",
    );
    let (_, request) = served(&timeline, &timeline.events());
    assert_eq!(shown(&request.parts), "cpu 7, runq_preempted 5");
    assert_eq!(rivals(&request), [("B", 3), ("C", 2)]);
}

#[test]
fn a_thread_that_sleeps_waits_for_what_it_has_called() {
    assert_eq!(
        parts_of("A 00ll0rrr0ffff0sssss0nn0zz0oo0"),
        "cpu 9, lock 2, io_read 3, io_write 4, sync 5, net 2, sleep 2, other 2"
    );
}

#[test]
fn what_was_woken_waits_for_a_cpu() {
    let timeline = ThreadTimeline::of(
        "A  00llwww0
         B  ..00000.",
    );
    let (_, request) = served(&timeline, &timeline.events());
    assert_eq!(shown(&request.parts), "cpu 3, runq_woken 3, lock 2");
    assert_eq!(rivals(&request), [("B", 3)]);
}

#[test]
fn a_wait_is_for_each_that_had_the_cpu_in_it() {
    let timeline = ThreadTimeline::of(
        "A  00ppppppp0
         B  ..00......
         C  ....0000..
         D  ........0.",
    );
    let (_, request) = served(&timeline, &timeline.events());
    assert_eq!(shown(&request.parts), "cpu 3, runq_preempted 7");
    assert_eq!(rivals(&request), [("C", 4), ("B", 2), ("D", 1)]);
}

#[test]
fn an_idle_cpu_is_in_nobody_s_way() {
    let timeline = ThreadTimeline::of("A  00llwww0");
    let (_, request) = served(&timeline, &timeline.events());
    assert_eq!(shown(&request.parts), "cpu 3, runq_woken 3, lock 2");
    assert!(rivals(&request).is_empty(), "{request:?}");
}

#[test]
fn a_thread_may_go_on_elsewhere() {
    assert_eq!(
        parts_of(
            "A  000pp11llw22p2
             B  ...00000......
             C  ............2.",
        ),
        "cpu 8, runq_preempted 3, runq_woken 1, lock 2"
    );
}

#[test]
fn what_is_stopped_is_stopped_whatever_it_had_called() {
    assert_eq!(parts_of("A 00TTTT00FFFw0"), "cpu 5, runq_woken 1, stopped 7");
}

#[test]
fn a_control_group_that_has_used_up_its_share_is_nobodys_fault() {
    let timeline = ThreadTimeline::of("A 00tttp00");
    let (_, request) = served(&timeline, &timeline.events());
    assert_eq!(shown(&request.parts), "cpu 4, runq_preempted 1, throttled 3");
    assert!(rivals(&request).is_empty(), "{request:?}");
    assert_eq!(parts_of("A 00llttw0"), "cpu 3, runq_woken 1, lock 2, throttled 2");
}

#[test]
fn files_are_named_that_were_waited_for() {
    let timeline = ThreadTimeline::of("A 00rr0sss0rr0");
    let (_, request) = served(&timeline, &timeline.events());
    let waits =
        request.files.iter().map(|wait| (wait.part.name(), wait.count, wait.length.0 / UNIT));
    assert_eq!(waits.collect::<Vec<_>>(), [("io_read", 2, 4), ("sync", 1, 3)]);
    assert_eq!(format!("{:?}", request.files[0].file), "Named(\"ibdata1\")");
}

#[test]
fn whoever_wakes_a_thread_by_a_futex_let_its_lock_go() {
    let timeline = ThreadTimeline::of(
        "A  00lllll0
         B  ..00000.",
    );
    let (_, request) = served(&timeline, &timeline.events());
    let blocker = request.blocker.expect("it has waited");
    assert_eq!((blocker.thread, blocker.length.0), (Some(201), 5 * UNIT));
    let alone = ThreadTimeline::of("A 00lllll0");
    let (_, request) = served(&alone, &alone.events());
    let blocker = request.blocker.expect("it has waited");
    assert_eq!((blocker.thread, blocker.length.0), (None, 5 * UNIT), "a timer ended it");
}

/// Such as a worker, which a client can end by that number.
#[test]
fn a_process_that_serves_nobody_has_the_number_that_its_server_knows() {
    let timeline = ThreadTimeline::of(
        "A  00lllll0
         B  ..00000.",
    );
    for is_servers in [false, true] {
        let config = CaptureConfig { stacks: true, ..streamed() };
        let mut server = WatchedServer::new(WireProtocol::Postgres, &config);
        if is_servers {
            let row = server_row(WireProtocol::Postgres);
            server.machine.put("servers", &201u32.to_ne_bytes(), &row);
        }
        let request = serve(&mut server, &timeline, &timeline.events());
        let blocker = request.blocker.expect("it has waited");
        let known = (blocker.thread, blocker.connection, blocker.server_id);
        assert_eq!(known, (Some(201), None, is_servers.then_some(201)));
    }
}

/// All that happens but for what `is_lost`; what happens in the first letters is told in any case,
/// for by that the scheduler's clock is known.
fn parts_without(drawn: &str, is_lost: impl Fn(&SchedulerEvent) -> bool) -> String {
    const KNOWN: u64 = BEGIN + 4 * UNIT;
    let timeline = ThreadTimeline::of(drawn);
    let mut events = timeline.events();
    events.retain(|event| event.at <= KNOWN || !is_lost(&event.what));
    let (_, request) = served(&timeline, &events);
    assert_eq!(request.parts.total().unsigned_abs(), timeline.end() - BEGIN, "{:?}", request.parts);
    shown(&request.parts)
}

#[test]
fn that_a_thread_gets_the_cpu_need_not_be_told() {
    let is_arrival =
        |event: &SchedulerEvent| matches!(event, SchedulerEvent::Switches { to: Some(0), .. });
    let drawn = "A  0n0000pp11llww00n0ppp00";
    let whole = "cpu 12, runq_preempted 5, runq_woken 2, lock 2, net 2";
    assert_eq!(parts_of(drawn), whole);
    assert_eq!(parts_without(drawn, is_arrival), whole);
}

#[test]
fn that_a_thread_is_woken_need_not_be_told() {
    let is_waking = |event: &SchedulerEvent| matches!(event, SchedulerEvent::Wakes(_));
    let drawn = "A  0n0000llwww0nw00";
    let whole = "cpu 8, runq_woken 4, lock 2, net 2";
    assert_eq!(parts_of(drawn), whole);
    assert_eq!(parts_without(drawn, is_waking), whole);
}

/// Its first sleep is ended by a timer, of which some kernels tell nothing; another thread has
/// slept before.
#[test]
fn a_new_thread_has_the_clocks_of_the_others() {
    let first = ThreadTimeline::of("A  0nw00nw0");
    let (mut server, _) = served(&first, &first.events());
    server.task = server.machine.task(300, Some(server.task), "new");
    let timeline = ThreadTimeline::of("A  0lllww00");
    let mut events = timeline.events();
    events.retain(|event| !matches!(event.what, SchedulerEvent::Wakes(_)));
    let request = serve(&mut server, &timeline, &events);
    assert_eq!(shown(&request.parts), "cpu 3, runq_woken 2, lock 3");
}

/// Why is not known, nor that it had the CPU meanwhile: that is nobody's part.
#[test]
fn that_a_thread_leaves_its_cpu_has_to_be_told() {
    let timeline = ThreadTimeline::of("A  00lll00ss00");
    let mut events = timeline.events();
    events.remove(0);
    let (_, request) = served(&timeline, &events);
    assert_eq!(shown(&request.parts), "cpu 4, sync 2");
    assert_eq!(timeline.end() - BEGIN - request.parts.total().unsigned_abs(), 5 * UNIT);
}

#[test]
fn clocks_of_cpus_may_differ() {
    let timeline = ThreadTimeline::of("A  00p1111");
    let mut events = timeline.events();
    // CPU 1 is behind by more than the wait took.
    events[1].at = events[0].at - 300;
    let (_, request) = served(&timeline, &events);
    assert_eq!(request.parts.get(Part::RunqPreempted), 0, "{:?}", request.parts);
    assert_eq!(request.parts.total().unsigned_abs(), timeline.end() - BEGIN);
}
