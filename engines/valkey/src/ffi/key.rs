//! Open keys. A key that holds another type is an error here, so that no command has to ask.

use std::ffi::c_int;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::api::{api, raw};
use super::context::{Context, Name};
use crate::reply::Error;
use crate::value::Content;

/// The type of the module's values, once it is registered.
pub(super) static TYPE: AtomicPtr<raw::Type> = AtomicPtr::new(std::ptr::null_mut());

const READ: c_int = 1 << 0;
const WRITE: c_int = 1 << 1;
const EMPTY: c_int = 0;

struct Open {
    raw: *mut raw::Key,
    /// Null if the key is empty. Otherwise the server's, while the key is open.
    content: *mut Content,
}

impl Drop for Open {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: opened below, closed once.
            unsafe { (api().CloseKey)(self.raw) };
        }
    }
}

fn open(context: &Context, name: Name<'_>, mode: c_int) -> Result<Open, Error> {
    let api = api();
    // SAFETY: context and name are valid; a key that is null is not used.
    unsafe {
        let raw = (api.OpenKey)(context.raw, name.raw, mode);
        let mut key = Open { raw, content: std::ptr::null_mut() };
        if !raw.is_null() && (api.KeyType)(raw) != EMPTY {
            if (api.ModuleTypeGetType)(raw) != TYPE.load(Ordering::Relaxed) {
                return Err(Error::WRONG_TYPE);
            }
            key.content = (api.ModuleTypeGetValue)(raw).cast();
        }
        Ok(key)
    }
}

pub(super) fn read<'a>(context: &'a Context, name: Name<'a>) -> Result<ReadKey<'a>, Error> {
    Ok(ReadKey { open: open(context, name, READ)?, command: context })
}

pub(super) fn write<'a>(context: &'a Context, name: Name<'a>) -> Result<WriteKey<'a>, Error> {
    Ok(WriteKey { open: open(context, name, READ | WRITE)?, name, context })
}

/// A key that is open for reading.
pub(crate) struct ReadKey<'a> {
    open: Open,
    #[allow(dead_code, reason = "the key is open no longer than the command runs")]
    command: &'a Context,
}

impl ReadKey<'_> {
    pub(crate) fn content(&self) -> Option<&Content> {
        // SAFETY: the server runs one command at a time, which opens no key twice for writing.
        unsafe { self.open.content.as_ref() }
    }
}

/// A key that is open for writing.
pub(crate) struct WriteKey<'a> {
    open: Open,
    pub(crate) name: Name<'a>,
    context: &'a Context,
}

impl WriteKey<'_> {
    pub(crate) fn content(&mut self) -> Option<&mut Content> {
        // SAFETY: as for reading, and this key is open once.
        unsafe { self.open.content.as_mut() }
    }

    /// Stores new content. The time to live stays as it is.
    pub(crate) fn set(&mut self, content: Content) {
        if let Some(present) = self.content() {
            // In place, because a new value of the server's would have no time to live.
            *present = content;
            return;
        }
        let content = Box::into_raw(Box::new(content));
        // SAFETY: the server owns the content now, and frees it by the type's `free`.
        unsafe {
            let of_type = TYPE.load(Ordering::Relaxed);
            (api().ModuleTypeSetValue)(self.open.raw, of_type, content.cast());
        }
        self.open.content = content;
    }

    /// Lets the key expire, and returns when: milliseconds since 1970.
    pub(crate) fn expire_in(&mut self, milliseconds: i64) -> i64 {
        // SAFETY: the key is open for writing and not empty.
        unsafe {
            (api().SetExpire)(self.open.raw, milliseconds);
            (api().GetAbsExpire)(self.open.raw)
        }
    }

    pub(crate) fn context(&self) -> &Context {
        self.context
    }
}
