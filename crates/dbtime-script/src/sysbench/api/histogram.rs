//! `sysbench.histogram`: buckets that grow by a constant factor between two bounds.

use super::HostFunctions;
use crate::sysbench::histogram::{BucketScale, SysbenchHistogram};
use mlua::Result;
use std::cell::RefCell;
use std::rc::Rc;

pub(super) fn install(host: &HostFunctions<'_>) -> Result<()> {
    let all: Rc<RefCell<Vec<SysbenchHistogram>>> = Rc::default();
    let histograms = Rc::clone(&all);
    host.define("histogram_new", move |_, _, (size, low, high): (f64, f64, f64)| {
        let is_sane = (2.0..=1e7).contains(&size) && low > 0.0 && high > low;
        if !is_sane {
            return Err(mlua::Error::runtime(format!(
                "sysbench.histogram.new: {size} buckets from {low} to {high} cannot be made; \
                 the bounds must be above zero and the second the larger"
            )));
        }
        let mut histograms = histograms.borrow_mut();
        histograms.push(SysbenchHistogram::new(BucketScale::new(size as usize, low, high)));
        Ok(histograms.len() - 1)
    })?;
    let histograms = Rc::clone(&all);
    host.define("histogram_update", move |_, _, (id, value): (usize, f64)| {
        histograms.borrow()[id].record(value);
        Ok(())
    })?;
    host.define("histogram_text", move |_, _, id: usize| Ok(all.borrow()[id].counts().bars()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_lie_in_the_buckets_that_sysbench_puts_them_in() {
        let buckets = SysbenchHistogram::new(BucketScale::new(20, 0.01, 100.0));
        [5.0, 6.5, 6.5, 0.0001, 1000.0].into_iter().for_each(|value| buckets.record(value));
        assert_eq!(
            buckets.counts().bars(),
            "       value  ------------- distribution ------------- count\n       \
             0.010 |*************                            1\n       \
             5.456 |**************************************** 3\n     \
             100.000 |*************                            1\n"
        );
    }
}
