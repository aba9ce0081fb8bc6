//! Commands: what the server is told of each, and how it calls them.

use std::ffi::{CStr, CString, c_char, c_int};

use super::api::{CommandFn, ERR, OK, api, raw};
use super::context::{Arguments, Context};
use super::{c_string, guarded};
use crate::reply::{Error, Reply};

/// A command.
pub(crate) trait Command {
    const SPEC: Spec;

    /// Runs the command. The arguments are at least as many as the specification says.
    fn run(context: &Context, arguments: Arguments<'_>) -> Result<Reply, Error>;
}

/// What the server is told of a command.
pub(crate) struct Spec {
    /// Without prefix, in capitals.
    pub(crate) name: &'static str,
    /// `write` or `readonly`, `deny-oom`, `fast`, `admin`: these also say which ACL categories it is in.
    pub(crate) flags: &'static CStr,
    /// Number of arguments with the name; negative: at least so many.
    pub(crate) arity: c_int,
    pub(crate) keys: Keys,
    pub(crate) summary: &'static CStr,
    pub(crate) complexity: &'static CStr,
    /// Tips for clients and proxies.
    pub(crate) tips: Option<&'static CStr>,
}

/// Which arguments are keys, and what happens to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keys {
    None,
    /// The first is read.
    Read,
    /// The first is changed or created.
    Change,
    /// The first is changed or created, the others are read.
    ChangeAndRead,
}

#[repr(C)]
struct InfoVersion {
    version: c_int,
    history_entry: usize,
    key_spec: usize,
    argument: usize,
}

/// `RedisModuleCommandKeySpec`.
#[repr(C)]
#[derive(Clone, Copy)]
struct KeySpec {
    notes: *const c_char,
    flags: u64,
    begin_search: c_int,
    begin: Begin,
    find_keys: c_int,
    /// Last key, step, limit.
    range: [c_int; 3],
}

#[repr(C)]
#[derive(Clone, Copy)]
union Begin {
    index: c_int,
    /// The larger variant, unused here.
    keyword: (*const c_char, c_int),
}

/// `RedisModuleCommandInfo`.
#[repr(C)]
pub(super) struct CommandInfo {
    version: *const InfoVersion,
    summary: *const c_char,
    complexity: *const c_char,
    since: *const c_char,
    history: *const c_char,
    tips: *const c_char,
    arity: c_int,
    key_specs: *const KeySpec,
    arguments: *const c_char,
}

/// Sizes of structures that the server reads arrays of. The other two are never passed.
const INFO_VERSION: InfoVersion = InfoVersion {
    version: 1,
    history_entry: 2 * size_of::<usize>(),
    key_spec: size_of::<KeySpec>(),
    argument: 9 * size_of::<usize>(),
};

const BY_INDEX: c_int = 2;
const RANGE: c_int = 2;
const READ_ACCESS: u64 = 1 << 0 | 1 << 4;
const CHANGE: u64 = 1 << 1 | 1 << 4 | 1 << 5;

/// The category of all commands, as other Bloom modules have it.
const CATEGORY: &CStr = c"bloom";

/// Creates the category. A server without module categories, or with this one, is fine.
pub(super) fn create_category(context: &Context) {
    if let Some(add) = api().AddACLCategory {
        // SAFETY: while the module is loaded, as the server asks.
        unsafe { add(context.raw, CATEGORY.as_ptr()) };
    }
}

/// Registers a command under a prefix. `false` if the server has a command of this name.
pub(super) fn register<C: Command>(context: &Context, prefix: &str) -> Result<bool, String> {
    let spec = C::SPEC;
    let name = c_string(&format!("{prefix}.{}", spec.name));
    let (first, last, step) = match spec.keys {
        Keys::None => (0, 0, 0),
        Keys::Read | Keys::Change => (1, 1, 1),
        Keys::ChangeAndRead => (1, -1, 1),
    };
    let entry: CommandFn = enter::<C>;
    // SAFETY: all strings end with a zero; the server copies them.
    unsafe {
        let (name, flags) = (name.as_ptr(), spec.flags.as_ptr());
        if (api().CreateCommand)(context.raw, name, entry, flags, first, last, step) != OK {
            return Ok(false);
        }
        let command = (api().GetCommand)(context.raw, name);
        if command.is_null() || !describe(command, &spec) {
            return Err(format!("the server refused the description of {}", spec.name));
        }
        if let Some(set) = api().SetCommandACLCategories {
            set(command, categories(&spec).as_ptr());
        }
    }
    Ok(true)
}

/// The ACL categories of a command: those that its flags imply, and the module's own.
fn categories(spec: &Spec) -> CString {
    let flags = spec.flags.to_string_lossy();
    let implied = [("write", "write"), ("readonly", "read"), ("admin", "admin dangerous")];
    let implied = implied.iter().filter(|(flag, _)| flags.contains(flag));
    let speed = if flags.contains("fast") { "fast" } else { "slow" };
    let mut all = implied.fold(speed.to_owned(), |all, (_, more)| format!("{all} {more}"));
    // A server refuses all of them if it does not know one.
    if api().AddACLCategory.is_some() {
        all = format!("{all} {}", CATEGORY.to_string_lossy());
    }
    c_string(&all)
}

/// # Safety
/// The command is registered.
unsafe fn describe(command: *mut raw::Cmd, spec: &Spec) -> bool {
    let keys = |flags, position, last| KeySpec {
        notes: std::ptr::null(),
        flags,
        begin_search: BY_INDEX,
        begin: Begin { index: position },
        find_keys: RANGE,
        range: [last, 1, 0],
    };
    let end = KeySpec { begin_search: 0, find_keys: 0, ..keys(0, 0, 0) };
    let key_specs = match spec.keys {
        Keys::None => vec![end],
        Keys::Read => vec![keys(READ_ACCESS, 1, 0), end],
        Keys::Change => vec![keys(CHANGE, 1, 0), end],
        Keys::ChangeAndRead => vec![keys(CHANGE, 1, 0), keys(READ_ACCESS, 2, -1), end],
    };
    let info = CommandInfo {
        version: &INFO_VERSION,
        summary: spec.summary.as_ptr(),
        complexity: spec.complexity.as_ptr(),
        since: c"0.1.0".as_ptr(),
        history: std::ptr::null(),
        tips: spec.tips.map_or(std::ptr::null(), CStr::as_ptr),
        arity: spec.arity,
        key_specs: key_specs.as_ptr(),
        arguments: std::ptr::null(),
    };
    // SAFETY: the caller's promise; the server copies everything.
    unsafe { (api().SetCommandInfo)(command, &info) == OK }
}

/// What the server calls.
unsafe extern "C" fn enter<C: Command>(
    raw: *mut raw::Ctx,
    first: *mut *mut raw::Str,
    count: c_int,
) -> c_int {
    let context = Context { raw };
    let arity = C::SPEC.arity;
    if if arity < 0 { count < -arity } else { count != arity } {
        // SAFETY: the context is valid.
        return unsafe { (api().WrongArity)(raw) };
    }
    // SAFETY: the server keeps the arguments while it runs the command.
    let arguments = unsafe { Arguments::new(first, count) };
    let panicked = Err(Error::new("ERR internal error, see the server's output; please report it"));
    let result = guarded(panicked, || C::run(&context, arguments));
    guarded(ERR, || {
        match result {
            Ok(reply) => context.reply(&reply),
            Err(Error::Text(text)) => context.reply(&Reply::Error(text)),
            // SAFETY: the context is valid.
            Err(Error::Arity) => return unsafe { (api().WrongArity)(raw) },
        }
        OK
    })
}
