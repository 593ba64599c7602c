//! What `/proc` says of one process or thread, parsed.

use dbtime_model::Nanos;
use dbtime_model::process::{
    ContextSwitches, CpuTicks, IoBytes, PageFaults, ProcessMemory, ReapedChildren,
};
use procfs::FromRead;
use procfs::process::{Schedstat, Stat};
use std::fmt::Display;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

/// Files of one process or thread: `/proc/PID` or `/proc/PID/task/TID`.
#[derive(Clone, Debug)]
pub(super) struct ProcFolder(String);

/// What `stat` says.
#[derive(Clone, Debug)]
pub(super) struct ProcStat {
    pub(super) name: String,
    pub(super) parent: u32,
    pub(super) start_tick: u64,
    /// It has ended, and nobody has waited for it yet.
    pub(super) has_ended: bool,
    /// A signal or a debugger has stopped it.
    pub(super) is_stopped: bool,
    pub(super) ticks: CpuTicks,
    pub(super) faults: PageFaults,
    pub(super) reaped: ReapedChildren,
    pub(super) threads: u32,
    /// Only meaningful where the kernel keeps delay accounting, and of a single thread.
    pub(super) io_delay: Nanos,
}

/// What `status` says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ProcessStatus {
    /// Its process, where it is a thread.
    pub(super) process: u32,
    pub(super) uid: u32,
    pub(super) switches: Option<ContextSwitches>,
    pub(super) memory: Option<ProcessMemory>,
}

/// Ticks as time.
fn ticks(n: u64) -> Nanos {
    Nanos(n.saturating_mul(1_000_000_000 / procfs::ticks_per_second()))
}

impl ProcFolder {
    pub(super) fn of_process(pid: u32) -> Self {
        Self(format!("/proc/{pid}"))
    }

    /// The folder of one of its threads.
    pub(super) fn of_thread(&self, tid: impl Display) -> Self {
        Self(format!("{}/task/{tid}", self.0))
    }

    /// Numbers of its threads.
    pub(super) fn threads(&self) -> Vec<u32> {
        numbers(Path::new(&self.0).join("task").as_path())
    }

    /// Whether the process is still there, ended or not.
    pub(super) fn exists(&self) -> bool {
        Path::new(&self.0).exists()
    }

    fn read(&self, file: &str) -> io::Result<Vec<u8>> {
        let mut text = Vec::with_capacity(1024);
        fs::File::open(format!("{}/{file}", self.0))?.read_to_end(&mut text)?;
        Ok(text)
    }

    /// Everything `stat` says; an error when the process is gone or hidden.
    pub(super) fn basics(&self) -> io::Result<ProcStat> {
        let stat = Stat::from_read(&self.read("stat")?[..]).map_err(io::Error::other)?;
        let unsigned = |n: i64| n.max(0).cast_unsigned();
        Ok(ProcStat {
            name: stat.comm,
            parent: stat.ppid.max(0).cast_unsigned(),
            start_tick: stat.starttime,
            has_ended: matches!(stat.state, 'Z' | 'X'),
            is_stopped: matches!(stat.state, 'T' | 't'),
            ticks: CpuTicks { user: ticks(stat.utime), system: ticks(stat.stime) },
            faults: PageFaults { minor: stat.minflt, major: stat.majflt },
            reaped: ReapedChildren {
                ticks: CpuTicks {
                    user: ticks(unsigned(stat.cutime)),
                    system: ticks(unsigned(stat.cstime)),
                },
                faults: PageFaults { minor: stat.cminflt, major: stat.cmajflt },
            },
            threads: u32::try_from(stat.num_threads).unwrap_or(0),
            io_delay: ticks(stat.delayacct_blkio_ticks.unwrap_or(0)),
        })
    }

    /// Time on a CPU and time runnable without one, of this thread alone.
    pub(super) fn schedule(&self) -> Option<(Nanos, Nanos)> {
        let stat = Schedstat::from_read(&self.read("schedstat").ok()?[..]).ok()?;
        Some((Nanos(stat.sum_exec_runtime), Nanos(stat.run_delay)))
    }

    pub(super) fn status(&self) -> Option<ProcessStatus> {
        Some(status(&String::from_utf8_lossy(&self.read("status").ok()?)))
    }

    /// Reads and writes; `None` without permission, and after the end.
    pub(super) fn io(&self) -> Option<IoBytes> {
        io_of(&String::from_utf8_lossy(&self.read("io").ok()?))
    }

    /// The command line as its words; none of a kernel thread, and after the end.
    pub(super) fn command(&self) -> Vec<String> {
        let bytes = self.read("cmdline").unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        // A process that writes over its command line leaves zeros behind.
        let text = text.trim_end_matches('\0');
        if text.is_empty() { Vec::new() } else { text.split('\0').map(str::to_owned).collect() }
    }
}

/// Entries of a folder whose names are numbers.
pub(super) fn numbers(folder: &Path) -> Vec<u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// `Name:   value …` of every line.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter_map(|line| line.split_once(':')).map(|(name, value)| (name, value.trim()))
}

fn status(text: &str) -> ProcessStatus {
    let mut status = ProcessStatus::default();
    let mut memory = ProcessMemory::default();
    let mut switches = ContextSwitches::default();
    let (mut has_memory, mut has_switches) = (false, false);
    for (name, value) in lines(text) {
        let mut words = value.split_whitespace();
        let mut first = || words.next().and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
        match name {
            "Tgid" => status.process = id(value),
            // Real, effective, saved, and that of the file system.
            "Uid" => status.uid = value.split_whitespace().nth(1).map_or(0, id),
            "VmSize" => (memory.vsize_bytes, has_memory) = (first() * 1024, true),
            "VmHWM" => memory.rss_peak_bytes = Some(first() * 1024),
            "VmRSS" => memory.rss_bytes = first() * 1024,
            "RssFile" | "RssShmem" => memory.rss_shared_bytes += first() * 1024,
            "voluntary_ctxt_switches" => {
                (switches.voluntary, has_switches) = (first(), true);
            }
            "nonvoluntary_ctxt_switches" => switches.involuntary = first(),
            _ => {}
        }
    }
    status.memory = has_memory.then_some(memory);
    status.switches = has_switches.then_some(switches);
    status
}

fn id(word: &str) -> u32 {
    word.parse().unwrap_or(0)
}

fn io_of(text: &str) -> Option<IoBytes> {
    let of = |key: &str| lines(text).find(|(name, _)| *name == key)?.1.parse().ok();
    Some(IoBytes {
        read_bytes: of("read_bytes")?,
        written_bytes: of("write_bytes")?,
        cancelled_bytes: of("cancelled_write_bytes")?,
        read_chars: of("rchar")?,
        written_chars: of("wchar")?,
        read_calls: of("syscr")?,
        write_calls: of("syscw")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_is_read_by_name() {
        let text = "Name:\tVmRSS: 5\nTgid:\t77\nUid:\t1000\t1001\t1000\t1000\n\
                    VmSize:\t    2000 kB\nVmHWM:\t 300 kB\nVmRSS:\t 200 kB\n\
                    RssAnon:\t 120 kB\nRssFile:\t 70 kB\n\
                    RssShmem:\t 10 kB\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t9\n";
        let memory = ProcessMemory {
            rss_bytes: 200 * 1024,
            rss_shared_bytes: 80 * 1024,
            rss_peak_bytes: Some(300 * 1024),
            vsize_bytes: 2000 * 1024,
        };
        let switches = Some(ContextSwitches { voluntary: 7, involuntary: 9 });
        let whole = ProcessStatus { process: 77, uid: 1001, switches, memory: Some(memory) };
        assert_eq!(status(text), whole);
        assert_eq!(status("Name:\tkthreadd\nUid:\t0\t0\t0\t0\n"), ProcessStatus::default());
    }

    #[test]
    fn reads_and_writes_are_all_there_or_none() {
        let text = "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\n\
                    cancelled_write_bytes: 7\n";
        let io = io_of(text).expect("whole");
        assert_eq!((io.read_chars, io.write_calls, io.cancelled_bytes), (1, 4, 7));
        assert_eq!(io_of("rchar: 1\n"), None);
    }

    #[test]
    fn the_name_of_a_process_may_have_any_bytes() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut line = b"4711 (a) Z 1 (\n\xff) S 12".to_vec();
        // Fields 5 to 21, the start, fields 23 to 52.
        line.extend_from_slice(format!("{} 4242{}\n", " 0".repeat(17), " 0".repeat(30)).as_bytes());
        fs::write(folder.path().join("stat"), line).expect("written");
        let basics = ProcFolder(folder.path().display().to_string()).basics().expect("a process");
        assert_eq!(basics.name, "a) Z 1 (\n\u{fffd}");
        assert_eq!((basics.parent, basics.start_tick, basics.has_ended), (12, 4242, false));
    }

    #[test]
    fn this_process_is_read() {
        let folder = ProcFolder::of_process(std::process::id());
        let basics = folder.basics().expect("stat");
        assert!(basics.start_tick > 0 && basics.threads >= 1);
        assert!(folder.io().is_some() && folder.schedule().is_some());
        assert!(!folder.threads().is_empty());
        assert!(folder.status().expect("status").memory.expect("some").rss_bytes > 0);
        assert!(!folder.command().is_empty());
    }
}
