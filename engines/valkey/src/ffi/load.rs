//! Loading the module.

use std::ffi::c_int;

use super::api::{self, API_VERSION, ERR, OK, api, raw};
use super::context::Context;
use super::{Command, Number, Text, command, data_type, guarded, info};

const NAME: &std::ffi::CStr = c"equibloom";

/// Errors of reading are the module's to handle; only commands say which keys have changed; a replica may load
/// beside the data that it serves.
const OPTIONS: c_int = 1 << 0 | 1 << 1 | 1 << 2;

/// Of Valkey 9: slots may move as a whole, by `CLUSTER MIGRATESLOTS`. Refused if any module does not say so; what moves
/// are the commands of an AOF.
const ATOMIC_SLOT_MIGRATION: c_int = 1 << 5;

/// Registers what the module has.
pub(crate) struct Loader<'a>(&'a Context);

impl Loader<'_> {
    pub(crate) fn number(&self, option: &'static Number) -> Result<(), String> {
        option.register(self.0)
    }

    pub(crate) fn text(&self, option: &'static Text) -> Result<(), String> {
        option.register(self.0)
    }

    /// Reads the options from the server's configuration, after all are registered.
    pub(crate) fn read_options(&self) -> Result<(), String> {
        // SAFETY: while the module is loaded.
        match unsafe { (api().LoadConfigs)(self.0.raw) } {
            OK => Ok(()),
            _ => Err("an option of the configuration was refused".into()),
        }
    }

    /// Registers a command. `false` if the server has one of this name.
    pub(crate) fn command<C: Command>(&self, prefix: &str) -> Result<bool, String> {
        command::register::<C>(self.0, prefix)
    }

    pub(crate) fn log(&self, line: &str) {
        self.0.log(line);
    }
}

/// The server's entry point.
///
/// # Safety
/// Called by the server, with its own context.
#[unsafe(no_mangle)]
#[allow(unreachable_pub, reason = "the server finds it by its name")]
pub unsafe extern "C" fn RedisModule_OnLoad(
    raw: *mut raw::Ctx,
    _arguments: *mut *mut raw::Str,
    _count: c_int,
) -> c_int {
    // SAFETY: the caller's promise. Nothing has been allocated yet.
    if let Err(missing) = unsafe { api::load(raw) } {
        // The server's log cannot be reached.
        eprintln!("equibloom: the server lacks {missing}; Redis 7.0 or Valkey is needed");
        return ERR;
    }
    guarded(ERR, || {
        let context = Context { raw };
        // SAFETY: the context is valid.
        unsafe {
            if (api().IsModuleNameBusy)(NAME.as_ptr()) != 0 {
                return ERR;
            }
            (api().SetModuleAttribs)(raw, NAME.as_ptr(), crate::MODULE_VERSION, API_VERSION);
            let of_valkey = if api::is_valkey(raw) { ATOMIC_SLOT_MIGRATION } else { 0 };
            (api().SetModuleOptions)(raw, OPTIONS | of_valkey);
        }
        command::create_category(&context);
        info::register(&context);
        let loaded = data_type::register(&context).and_then(|()| crate::load(&Loader(&context)));
        match loaded {
            Ok(()) => OK,
            Err(reason) => {
                context.log(&format!("equibloom cannot be loaded: {reason}"));
                ERR
            }
        }
    })
}
