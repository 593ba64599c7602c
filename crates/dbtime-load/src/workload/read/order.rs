//! The order in which keys are drawn: each after those it reads.

/// Adds `key` and what it reads to `order`, dependencies first. `reads` gives the slots a key
/// reads. The error is a key that depends on itself.
///
/// Depth of the recursion: bounded by [`DEPTH_MAX`], beyond which a chain counts as endless.
pub(super) fn after_reads(
    key: u16,
    reads: &dyn Fn(u16) -> Vec<u16>,
    order: &mut Vec<u16>,
) -> Result<(), u16> {
    let mut way = Vec::new();
    visit(key, reads, order, &mut way)
}

/// The longest chain of keys that are computed from each other.
const DEPTH_MAX: usize = 100;

fn visit(
    key: u16,
    reads: &dyn Fn(u16) -> Vec<u16>,
    order: &mut Vec<u16>,
    way: &mut Vec<u16>,
) -> Result<(), u16> {
    if order.contains(&key) {
        return Ok(());
    }
    if way.contains(&key) || way.len() == DEPTH_MAX {
        return Err(key);
    }
    way.push(key);
    for read in reads(key) {
        visit(read, reads, order, way)?;
    }
    way.pop();
    order.push(key);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_after_what_they_read() {
        let reads = |key| match key {
            0 => vec![2, 1],
            1 => vec![2],
            _ => vec![],
        };
        let mut order = Vec::new();
        assert_eq!(after_reads(0, &reads, &mut order), Ok(()));
        assert_eq!(order, [2, 1, 0]);
    }

    #[test]
    fn circles_and_endless_chains_are_refused() {
        let mut order = Vec::new();
        assert!(after_reads(0, &|key| vec![1 - key], &mut order).is_err());
        assert!(after_reads(0, &|key| vec![key.saturating_add(1)], &mut order).is_err());
    }
}
