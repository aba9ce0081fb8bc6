//! All memory comes from the server, so that `maxmemory`, `INFO memory` and eviction see it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::c_void;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::api::{GetApi, find};

/// Alignment that the server's allocator always gives.
pub(super) const ALIGNMENT: usize = 16;

/// Bytes from which an allocation may fail where smaller ones would not.
const LARGE: usize = 1 << 20;

struct Functions {
    allocate: unsafe extern "C" fn(usize) -> *mut c_void,
    zeroed: unsafe extern "C" fn(usize, usize) -> *mut c_void,
    reallocate: unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void),
    /// Redis 7.0 has neither `TryCalloc` nor `TryRealloc`, and the others end the server if there is no memory.
    may_abort: bool,
}

impl Functions {
    /// Whether there is memory, if asking for it could end the server: an allocation that may fail is tried first.
    fn has_room(&self, bytes: usize) -> bool {
        if !self.may_abort || bytes < LARGE {
            return true;
        }
        // SAFETY: freed at once, and free ignores null.
        unsafe {
            let probe = (self.allocate)(bytes);
            (self.free)(probe);
            !probe.is_null()
        }
    }

    /// Zeroed memory, or null.
    fn allocate_zeroed(&self, bytes: usize) -> *mut u8 {
        if !self.has_room(bytes) {
            return std::ptr::null_mut();
        }
        // SAFETY: a size for an allocator.
        unsafe { (self.zeroed)(1, bytes) }.cast()
    }
}

static FUNCTIONS: OnceLock<Functions> = OnceLock::new();

/// Bytes that the module holds.
static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

/// Bytes that the module holds, over all keys.
pub(crate) fn allocated() -> usize {
    ALLOCATED.load(Ordering::Relaxed)
}

/// Finds the server's allocator. Must come before the first allocation.
///
/// # Safety
/// `get` is the server's own `GetApi`.
pub(super) unsafe fn load(get: GetApi) -> Result<(), &'static str> {
    // SAFETY: the caller's promise; the types are those of the C header.
    let functions = unsafe {
        let (zeroed, reallocate) =
            (find(get, "RedisModule_TryCalloc\0"), find(get, "RedisModule_TryRealloc\0"));
        Functions {
            allocate: std::mem::transmute::<
                *const c_void,
                unsafe extern "C" fn(usize) -> *mut c_void,
            >(find(get, "RedisModule_TryAlloc\0").ok_or("TryAlloc")?),
            zeroed: std::mem::transmute::<
                *const c_void,
                unsafe extern "C" fn(usize, usize) -> *mut c_void,
            >(zeroed.or(find(get, "RedisModule_Calloc\0")).ok_or("Calloc")?),
            reallocate: std::mem::transmute::<
                *const c_void,
                unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void,
            >(
                reallocate.or(find(get, "RedisModule_Realloc\0")).ok_or("Realloc")?
            ),
            free: std::mem::transmute::<*const c_void, unsafe extern "C" fn(*mut c_void)>(
                find(get, "RedisModule_Free\0").ok_or("Free")?,
            ),
            may_abort: zeroed.is_none() || reallocate.is_none(),
        }
    };
    let _ = FUNCTIONS.set(functions);
    Ok(())
}

/// The server's allocator; the system's in unit tests, which have no server.
struct ServerAllocator;

#[global_allocator]
static ALLOCATOR: ServerAllocator = ServerAllocator;

/// The server's functions, for layouts that they can serve. The module and its library need no stricter alignment:
/// they align cache lines themselves.
fn functions(layout: Layout) -> Option<&'static Functions> {
    FUNCTIONS.get().filter(|_| layout.align() <= ALIGNMENT)
}

fn counted(pointer: *mut u8, bytes: usize) -> *mut u8 {
    if !pointer.is_null() {
        ALLOCATED.fetch_add(bytes, Ordering::Relaxed);
    }
    pointer
}

// SAFETY: each layout is always served by the same allocator, because the functions are set before the first allocation
// and the choice depends on nothing else than the alignment. Both are valid allocators for what they are asked.
unsafe impl GlobalAlloc for ServerAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let pointer = match functions(layout) {
            // SAFETY: a size for an allocator.
            Some(functions) => unsafe { (functions.allocate)(layout.size()) }.cast(),
            // SAFETY: the caller's promise.
            None => unsafe { System.alloc(layout) },
        };
        counted(pointer, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let pointer = match functions(layout) {
            Some(functions) => functions.allocate_zeroed(layout.size()),
            // SAFETY: the caller's promise.
            None => unsafe { System.alloc_zeroed(layout) },
        };
        counted(pointer, layout.size())
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        match functions(layout) {
            // SAFETY: from the same allocator.
            Some(functions) => unsafe { (functions.free)(pointer.cast()) },
            // SAFETY: the caller's promise.
            None => unsafe { System.dealloc(pointer, layout) },
        }
        ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let moved = match functions(layout) {
            Some(functions) if !functions.has_room(size) => std::ptr::null_mut(),
            // SAFETY: from the same allocator.
            Some(functions) => unsafe { (functions.reallocate)(pointer.cast(), size) }.cast(),
            // SAFETY: the caller's promise.
            None => unsafe { System.realloc(pointer, layout, size) },
        };
        if !moved.is_null() {
            ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
        }
        counted(moved, size)
    }
}

/// Frees memory that the server allocated for the module. Null is ignored.
///
/// # Safety
/// `pointer` comes from the server's allocator and is not used afterwards.
pub(super) unsafe fn free(pointer: *mut c_void) {
    if let Some(functions) = FUNCTIONS.get().filter(|_| !pointer.is_null()) {
        // SAFETY: the caller's promise.
        unsafe { (functions.free)(pointer) };
    }
}
