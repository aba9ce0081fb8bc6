//! The type of the module's values, and what the server asks of it.

use std::ffi::{c_char, c_int, c_void};
use std::io::Write;
use std::sync::atomic::Ordering;

use super::alloc::ALIGNMENT;
use super::api::{api, raw};
use super::context::{Context, Name};
use super::key::TYPE;
use super::stream::{self, AofSink, RdbReader};
use super::{c_string, guarded};
use crate::rdb;
use crate::value::Content;

/// Nine characters, of the server's alphabet.
const NAME: &std::ffi::CStr = c"equibloom";

type Save = unsafe extern "C" fn(*mut raw::Io, *mut c_void);

/// `RedisModuleTypeMethods`, version 3: what Redis 6.2 and everything later knows.
#[repr(C)]
pub(super) struct TypeMethods {
    version: u64,
    rdb_load: unsafe extern "C" fn(*mut raw::Io, c_int) -> *mut c_void,
    rdb_save: Save,
    aof_rewrite: unsafe extern "C" fn(*mut raw::Io, *mut raw::Str, *mut c_void),
    mem_usage: unsafe extern "C" fn(*const c_void) -> usize,
    digest: unsafe extern "C" fn(*mut raw::Digest, *mut c_void),
    free: unsafe extern "C" fn(*mut c_void),
    aux_load: Option<unsafe extern "C" fn(*mut raw::Io, c_int, c_int) -> c_int>,
    aux_save: Option<unsafe extern "C" fn(*mut raw::Io, c_int)>,
    aux_save_triggers: c_int,
    free_effort: unsafe extern "C" fn(*mut raw::Str, *const c_void) -> usize,
    unlink: Option<unsafe extern "C" fn(*mut raw::Str, *const c_void)>,
    copy: unsafe extern "C" fn(*mut raw::Str, *mut raw::Str, *const c_void) -> *mut c_void,
    defrag: unsafe extern "C" fn(*mut raw::Defrag, *mut raw::Str, *mut *mut c_void) -> c_int,
}

const METHODS: TypeMethods = TypeMethods {
    version: 3,
    rdb_load,
    rdb_save,
    aof_rewrite,
    mem_usage,
    digest,
    free,
    aux_load: None,
    aux_save: None,
    aux_save_triggers: 0,
    free_effort,
    unlink: None,
    copy,
    defrag,
};

/// Registers the type.
pub(super) fn register(context: &Context) -> Result<(), String> {
    // SAFETY: the server copies the methods.
    let registered =
        unsafe { (api().CreateDataType)(context.raw, NAME.as_ptr(), rdb::VERSION, &METHODS) };
    if registered.is_null() {
        return Err("the server refused the type \"equibloom\"".into());
    }
    TYPE.store(registered, Ordering::Relaxed);
    Ok(())
}

/// The content behind the server's pointer.
///
/// # Safety
/// The pointer comes from this module, and nothing changes the content meanwhile.
unsafe fn content<'a>(value: *const c_void) -> &'a Content {
    // SAFETY: the caller's promise.
    unsafe { &*value.cast() }
}

unsafe extern "C" fn rdb_load(io: *mut raw::Io, version: c_int) -> *mut c_void {
    guarded(std::ptr::null_mut(), || match rdb::load(RdbReader::new(io), version) {
        Ok(content) => Box::into_raw(Box::new(content)).cast(),
        Err(reason) => {
            let line = c_string(&format!("a filter cannot be loaded: {reason}"));
            // SAFETY: the format takes one string.
            unsafe {
                (api().LogIOError)(io, c"warning".as_ptr(), c"%s".as_ptr(), line.as_ptr());
            }
            std::ptr::null_mut()
        }
    })
}

unsafe extern "C" fn rdb_save(io: *mut raw::Io, value: *mut c_void) {
    // SAFETY: the server passes what this module stored.
    let content = unsafe { content(value) };
    guarded((), || stream::save(io, |writer| content.write(writer)));
}

unsafe extern "C" fn aof_rewrite(io: *mut raw::Io, key: *mut raw::Str, value: *mut c_void) {
    // SAFETY: the server passes what this module stored.
    let content = unsafe { content(value) };
    let sink = AofSink { aof: io, name: Name::borrowed(key) };
    guarded((), || rdb::rewrite(content, &sink));
}

unsafe extern "C" fn mem_usage(value: *const c_void) -> usize {
    // SAFETY: the server passes what this module stored.
    let content = unsafe { content(value) };
    guarded(0, || content.bytes() as usize)
}

unsafe extern "C" fn digest(digest: *mut raw::Digest, value: *mut c_void) {
    struct Digest(*mut raw::Digest);
    impl Write for Digest {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            // SAFETY: the server's digest, while it asks for the value's.
            unsafe {
                (api().DigestAddStringBuffer)(self.0, bytes.as_ptr().cast::<c_char>(), bytes.len());
            }
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    // SAFETY: the server passes what this module stored.
    let content = unsafe { content(value) };
    guarded((), || {
        // Writing to a digest cannot fail.
        let _ = content.write(&mut Digest(digest));
        // SAFETY: as above.
        unsafe { (api().DigestEndSequence)(digest) };
    });
}

/// Called by the main thread, or by the one that frees lazily.
unsafe extern "C" fn free(value: *mut c_void) {
    // SAFETY: the server gives back what it got from a box, once.
    guarded((), || drop(unsafe { Box::from_raw(value.cast::<Content>()) }));
}

/// Many allocations are freed in the background.
unsafe extern "C" fn free_effort(_key: *mut raw::Str, value: *const c_void) -> usize {
    // SAFETY: the server passes what this module stored.
    let content = unsafe { content(value) };
    guarded(1, || content.allocations())
}

unsafe extern "C" fn copy(
    _from: *mut raw::Str,
    _to: *mut raw::Str,
    value: *const c_void,
) -> *mut c_void {
    // SAFETY: the server passes what this module stored.
    let content = unsafe { content(value) };
    guarded(std::ptr::null_mut(), || Box::into_raw(Box::new(content.clone())).cast())
}

/// Moves the value and its parts. What these point to is left: large blocks are in allocations that the allocator does not
/// compact, and the library keeps small ones to itself.
unsafe extern "C" fn defrag(
    defrag: *mut raw::Defrag,
    _key: *mut raw::Str,
    value: *mut *mut c_void,
) -> c_int {
    guarded(0, || {
        // SAFETY: the server's pointer to the value is a box of this module, and nothing else uses it meanwhile.
        unsafe {
            let content = &mut *value.cast::<Box<Content>>();
            move_box(defrag, content);
            if let Content::Filter(value) = &mut **content {
                value.planned.iter_mut().for_each(|part| move_box(defrag, part));
                value.growing.iter_mut().for_each(|part| move_box(defrag, part));
            }
        }
        0
    })
}

/// Moves what a box holds to where the server wants it, if anywhere.
///
/// # Safety
/// The server calls for a pass of its defragmentation.
unsafe fn move_box<T>(defrag: *mut raw::Defrag, boxed: &mut Box<T>) {
    // Otherwise it is not from the server's allocator.
    const { assert!(align_of::<T>() <= ALIGNMENT) };
    // SAFETY: Rust may move any value by copying its bytes. The server copies them and frees the old place, which
    // `write` does not do again.
    unsafe {
        let moved = (api().DefragAlloc)(defrag, std::ptr::from_mut(&mut **boxed).cast());
        if !moved.is_null() {
            std::ptr::write(boxed, Box::from_raw(moved.cast()));
        }
    }
}
