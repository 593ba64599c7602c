//! Which classes ran beside one class, and how long.

/// So many are kept; the one with the least time makes way.
const SLOTS: usize = 32;

/// So many are shown.
const SHOWN: usize = 8;

/// What is known of a class that ran beside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OverlapSums {
    /// The number of the class.
    pub(super) serial: u32,
    /// How many of its records, each as often as it ran beside one.
    pub(super) count: u64,
    /// For how long. Unit: microseconds.
    pub(super) time_us: u64,
    /// How much of the time may be of classes that had the slot before.
    inherited_us: u64,
}

/// The classes that ran beside one class, by time (space-saving, as for names). Exact up to 32.
#[derive(Clone, Debug, Default)]
pub(super) struct OverlapTable(Vec<OverlapSums>);

impl OverlapTable {
    pub(super) fn add(&mut self, serial: u32, time_us: u64) {
        let place = match self.0.iter().position(|slot| slot.serial == serial) {
            Some(place) => place,
            None => self.empty(serial),
        };
        let slot = &mut self.0[place];
        slot.count += 1;
        slot.time_us = slot.time_us.saturating_add(time_us);
    }

    fn empty(&mut self, serial: u32) -> usize {
        let fresh = OverlapSums { serial, count: 0, time_us: 0, inherited_us: 0 };
        if self.0.len() < SLOTS {
            self.0.push(fresh);
            return self.0.len() - 1;
        }
        let least = self.0.iter().enumerate().min_by_key(|(_, slot)| slot.time_us);
        let place = least.map_or(0, |(place, _)| place);
        let time_us = self.0[place].time_us;
        self.0[place] = OverlapSums { time_us, inherited_us: time_us, ..fresh };
        place
    }

    /// What there surely was, most time first.
    pub(super) fn most(&self) -> Vec<OverlapSums> {
        let sure = |slot: &OverlapSums| OverlapSums {
            time_us: slot.time_us - slot.inherited_us,
            inherited_us: 0,
            ..*slot
        };
        let mut most: Vec<OverlapSums> = self.0.iter().map(sure).collect();
        most.retain(|slot| slot.time_us > 0);
        most.sort_by(|a, b| b.time_us.cmp(&a.time_us).then(a.serial.cmp(&b.serial)));
        most.truncate(SHOWN);
        most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_time_is_first_and_rare_ones_make_way() {
        let mut table = OverlapTable::default();
        for at in 0..1000u32 {
            table.add(7, 50);
            table.add(1000 + at, 1);
        }
        let most = table.most();
        let first = OverlapSums { serial: 7, count: 1000, time_us: 50_000, inherited_us: 0 };
        assert_eq!((most[0], most.len()), (first, SHOWN));
        assert!(most[1..].iter().all(|slot| slot.time_us == 1), "{most:?}");
    }
}
