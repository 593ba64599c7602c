//! What the kernel counts of the block device under a server's data.
//!
//! Requests of a device are those of the whole machine: who made one is not known here.
//! Source of all figures: Documentation/block/stat.rst of the kernel.

use dbtime_model::Nanos;
use rustix::fs::{major, minor};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A disk, a partition or a volume.
#[derive(Clone, Debug)]
pub struct BlockDevice {
    name: String,
    /// Its folder in `/sys/dev/block`.
    folder: PathBuf,
    /// Of a partition the kernel counts no flushes.
    is_partition: bool,
}

/// Requests that a device has served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceRequests {
    /// How many.
    pub count: u64,
    /// How long all of them took, queued and served, side by side; in whole milliseconds.
    pub time: Nanos,
}

/// What a device has served; of two samples, in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceSample {
    /// As the kernel calls it, `vda`.
    pub name: String,
    /// Reads.
    pub reads: DeviceRequests,
    /// Writes.
    pub writes: DeviceRequests,
    /// Flushes of its cache; `None`: not counted, of a partition and before Linux 5.5.
    pub flushes: Option<DeviceRequests>,
}

impl BlockDevice {
    /// The device under the folder that a server works in, as MariaDB, MySQL and PostgreSQL do in
    /// that of their data. `None`: there is none of its own (memory, overlays, networks, file
    /// systems over several devices), it does not count, or this user may not see it.
    pub fn under_server(pid: u32) -> Option<Self> {
        Self::under(Path::new(&format!("/proc/{pid}/cwd")), Path::new("/sys/dev/block"))
    }

    /// The same of a folder, by `/sys/dev/block` or what stands for it.
    pub(crate) fn under(data: &Path, devices: &Path) -> Option<Self> {
        // The kernel follows the link also where that leads to another mount namespace.
        let device = fs::metadata(data).ok()?.dev();
        let folder = devices.join(format!("{}:{}", major(device), minor(device)));
        let folder = folder.canonicalize().ok()?;
        let name = folder.file_name()?.to_str()?.to_owned();
        let is_partition = folder.join("partition").exists();
        let device = Self { name, folder, is_partition };
        let counts = fs::read_to_string(device.queue_folder().join("iostats"));
        let is_counted = counts.map_or(true, |counts| counts.trim() != "0");
        is_counted.then_some(device)
    }

    /// Whether a hypervisor makes it, whatever stands behind it.
    pub(crate) fn is_virtual(&self) -> bool {
        ["vd", "xvd"].iter().any(|prefix| self.name.starts_with(prefix))
    }

    /// The settings of its queue, of a partition the disk's.
    pub(crate) fn queue_folder(&self) -> PathBuf {
        let disk = self.folder.parent().filter(|_| self.is_partition);
        disk.unwrap_or(&self.folder).join("queue")
    }

    /// What it has served so far; `None` where that cannot be read.
    pub fn sample(&self) -> Option<DeviceSample> {
        let text = fs::read_to_string(self.folder.join("stat")).ok()?;
        let mut sample = parse(&text, &self.name)?;
        if self.is_partition {
            sample.flushes = None;
        }
        Some(sample)
    }
}

/// The line of a device's `stat`.
fn parse(text: &str, name: &str) -> Option<DeviceSample> {
    let figures: Vec<u64> =
        text.split_ascii_whitespace().map(|figure| figure.parse().ok()).collect::<Option<_>>()?;
    let requests = |count: usize, time: usize| {
        let (count, ms) = (*figures.get(count)?, *figures.get(time)?);
        Some(DeviceRequests { count, time: Nanos::from_millis(ms) })
    };
    let (reads, writes, flushes) = (requests(0, 3)?, requests(4, 7)?, requests(15, 16));
    Some(DeviceSample { name: name.to_owned(), reads, writes, flushes })
}

impl DeviceSample {
    /// What was served since an earlier sample of the same device; `None` where a count fell.
    pub fn since(&self, earlier: &Self) -> Option<Self> {
        let flushes = self.flushes.zip(earlier.flushes);
        Some(Self {
            name: self.name.clone(),
            reads: self.reads.since(earlier.reads)?,
            writes: self.writes.since(earlier.writes)?,
            flushes: flushes.and_then(|(now, earlier)| now.since(earlier)),
        })
    }
}

impl DeviceRequests {
    fn since(self, earlier: Self) -> Option<Self> {
        // The kernel prints milliseconds in 32 bits, which go on from zero after 50 days.
        let ms = |requests: Self| (requests.time.0 / 1_000_000) as u32;
        let time = Nanos::from_millis(ms(self).wrapping_sub(ms(earlier)).into());
        Some(Self { count: self.count.checked_sub(earlier.count)?, time })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of Linux 5.5 and later.
    const LINE: &str = " 3791343 89479 140549050 5829045 8809487 1037081 414683024 4962536 0 \
        2545796 11862498 903744 276 642622688 324689 3028668 746227\n";

    fn requests(count: u64, ms: u64) -> DeviceRequests {
        DeviceRequests { count, time: Nanos::from_millis(ms) }
    }

    #[test]
    fn requests_are_read_by_kind() {
        let sample = parse(LINE, "vda").expect("a line");
        assert_eq!(sample.reads, requests(3_791_343, 5_829_045));
        assert_eq!(sample.writes, requests(8_809_487, 4_962_536));
        assert_eq!(sample.flushes, Some(requests(3_028_668, 746_227)));
        let old = parse("1 0 8 2 3 0 24 4 0 5 6", "sda").expect("a line of Linux 4.17");
        assert_eq!((old.reads, old.writes, old.flushes), (requests(1, 2), requests(3, 4), None));
        for text in ["", "1 2 3", "1 2 3 x 5 6 7 8"] {
            assert_eq!(parse(text, "sda"), None, "{text}");
        }
    }

    #[test]
    fn what_comes_between_two_samples_is_subtracted() {
        let sample = |count, ms| DeviceSample {
            name: "vda".to_owned(),
            reads: requests(count, ms),
            writes: requests(5, 9),
            flushes: None,
        };
        let near_wrap = u64::from(u32::MAX) - 1;
        let between = sample(12, 3).since(&sample(10, near_wrap)).expect("later");
        assert_eq!((between.reads, between.writes), (requests(2, 5), requests(0, 0)));
        assert_eq!(sample(9, 3).since(&sample(10, 1)), None);
    }

    #[test]
    fn a_device_is_found_under_a_folder_and_says_whether_it_counts() {
        let sys = tempfile::tempdir().expect("a folder");
        let data = sys.path().join("data");
        fs::create_dir_all(&data).expect("a folder");
        let device = fs::metadata(&data).expect("there").dev();
        let number = sys.path().join(format!("{}:{}", major(device), minor(device)));
        assert!(BlockDevice::under(&data, sys.path()).is_none(), "no such device");
        let disk = sys.path().join("sdx");
        let partition = disk.join("sdx2");
        fs::create_dir_all(disk.join("queue")).expect("a folder");
        fs::create_dir_all(&partition).expect("a folder");
        fs::write(partition.join("stat"), LINE).expect("written");
        fs::write(partition.join("partition"), "2\n").expect("written");
        std::os::unix::fs::symlink(&partition, &number).expect("a link");
        let found = BlockDevice::under(&data, sys.path()).expect("it is there");
        let sample = found.sample().expect("it counts");
        assert_eq!((sample.name.as_str(), sample.flushes), ("sdx2", None));
        fs::write(disk.join("queue/iostats"), "0\n").expect("written");
        assert!(BlockDevice::under(&data, sys.path()).is_none(), "it does not count");
    }
}
