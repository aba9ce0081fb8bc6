//! Options of the configuration, as `equibloom.<name>`.

use std::ffi::{CStr, c_char, c_int, c_longlong, c_uint, c_void};
use std::slice;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicPtr, Ordering};

use super::api::{ERR, OK, api, raw};
use super::context::Context;
use super::guarded;

const IMMUTABLE: c_uint = 1 << 0;
const MEMORY: c_uint = 1 << 7;

/// A whole number.
pub(crate) struct Number {
    pub(crate) name: &'static CStr,
    pub(crate) default: i64,
    pub(crate) limits: (i64, i64),
    /// Whether units such as `mb` are accepted.
    pub(crate) is_memory: bool,
    pub(crate) value: AtomicI64,
}

/// A text.
pub(crate) struct Text {
    pub(crate) name: &'static CStr,
    pub(crate) default: &'static CStr,
    /// Whether `CONFIG SET` can change it.
    pub(crate) is_changeable: bool,
    /// Checks a value.
    pub(crate) check: fn(&str) -> Result<(), String>,
    pub(crate) value: Mutex<String>,
    /// The value as the server reads it.
    pub(crate) shown: AtomicString,
}

/// A string of the server.
pub(crate) struct AtomicString(AtomicPtr<raw::Str>);

impl AtomicString {
    pub(crate) const fn none() -> Self {
        Self(AtomicPtr::new(std::ptr::null_mut()))
    }
}

impl Number {
    pub(crate) fn get(&self) -> i64 {
        self.value.load(Ordering::Relaxed)
    }

    pub(super) fn register(&'static self, context: &Context) -> Result<(), String> {
        let flags = if self.is_memory { MEMORY } else { 0 };
        let (least, most) = self.limits;
        let own = std::ptr::from_ref(self).cast_mut().cast();
        // SAFETY: the option lives as long as the module.
        let registered = unsafe {
            (api().RegisterNumericConfig)(
                context.raw,
                self.name.as_ptr(),
                self.default,
                flags,
                least,
                most,
                get_number,
                set_number,
                None,
                own,
            )
        };
        check(registered, self.name)
    }
}

impl Text {
    pub(crate) fn get(&self) -> String {
        self.value.lock().map(|value| value.clone()).unwrap_or_default()
    }

    pub(super) fn register(&'static self, context: &Context) -> Result<(), String> {
        let flags = if self.is_changeable { 0 } else { IMMUTABLE };
        let own = std::ptr::from_ref(self).cast_mut().cast();
        // SAFETY: the option lives as long as the module.
        let registered = unsafe {
            (api().RegisterStringConfig)(
                context.raw,
                self.name.as_ptr(),
                self.default.as_ptr(),
                flags,
                get_text,
                set_text,
                None,
                own,
            )
        };
        check(registered, self.name)
    }

    fn set(&self, bytes: &[u8]) -> Result<(), String> {
        let text = str::from_utf8(bytes).map_err(|_| "the value is not UTF-8".to_owned())?;
        (self.check)(text)?;
        if let Ok(mut value) = self.value.lock() {
            text.clone_into(&mut value);
        }
        // SAFETY: the bytes are copied; the string before is no longer used, because only this thread reads it.
        unsafe {
            let shown =
                (api().CreateString)(std::ptr::null_mut(), bytes.as_ptr().cast(), bytes.len());
            let before = self.shown.0.swap(shown, Ordering::Relaxed);
            if !before.is_null() {
                (api().FreeString)(std::ptr::null_mut(), before);
            }
        }
        Ok(())
    }
}

fn check(registered: c_int, name: &CStr) -> Result<(), String> {
    if registered == OK {
        return Ok(());
    }
    Err(format!("the server refused the option {}", name.to_string_lossy()))
}

unsafe extern "C" fn get_number(_name: *const c_char, own: *mut c_void) -> c_longlong {
    // SAFETY: the pointer that was registered.
    unsafe { &*own.cast::<Number>() }.get()
}

unsafe extern "C" fn set_number(
    _name: *const c_char,
    value: c_longlong,
    own: *mut c_void,
    _error: *mut *mut raw::Str,
) -> c_int {
    // SAFETY: the pointer that was registered. The server has checked the limits.
    unsafe { &*own.cast::<Number>() }.value.store(value, Ordering::Relaxed);
    OK
}

unsafe extern "C" fn get_text(_name: *const c_char, own: *mut c_void) -> *mut raw::Str {
    // SAFETY: the pointer that was registered. The server copies the string.
    unsafe { &*own.cast::<Text>() }.shown.0.load(Ordering::Relaxed)
}

unsafe extern "C" fn set_text(
    _name: *const c_char,
    value: *mut raw::Str,
    own: *mut c_void,
    error: *mut *mut raw::Str,
) -> c_int {
    guarded(ERR, || {
        let mut length = 0;
        // SAFETY: the pointer that was registered, and a string of the server.
        let (text, bytes) = unsafe {
            let start = (api().StringPtrLen)(value, &mut length);
            (&*own.cast::<Text>(), slice::from_raw_parts(start.cast::<u8>(), length))
        };
        let Err(reason) = text.set(bytes) else { return OK };
        // SAFETY: the server frees the string.
        unsafe {
            let (start, length) = (reason.as_ptr().cast(), reason.len());
            *error = (api().CreateString)(std::ptr::null_mut(), start, length);
        }
        ERR
    })
}
