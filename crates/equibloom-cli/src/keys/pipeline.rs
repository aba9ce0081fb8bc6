//! Two threads: one reads and hashes, the other consumes the hashes, batch by batch in input order.

use std::ops::ControlFlow;
use std::sync::mpsc::{TryRecvError, channel, sync_channel};
use std::thread;

use anyhow::{Context, anyhow};
use equibloom::Stable;
use indicatif::ProgressBar;

use super::batch::{Batch, Wanted};
use super::{AllRecords, Input};

/// Number of batches: one being filled, one being consumed, the rest queued.
const BATCHES: usize = 6;
/// The same for large batches.
const SLABS: usize = 3;

/// A command's work on batches.
pub(crate) trait Consumer {
    /// Processes the next batch; `Break` ends the reading.
    fn take(&mut self, batch: &Batch) -> anyhow::Result<ControlFlow<()>>;

    /// Called before waiting for the next batch.
    fn wait(&mut self) -> anyhow::Result<()> {
        Ok(())
    }
}

impl<F: FnMut(&Batch) -> anyhow::Result<ControlFlow<()>>> Consumer for F {
    fn take(&mut self, batch: &Batch) -> anyhow::Result<ControlFlow<()>> {
        self(batch)
    }
}

/// Reads all keys and passes them on in very large batches; returns the number of records without a key.
pub(crate) fn for_each_slab(
    input: &Input,
    hasher: Stable,
    progress: &ProgressBar,
    mut take: impl FnMut(&Batch) -> anyhow::Result<()>,
) -> anyhow::Result<u64> {
    let mut consumer = |batch: &Batch| {
        take(batch)?;
        Ok(ControlFlow::Continue(()))
    };
    let missing = for_each_batch(input, Wanted::Slabs, hasher, progress, &mut consumer)?;
    progress.finish_and_clear();
    Ok(missing)
}

/// Reads all keys, hashes them by `hasher` and passes them to the consumer; returns the number of records
/// without a key.
pub(crate) fn for_each_batch(
    input: &Input,
    wanted: Wanted,
    hasher: Stable,
    progress: &ProgressBar,
    consumer: &mut impl Consumer,
) -> anyhow::Result<u64> {
    let mut missing = 0;
    let batches = if wanted == Wanted::Slabs { SLABS } else { BATCHES };
    let (fill, filled) = sync_channel(batches);
    let (give_back, given_back) = channel();
    for _ in 0..batches {
        give_back.send(Batch::new(wanted, hasher, input))?;
    }
    let (input, progress) = (input.clone(), progress.clone());
    // Not a scoped thread: it may wait for standard input when the result is already known.
    let reader = thread::Builder::new().name("reader".to_owned()).spawn(move || {
        let mut records = AllRecords::new(&input, &progress);
        for mut batch in given_back {
            let message = match records.fill(&mut batch) {
                Ok(true) => Ok(batch),
                Ok(false) => return,
                Err(error) => Err(error),
            };
            let is_over = message.is_err();
            if fill.send(message).is_err() || is_over {
                return;
            }
        }
    });
    let reader = reader.context("could not start a second thread")?;
    loop {
        let message = match filled.try_recv() {
            Err(TryRecvError::Empty) => {
                consumer.wait()?;
                filled.recv().ok()
            }
            message => message.ok(),
        };
        let Some(batch) = message.transpose()? else {
            let joined = reader.join();
            return joined
                .map(|()| missing)
                .map_err(|_| anyhow!("the reader of the keys failed: this is a bug"));
        };
        missing += batch.missing;
        if consumer.take(&batch)?.is_break() {
            return Ok(missing);
        }
        // After its end the reader takes no batches back.
        let _ = give_back.send(batch);
    }
}
