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
    use super::*;

    #[test]
    fn a_group_has_its_files_and_those_above() {
        let files = above(MOUNT, "/a/b", "cpu.max");
        let at = |folder: &str| format!("sys/fs/cgroup{folder}/cpu.max");
        assert_eq!(files, [at("/a/b"), at("/a"), at("")]);
        assert_eq!(above(MOUNT, "/", "cpu.max"), [at("")]);
        assert!(above(MOUNT, "/../x", "cpu.max").is_empty());
    }
}
