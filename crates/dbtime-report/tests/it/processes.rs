//! The tables of processes and the reports of usage, from hand-made figures: golden, no wider than
//! the terminal, and what is not known is never shown as zero.

use dbtime_model::Nanos;
use dbtime_model::process::{
    CommandExit, ContextSwitches, CpuSplit, CpuTicks, IoBytes, Microstates, PageFaults, ProcessId,
    ProcessMemory, ProcessPresence, ProcessTable, ProcessUse, ResourceUsage, Rusage,
    ScheduledTimes, ServerUse, ShareOf, ThreadUse, ThreadsUse, UsageRates, UsageReport,
    WholeMachine,
};
use dbtime_report::reports::{ProcessesOptions, process_document, usage_document};
use dbtime_report::terminal::{COLUMNS, PageStyle};
use unicode_width::UnicodeWidthStr;

const SECOND: u64 = 1_000_000_000;

fn resources(cpu: u64, user_ticks: u64, system_ticks: u64) -> ResourceUsage {
    let ticks = CpuTicks {
        user: Nanos::from_millis(user_ticks * 10),
        system: Nanos::from_millis(system_ticks * 10),
    };
    ResourceUsage {
        cpu: Nanos(cpu),
        ticks,
        run_delay: Some(Nanos(cpu / 7)),
        io_delay: None,
        switches: Some(ContextSwitches { voluntary: 74_100, involuntary: 310 }),
        faults: Some(PageFaults { minor: 5120, major: 3 }),
        io: Some(IoBytes {
            read_bytes: 12 << 20,
            written_bytes: 345 << 20,
            read_chars: 80 << 20,
            written_chars: 400 << 20,
            read_calls: 900,
            write_calls: 12_000,
            cancelled_bytes: 0,
        }),
    }
}

fn memory(rss: u64) -> ProcessMemory {
    ProcessMemory {
        rss_bytes: rss,
        rss_shared_bytes: rss / 3,
        rss_peak_bytes: Some(rss + (1 << 20)),
        vsize_bytes: rss * 9,
    }
}

fn process(pid: u32, command: &str, resources: ResourceUsage) -> ProcessUse {
    ProcessUse {
        id: ProcessId { pid, start_tick: u64::from(pid) },
        parent: 1,
        uid: 105,
        user: "mysql".to_owned(),
        name: command.split(' ').next().unwrap_or("").rsplit('/').next().unwrap_or("").to_owned(),
        command: command.to_owned(),
        presence: ProcessPresence::Stayed,
        wall: Nanos(10 * SECOND + 313_000),
        split: CpuSplit::of(resources.cpu, resources.ticks),
        resources,
        scheduled: None,
        reaped_cpu: Nanos::ZERO,
        memory: Some(memory(278 << 20)),
        threads: 45,
        each_thread: Vec::new(),
    }
}

fn thread(pid: u32, name: &str, resources: ResourceUsage) -> ThreadUse {
    let id = ProcessId { pid, start_tick: 7 };
    let resources = ResourceUsage { io: None, ..resources };
    ThreadUse {
        id,
        name: name.to_owned(),
        split: CpuSplit::of(resources.cpu, resources.ticks),
        resources,
        scheduled: None,
    }
}

/// A server, its load generator, and what came and went beside them.
fn table(of: ShareOf) -> ProcessTable {
    let server = "/u/dist/mariadb/bin/mariadbd --defaults-file=/etc/mysql/with/a/long/path/my.cnf \
                  --datadir=/var/lib/mysql --port=3306";
    let mut mariadbd = process(7141, server, resources(9_512_345_678, 884, 68));
    mariadbd.each_thread = vec![
        thread(7190, "one_connection", resources(9_200_000_000, 860, 60)),
        thread(7150, "io-worker 3", resources(5_000_000, 0, 0)),
    ];
    let sysbench = process(
        19870,
        "sysbench --mysql-password=*** oltp_read_only run",
        resources(1_001_400_000, 50, 50),
    );
    let mut shell =
        process(19869, "/bin/sh ./run-sysbench", ResourceUsage { io: None, ..resources(0, 0, 0) });
    shell.reaped_cpu = Nanos::from_millis(340);
    shell.memory = None;
    let unknown = |pid, command, presence, cpu| ProcessUse {
        presence,
        memory: None,
        wall: Nanos(SECOND / 3),
        ..process(pid, command, ResourceUsage { cpu: Nanos(cpu), ..ResourceUsage::default() })
    };
    let uses = vec![
        shell,
        sysbench,
        unknown(20001, "gzip -9 \u{1b}[2J\nx", ProcessPresence::Came, 310_000_000),
        mariadbd,
        unknown(19990, "[mariadb-admin]", ProcessPresence::Went, 0),
        unknown(20007, "sh -c true", ProcessPresence::CameAndWent, 1_200_000),
    ];
    ProcessTable {
        started_at: "2026-11-21T09:53:40.108Z".to_owned(),
        wall: Nanos(10 * SECOND + 401_000),
        machine_busy_pct: 62.14,
        machine_steal_pct: 0.31,
        ..ProcessTable::new(uses, of, 2)
    }
}

fn usage() -> UsageReport {
    let wall = Nanos(15_908_000_000);
    let resources = resources(13_084_000_000, 1200, 108);
    let split = CpuSplit::of(resources.cpu, resources.ticks);
    let used = ServerUse {
        wall,
        split,
        resources,
        memory: Some(memory(278 << 20)),
        processes: 1,
        threads: 45,
        came: 0,
        went: 0,
    };
    UsageReport {
        started_at: "2026-11-21T09:53:40.108Z".to_owned(),
        pid: 7141,
        command: "/usr/sbin/mariadbd --datadir=/var/lib/mysql".to_owned(),
        with_descendants: true,
        tick: Nanos::from_millis(10),
        per_second: UsageRates::of(&resources, wall),
        microstates: Microstates::of(&resources, split, Nanos(45 * wall.0)),
        memory_before: Some(memory(270 << 20)),
        rss_most_bytes: Some(280 << 20),
        used,
        ..UsageReport::default()
    }
}

/// A PostgreSQL of many processes, with threads by name.
fn usage_of_many() -> UsageReport {
    let mut report = usage();
    report.command = "/usr/lib/postgresql/15/bin/postgres -D /var/lib/postgresql".to_owned();
    (report.used.processes, report.used.threads) = (26, 26);
    (report.used.came, report.used.went) = (3, 2);
    let each = |n: u32| {
        let command = format!("postgres: joe shop 127.0.0.1(4{n:03}) idle in transaction");
        process(8000 + n, &command, resources(u64::from(40 - n) * 1_000_000, 1, 0))
    };
    report.each = (0..26).map(each).collect();
    let backends = resources(13_000_000_000, 1200, 108);
    report.by_thread = vec![
        ThreadsUse {
            name: "postgres: client backend".to_owned(),
            threads: 20,
            split: CpuSplit::of(backends.cpu, backends.ticks),
            resources: backends,
        },
        ThreadsUse::ended(Nanos::from_millis(84)),
    ];
    report
}

/// A command that a signal ended, of which this user may not know everything.
fn usage_of_command() -> UsageReport {
    let mut report = usage();
    report.exit = Some(CommandExit { code: None, signal: Some(9) });
    report.used.resources.io = None;
    report.per_second = UsageRates::of(&report.used.resources, report.used.wall);
    report.used.memory = None;
    report.memory_before = None;
    let rusage = Rusage {
        user: Nanos::from_millis(1200),
        system: Nanos::from_millis(34),
        max_rss_bytes: 13 << 20,
        minor_faults: 9_800,
        major_faults: 4,
        blocks_in: 648,
        blocks_out: 41_000,
        voluntary_switches: 129,
        involuntary_switches: 414,
    };
    report.settle(rusage, None);
    report
}

fn process_text(table: &ProcessTable, options: ProcessesOptions, room: Option<usize>) -> String {
    process_document(table, options).wide_text(PageStyle::default(), room)
}

/// The text of a table with nothing more, where there is room for all.
fn whole_text(table: &ProcessTable) -> String {
    process_text(table, ProcessesOptions::default(), None)
}

fn fits(name: &str, text: &str, room: usize) {
    for line in text.lines() {
        assert!(line.width() <= room, "{name}: {} columns: {line}", line.width());
        assert_eq!(line, line.trim_end(), "{name}: blanks at the end of a line");
    }
    assert!(text.ends_with('\n') && !text.contains('\u{1b}'), "{name}:\n{text}");
}

#[test]
fn tables_of_processes_are_golden() {
    let plain = ProcessesOptions::default();
    let threads = ProcessesOptions { seconds: true, threads: true, ..plain };
    let on_terminal = Some(COLUMNS);
    let all = [
        ("ps", ShareOf::System, plain, on_terminal),
        ("ps-piped", ShareOf::Cpu, plain, None),
        ("ps-seconds-threads", ShareOf::System, threads, on_terminal),
        ("ps-all", ShareOf::System, ProcessesOptions { all: true, ..plain }, on_terminal),
    ];
    for (name, of, options, room) in all {
        let text = process_text(&table(of), options, room);
        insta::assert_snapshot!(name, text);
        let room = if options.all { 200 } else { room.unwrap_or(200) };
        fits(name, &text, room);
    }
}

#[test]
fn commands_are_cut_on_a_terminal_and_whole_elsewhere() {
    let whole = whole_text(&table(ShareOf::System));
    assert!(whole.contains("--port=3306"), "{whole}");
    for room in [40, 80, 132] {
        let options = ProcessesOptions::default();
        let cut = process_text(&table(ShareOf::System), options, Some(room));
        assert!(!cut.contains("--port=3306") && cut.contains('…'), "{cut}");
        // The figures stand whole however narrow it is.
        assert!(cut.contains("47.56") && cut.contains("44.16"), "{cut}");
    }
}

#[test]
fn everything_of_one_cpu_is_twice_everything_of_two() {
    let of = |of| table(of).processes[0].cpu_pct;
    assert!((of(ShareOf::Cpu) - 2.0 * of(ShareOf::System)).abs() < 1e-9);
}

#[test]
fn an_empty_table_says_what_was_measured() {
    let empty = ProcessTable::new(Vec::new(), ShareOf::System, 2);
    let text = whole_text(&empty);
    assert!(!text.contains("COMMAND") && text.contains("percent of all 2 CPUs"), "{text}");
}

#[test]
fn reports_of_usage_are_golden() {
    let all = [
        ("usage", usage()),
        ("usage-many", usage_of_many()),
        ("usage-command", usage_of_command()),
    ];
    for (name, report) in all {
        let document = usage_document(&report);
        let text = document.text(PageStyle::default());
        insta::assert_snapshot!(name, text);
        fits(name, &text, COLUMNS);
        let coloured = document.text(PageStyle { color: true, ..PageStyle::default() });
        assert!(coloured.contains('\u{1b}'));
    }
}

#[test]
fn a_peak_that_may_be_dbtimes_own_says_so() {
    let mut report = usage_of_command();
    let text = |report: &UsageReport| {
        let text = usage_document(report).text(PageStyle::default());
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    report.rss_floor_bytes = Some(13 << 20);
    let shown = "at most 13.0 MiB resident in one of them (or less: dbtime itself had as much);";
    assert!(text(&report).contains(shown), "{}", text(&report));
    report.rss_floor_bytes = Some(4 << 20);
    assert!(text(&report).contains("at most 13.0 MiB resident in one of them;"));
}

#[test]
fn nothing_known_is_nothing_shown_as_zero() {
    let text = usage_document(&UsageReport::default()).text(PageStyle::default());
    fits("nothing", &text, COLUMNS);
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    let row = |name: &str| {
        text.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or_else(|| {
            panic!("no {name} in {text}");
        })
    };
    for name in ["voluntary switches", "minor faults", "read from storage", "runnable"] {
        assert!(row(name).contains('–') && !row(name).contains(" 0 "), "{}", row(name));
    }
}

#[test]
fn the_schedulers_own_events_add_waits_and_add_up() {
    let mut table = table(ShareOf::System);
    table.whole = Some(WholeMachine {
        wall: Nanos(20 * SECOND),
        cpu: Nanos(12 * SECOND),
        clock: Nanos(13 * SECOND),
        idle: Nanos(8 * SECOND - 2_000_000),
        lost: 3,
        missed: 0,
    });
    for row in &mut table.processes {
        row.used.scheduled = Some(ScheduledTimes {
            woken: Nanos(SECOND / 10),
            preempted: Nanos(SECOND),
            ..ScheduledTimes::default()
        });
    }
    let text = whole_text(&table);
    for part in [
        "%SYS   %WOKEN  %PREEMPTED  COMMAND",
        "   0.5000       5.000  /u/dist/mariadb",
        "Came and went (everything they spent in the interval)",
        "threads 60 % (65 % by their CPU clocks)",
        "idle 40 %, unexplained 0.010 %. Not",
        "3 switches",
    ] {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let part = part.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&part), "{part}: {text}");
    }
    assert!(!text.contains("did not tell"), "{text}");
}

#[test]
fn pages_have_all_processes_and_markdown_those_of_the_text() {
    let document = usage_document(&usage_of_many());
    let (page, markdown) = (document.html(), document.markdown());
    // 26 processes, of which text shows 20.
    assert!(page.contains("joe shop 127.0.0.1(4025)") && !page.contains("6 more, "), "{page}");
    assert!(!markdown.contains("(4025)") && markdown.contains("\n6 more, "), "{markdown}");
    let document = process_document(&table(ShareOf::System), ProcessesOptions::default());
    let (page, markdown) = (document.html(), document.markdown());
    assert!(page.contains("<h1>Processes over 10.00 s</h1>") && page.contains("--port=3306"));
    assert!(markdown.starts_with("## Processes over 10.00 s\n\n| UID | PID |"), "{markdown}");
    let is_control = |c: char| c.is_control() && c != '\n';
    assert!(!page.contains(is_control) && !markdown.contains(is_control));
}
