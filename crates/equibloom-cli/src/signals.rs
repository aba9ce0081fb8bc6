//! Ends that Rust does not turn into errors: memory that cannot be had, and a mapped file that became shorter.
//!
//! Without a handler the command would end by a signal, `SIGABRT` or `SIGBUS`. With it, it prints an error and has the
//! exit status of one. Temporary files stay behind, as after a kill.

/// Installs the handlers.
#[cfg(unix)]
pub(crate) fn install() {
    for (signal, handler) in [
        (libc::SIGABRT, out_of_memory as extern "C" fn(libc::c_int)),
        (libc::SIGBUS, file_cut_short),
    ] {
        // SAFETY: the handlers are for this signature and call async-signal-safe functions only.
        unsafe { libc::signal(signal, handler as libc::sighandler_t) };
    }
}

#[cfg(not(unix))]
pub(crate) fn install() {}

/// The library has printed what could not be had.
#[cfg(unix)]
extern "C" fn out_of_memory(_: libc::c_int) {
    end(b"error: the command stopped, see above: give it more memory, or smaller files and shorter lines (--max-record)\n");
}

#[cfg(unix)]
extern "C" fn file_cut_short(_: libc::c_int) {
    end(b"error: a filter file was cut short by another program while it was asked: replace filter files as a whole\n");
}

#[cfg(unix)]
fn end(message: &[u8]) -> ! {
    // SAFETY: both functions are async-signal-safe, and the bytes are valid for reads. `_exit` does not return.
    unsafe {
        libc::write(libc::STDERR_FILENO, message.as_ptr().cast(), message.len());
        libc::_exit(2)
    }
}
