//! The keys of an operation, for statements that are not the workload's own.

use super::Workload;
use crate::keys::BoundKey;
use crate::keys::bound::KeyBinding;
use crate::program::SqlValue;
use crate::random::{RandomSource, RandomStream};

/// The keys that an operation draws, bound to a scale and a seed.
#[derive(Clone, Debug)]
pub struct OperationDraws {
    seed: u64,
    /// How many keys the workload has.
    slots: usize,
    /// Those of the operation, each after those it reads.
    keys: Vec<OperationKey>,
}

#[derive(Clone, Debug)]
struct OperationKey {
    slot: usize,
    name: String,
    bound: BoundKey,
}

impl Workload {
    /// The keys of an operation, by its position in [`Self::operations`].
    ///
    /// # Panics
    /// When no file has such an operation.
    pub fn operation_draws(&self, operation: usize, scale: u64, seed: u64) -> OperationDraws {
        let rows = self.rows(scale);
        let binding = KeyBinding { rows: &rows, scale, seed };
        let script = &self.scripts.operations[operation];
        let mut keys: Vec<OperationKey> = Vec::new();
        for &slot in script.start.iter().chain(script.steps.iter().flat_map(|step| &step.draws)) {
            let key = &self.scripts.keys[slot as usize];
            // What a transaction draws again would be another value of the same key.
            if !keys.iter().any(|known| known.slot == slot as usize) {
                let bound = BoundKey::new(&key.spec, &binding, u64::from(slot));
                keys.push(OperationKey { slot: slot as usize, name: key.name.clone(), bound });
            }
        }
        OperationDraws { seed, slots: self.scripts.keys.len(), keys }
    }
}

impl OperationDraws {
    /// The names of the keys, in the order of a draw's values.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.keys.iter().map(|key| key.name.as_str())
    }

    /// Where the value of a key is among those of a draw; `None`: the operation draws no such key.
    pub fn place(&self, name: &str) -> Option<usize> {
        let places = (0..self.keys.len()).filter(|place| self.keys[*place].name == name);
        // A key of the operation itself has its name before one of the whole file.
        places.max_by_key(|place| self.keys[*place].slot)
    }

    /// The values of draw `index`, one for each key: those of one transaction. A pure function of
    /// the seed and `index`.
    pub fn draw(&self, index: u64) -> Vec<SqlValue> {
        let mut random = RandomSource::new(self.seed, RandomStream::Parameters, index);
        let mut slots = vec![SqlValue::Null; self.slots];
        for key in &self.keys {
            key.bound.draw(index, &mut random, &mut slots, key.slot);
        }
        self.keys.iter().map(|key| std::mem::take(&mut slots[key.slot])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const SHOP: &str = r#"
name = "shop"
description = "Two operations with keys of their own and keys that they share"

[keys]
id = { uniform = [1, "item.rows"] }
turn = { sequence = 1 }

[[table]]
name = "item"
rows_per_scale = 10
columns = [{ name = "id", type = "integer", primary_key = true, data = "row" }]

[[operation]]
name = "look"
[[operation.statement]]
sql = "SELECT * FROM item WHERE id = :id"
[[operation.statement]]
sql = "SELECT * FROM item WHERE id > :id"

[[operation]]
name = "buy"
keys = { id = { uniform = [500, 600] }, next = "id + 1" }
[[operation.statement]]
sql = "UPDATE item SET id = :next WHERE id = :id AND :turn > 0"
"#;

    fn draws(operation: usize, scale: u64) -> OperationDraws {
        let shop = Workload::parse(SHOP, Path::new("shop.toml")).expect("a workload");
        shop.operation_draws(operation, scale, 7)
    }

    #[test]
    fn draws_are_those_of_the_operation_at_the_scale() {
        let look = draws(0, 3);
        assert_eq!(look.names().collect::<Vec<_>>(), ["id"]);
        assert_eq!((look.place("id"), look.place("turn")), (Some(0), None));
        let drawn: Vec<SqlValue> = (0..200).flat_map(|index| look.draw(index)).collect();
        let is_above = |low: i64| {
            let is = |value: &SqlValue| matches!(value, SqlValue::Integer(id) if *id > low);
            drawn.iter().any(is)
        };
        assert!(is_above(20) && !is_above(30) && !drawn.contains(&SqlValue::Integer(0)));
        let again: Vec<SqlValue> = (0..200).flat_map(|index| draws(0, 3).draw(index)).collect();
        assert_eq!(drawn, again);
    }

    #[test]
    fn keys_of_a_draw_belong_together() {
        let buy = draws(1, 1);
        let [id, next, turn] = ["id", "next", "turn"].map(|name| buy.place(name).expect(name));
        for index in 0..50 {
            let values = buy.draw(index);
            let SqlValue::Integer(own) = values[id] else { panic!("{values:?}") };
            assert!((500..=600).contains(&own), "{values:?}");
            assert_eq!(values[next], SqlValue::Integer(own + 1));
            assert_eq!(values[turn], SqlValue::Integer(1 + index.cast_signed()));
        }
    }
}
