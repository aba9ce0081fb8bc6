//! The module's section of INFO.

use std::ffi::{CStr, c_int};

use super::api::{OK, api, raw};
use super::context::Context;
use super::guarded;

/// A section that is written.
pub(crate) struct InfoSection(*mut raw::Info);

impl InfoSection {
    pub(crate) fn field(&self, name: &CStr, value: u64) {
        // SAFETY: the server's section, while it asks for it.
        unsafe { (api().InfoAddFieldULongLong)(self.0, name.as_ptr(), value) };
    }
}

pub(super) fn register(context: &Context) {
    // SAFETY: the function lives as long as the module.
    unsafe { (api().RegisterInfoFunc)(context.raw, write) };
}

unsafe extern "C" fn write(info: *mut raw::Info, _for_crash_report: c_int) {
    guarded((), || {
        // SAFETY: the server's section, while it asks for it.
        if unsafe { (api().InfoAddSection)(info, c"filters".as_ptr()) } == OK {
            crate::info::write(&InfoSection(info));
        }
    });
}
