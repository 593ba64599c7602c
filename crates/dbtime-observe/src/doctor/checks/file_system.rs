//! The file system under the data.

use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse};
use rustix::fs::{statfs, statvfs};

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame = FindingFrame::of_machine(
    "file_system",
    "statfs(2) of the data folder",
    "one on a disk of this machine, with a fifth of it free",
);

/// What a network between does.
const OVER_NETWORK: &str = "each sync is a round trip, and locks are the network's";

/// What to know of file systems, by their number (include/uapi/linux/magic.h): name, why it
/// matters, what it costs.
const KNOWN: [(u64, &str, &str, &str); 11] = [
    (
        0x0102_1994,
        "tmpfs",
        "data are in memory, and a sync writes nothing",
        "durability is not measured: a sync is free here, and takes milliseconds on a disk",
    ),
    (
        0x794c_7630,
        "overlayfs",
        "the first write to a file copies all of it",
        "not measured here; Documentation/filesystems/overlayfs.rst of the kernel. A volume has \
         none of it",
    ),
    (0x6969, "NFS", OVER_NETWORK, "not measured here; nfs(5)"),
    (0xff53_4d42, "CIFS", OVER_NETWORK, "not measured here; mount.cifs(8)"),
    (0xfe53_4d42, "SMB", OVER_NETWORK, "not measured here; mount.cifs(8)"),
    (
        0x00c3_6400,
        "Ceph",
        OVER_NETWORK,
        "not measured here; Documentation/filesystems/ceph.rst of the kernel",
    ),
    (
        0x8584_58f6,
        "ramfs",
        "data are in memory, and a sync writes nothing",
        "durability is not measured: a sync is free here, and takes milliseconds on a disk",
    ),
    (
        0x2fc1_2fc1,
        "ZFS",
        "each overwrite goes to another place, and a small one reads its record first",
        "not measured here; zfsprops(7) has recordsize",
    ),
    (
        0x9123_683e,
        "btrfs",
        "each overwrite goes to another place, and files fall to pieces",
        "not measured here; btrfs(5) has nodatacow, which leaves out its checksums",
    ),
    (
        0x6573_5546,
        "FUSE",
        "each call goes through another process",
        "not measured here; Documentation/filesystems/fuse.rst of the kernel",
    ),
    (
        0x0102_1997,
        "9p",
        "each call goes to the host",
        "not measured here; Documentation/filesystems/9p.rst of the kernel",
    ),
];

fn find(_: &MachineTree, planned: &PlannedUse) -> CheckResult {
    let data = planned.data.as_deref().ok_or("no data folder is named: give it with --data")?;
    let found = statfs(data).map_err(|error| format!("the data folder: {error}"))?;
    let space = statvfs(data).map_err(|error| format!("the data folder: {error}"))?;
    if space.f_blocks == 0 {
        return Err(format!("what is mounted at {} keeps no data", data.display()));
    }
    let free = 100 * space.f_bavail.min(space.f_blocks) / space.f_blocks;
    if let Some((name, because, costs)) = known(found.f_type as u64) {
        let value = format!("{name} in {}, {free} % free", data.display());
        return Ok(FRAME.note(value, because, costs));
    }
    let value = format!("{free} % free in {}", data.display());
    if free >= 20 {
        return Ok(FRAME.good(value, "none that is in memory or behind a network, as far as known"));
    }
    Ok(FRAME.note(
        value,
        "file systems and SSDs are slower the less is free",
        "not measured here; delete what is not needed, or take another disk",
    ))
}

/// Name, reason and cost of a file system that is to be known of.
fn known(number: u64) -> Option<(&'static str, &'static str, &'static str)> {
    // Numbers have 32 bits, and are negative for some.
    let number = number & u64::from(u32::MAX);
    let (_, name, because, costs) = KNOWN.into_iter().find(|(known, ..)| *known == number)?;
    Some((name, because, costs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems_without_a_disk_are_known() {
        let name = |number| known(number).map(|(name, ..)| name);
        assert_eq!(name(0x0102_1994), Some("tmpfs"));
        assert_eq!(name(0xffff_ffff_9123_683e), Some("btrfs"), "negative in some structures");
        assert_eq!((name(0xef53), name(0), name(u64::MAX)), (None, None, None));
    }
}
