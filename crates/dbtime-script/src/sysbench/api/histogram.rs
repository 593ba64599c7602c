//! `sysbench.histogram`: buckets that grow by a constant factor between two bounds.

use mlua::{Lua, Result, Table};
use std::cell::RefCell;
use std::fmt::Write;
use std::rc::Rc;

/// What lies beyond the bounds is counted in the outermost buckets.
#[derive(Debug)]
struct Buckets {
    counts: Vec<u64>,
    /// Natural logarithm of the lower bound.
    low: f64,
    /// Buckets for each e-fold.
    per_fold: f64,
}

impl Buckets {
    fn new(size: usize, low: f64, high: f64) -> Self {
        let size = size.max(2);
        let per_fold = (size - 1) as f64 / (high.ln() - low.ln());
        Self { counts: vec![0; size], low: low.ln(), per_fold }
    }

    fn update(&mut self, value: f64) {
        let at = ((value.ln() - self.low) * self.per_fold + 0.5).floor();
        let last = self.counts.len() - 1;
        self.counts[(at.max(0.0) as usize).min(last)] += 1;
    }

    /// The table that sysbench prints: the fullest bucket has forty stars.
    fn text(&self) -> String {
        let mut out = "       value  ------------- distribution ------------- count\n".to_owned();
        let fullest = self.counts.iter().copied().max().unwrap_or(0).max(1);
        for (index, &count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let value = (index as f64 / self.per_fold + self.low).exp();
            let width = (count as f64 * 40.0 / fullest as f64 + 0.5).floor() as usize;
            // Writing into a text does not fail.
            let _ = writeln!(out, "{value:12.3} |{:<40} {count}", "*".repeat(width));
        }
        out
    }
}

pub(super) fn install(lua: &Lua, host: &Table) -> Result<()> {
    let all: Rc<RefCell<Vec<Buckets>>> = Rc::default();
    let histograms = Rc::clone(&all);
    let new = lua.create_function(move |_, (size, low, high): (f64, f64, f64)| {
        let is_sane = (2.0..=1e7).contains(&size) && low > 0.0 && high > low;
        if !is_sane {
            return Err(mlua::Error::runtime(format!(
                "sysbench.histogram.new: {size} buckets from {low} to {high} cannot be made; \
                 the bounds must be above zero and the second the larger"
            )));
        }
        let mut histograms = histograms.borrow_mut();
        histograms.push(Buckets::new(size as usize, low, high));
        Ok(histograms.len() - 1)
    })?;
    host.set("histogram_new", new)?;
    let histograms = Rc::clone(&all);
    let update = lua.create_function(move |_, (id, value): (usize, f64)| {
        histograms.borrow_mut()[id].update(value);
        Ok(())
    })?;
    host.set("histogram_update", update)?;
    let text = lua.create_function(move |_, id: usize| Ok(all.borrow()[id].text()))?;
    host.set("histogram_text", text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_lie_in_the_buckets_that_sysbench_puts_them_in() {
        let mut buckets = Buckets::new(20, 0.01, 100.0);
        [5.0, 6.5, 6.5, 0.0001, 1000.0].into_iter().for_each(|value| buckets.update(value));
        assert_eq!(
            buckets.text(),
            "       value  ------------- distribution ------------- count\n       \
             0.010 |*************                            1\n       \
             5.456 |**************************************** 3\n     \
             100.000 |*************                            1\n"
        );
    }
}
