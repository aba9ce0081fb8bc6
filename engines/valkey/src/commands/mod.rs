//! The commands, one file for each group.

mod add;
mod chunks;
mod exists;
mod files;
mod info;
mod merge;
pub(crate) mod options;
mod plan;
mod remove;
mod reserve;

use crate::OWN_PREFIX;
use crate::config;
use crate::ffi::Loader;

/// Registers all commands: those that other modules have under the configured prefix, too.
pub(crate) fn register(loader: &Loader<'_>) -> Result<(), String> {
    if !register_common(loader, OWN_PREFIX)? {
        return Err(format!("another module has {OWN_PREFIX}.* commands"));
    }
    loader.command::<info::FullInfo>(OWN_PREFIX)?;
    loader.command::<plan::Plan>(OWN_PREFIX)?;
    loader.command::<merge::Merge>(OWN_PREFIX)?;
    loader.command::<remove::Remove>(OWN_PREFIX)?;
    loader.command::<remove::RemoveAll>(OWN_PREFIX)?;
    loader.command::<files::Load>(OWN_PREFIX)?;
    loader.command::<files::Dump>(OWN_PREFIX)?;

    let prefix = config::PREFIX.get().to_uppercase();
    if prefix.is_empty() || prefix == OWN_PREFIX {
        return Ok(());
    }
    if !register_common(loader, &prefix)? || !loader.command::<info::Info>(&prefix)? {
        loader.log(&format!(
            "equibloom: the server has {prefix}.* commands of its own; use {OWN_PREFIX}.*, \
             or another prefix by the option equibloom.prefix"
        ));
    }
    Ok(())
}

/// `false` if the server has one of them already; then none is registered.
fn register_common(loader: &Loader<'_>, prefix: &str) -> Result<bool, String> {
    Ok(loader.command::<reserve::Reserve>(prefix)?
        && loader.command::<add::Add>(prefix)?
        && loader.command::<add::AddAll>(prefix)?
        && loader.command::<add::Insert>(prefix)?
        && loader.command::<exists::Exists>(prefix)?
        && loader.command::<exists::ExistAll>(prefix)?
        && loader.command::<info::Card>(prefix)?
        && loader.command::<info::Debug>(prefix)?
        && loader.command::<chunks::ScanDump>(prefix)?
        && loader.command::<chunks::LoadChunk>(prefix)?)
}
