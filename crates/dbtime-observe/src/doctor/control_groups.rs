//! The control groups of this process, and the limits in their files.

use super::MachineTree;

/// Where control groups are mounted (cgroups(7)).
pub(super) const MOUNT: &str = "sys/fs/cgroup";

/// More groups than any process has, and more levels than the kernel makes of them.
const MOST_GROUPS: usize = 64;

/// The files of this name in the process's own group of a controller and in those above it, from
/// the own one up. Those of version 1 lie in folders of their controllers.
///
/// Errors: its groups cannot be read.
pub(super) fn group_files(
    tree: &MachineTree,
    controller: &str,
    [of_version_2, of_version_1]: [&str; 2],
) -> Result<Vec<String>, String> {
    let groups = tree.text("proc/self/cgroup")?;
    let mut files = Vec::new();
    for line in groups.lines().take(MOST_GROUPS) {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        if controllers.is_empty() {
            files.extend(above(MOUNT, path, of_version_2));
        } else if controllers.split(',').any(|name| name == controller) {
            files.extend(above(&format!("{MOUNT}/{controller}"), path, of_version_1));
        }
    }
    Ok(files)
}

/// The memory that this process and its control group may use at most; `None`: there is no limit,
/// or none that is seen. Unit: bytes.
pub fn memory_limit(tree: &MachineTree) -> Option<u64> {
    let files = group_files(tree, "memory", ["memory.max", "memory.limit_in_bytes"]).ok()?;
    files.iter().filter_map(|path| tree.number(path).ok()).filter(|limit| *limit > 0).min()
}

/// The file in a group and in those above it. A path that climbs is of another namespace, and names
/// nothing here.
fn above(mount: &str, path: &str, file: &str) -> Vec<String> {
    let mut names: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
    if names.contains(&"..") || names.len() > MOST_GROUPS {
        return Vec::new();
    }
    let mut files = Vec::new();
    loop {
        let folders: String = names.iter().map(|name| format!("/{name}")).collect();
        files.push(format!("{mount}{folders}/{file}"));
        if names.pop().is_none() {
            return files;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{GROUP, made, put};
    use super::*;

    #[test]
    fn of_several_limits_of_memory_the_least_counts() {
        let folder = made(&[
            (GROUP, "4:memory:/v1\n0::/a/b\n"),
            ("sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("sys/fs/cgroup/a/memory.max", "2147483648\n"),
            ("sys/fs/cgroup/memory/v1/memory.limit_in_bytes", "9223372036854771712\n"),
        ]);
        let tree = MachineTree::at(folder.path().to_path_buf());
        assert_eq!(memory_limit(&tree), Some(2 << 30));
        for hostile in ["0\n", "-1\n", "max\n", "\u{1b}"] {
            put(folder.path(), "sys/fs/cgroup/a/memory.max", hostile.as_bytes());
            assert_eq!(memory_limit(&tree), Some(9_223_372_036_854_771_712), "{hostile:?}");
        }
        let none = made(&[]);
        assert_eq!(memory_limit(&MachineTree::at(none.path().to_path_buf())), None);
    }

    #[test]
    fn a_group_has_its_files_and_those_above() {
        let files = above(MOUNT, "/a/b", "cpu.max");
        let at = |folder: &str| format!("sys/fs/cgroup{folder}/cpu.max");
        assert_eq!(files, [at("/a/b"), at("/a"), at("")]);
        assert_eq!(above(MOUNT, "/", "cpu.max"), [at("")]);
        assert!(above(MOUNT, "/../x", "cpu.max").is_empty());
    }
}
