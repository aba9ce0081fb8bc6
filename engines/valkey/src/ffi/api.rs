//! The functions of the module API that are used, under their names in `redismodule.h`.

use std::ffi::{c_char, c_double, c_int, c_long, c_longlong, c_uint, c_ulonglong, c_void};
use std::sync::OnceLock;

/// Opaque types of the server.
pub(super) mod raw {
    macro_rules! opaque {
        ($($(#[$doc:meta])* $name:ident)*) => {$(
            $(#[$doc])*
            #[repr(C)]
            pub(in crate::ffi) struct $name {
                _opaque: [u8; 0],
            }
        )*};
    }

    opaque! {
        /// What a command or callback runs in.
        Ctx
        /// A string with a reference count.
        Str
        /// An open key.
        Key
        /// A registered type of values.
        Type
        /// A registered command.
        Cmd
        /// An RDB or AOF that is read or written.
        Io
        /// A digest of a value, for `DEBUG DIGEST`.
        Digest
        /// A section of INFO that is written.
        Info
        /// Fields of INFO that are read.
        ServerInfo
        /// A pass of the active defragmentation.
        Defrag
    }
}

use raw::{Cmd, Ctx, Defrag, Digest, Info, Io, Key, ServerInfo, Str, Type};

pub(super) const OK: c_int = 0;
pub(super) const ERR: c_int = 1;
pub(super) const API_VERSION: c_int = 1;

pub(super) type CommandFn = unsafe extern "C" fn(*mut Ctx, *mut *mut Str, c_int) -> c_int;
pub(super) type GetString = unsafe extern "C" fn(*const c_char, *mut c_void) -> *mut Str;
pub(super) type SetString =
    unsafe extern "C" fn(*const c_char, *mut Str, *mut c_void, *mut *mut Str) -> c_int;
pub(super) type GetNumber = unsafe extern "C" fn(*const c_char, *mut c_void) -> c_longlong;
pub(super) type SetNumber =
    unsafe extern "C" fn(*const c_char, c_longlong, *mut c_void, *mut *mut Str) -> c_int;
pub(super) type Apply = unsafe extern "C" fn(*mut Ctx, *mut c_void, *mut *mut Str) -> c_int;
pub(super) type GetApi = unsafe extern "C" fn(*const c_char, *mut *const c_void) -> c_int;

/// Declares the table of functions, and how it is filled.
macro_rules! api {
    (
        required { $($name:ident: $type:ty;)* }
        optional { $($other:ident: $other_type:ty;)* }
    ) => {
        /// The server's functions.
        #[allow(non_snake_case, reason = "the names of the C header")]
        pub(super) struct Api {
            $(pub(super) $name: $type,)*
            $(pub(super) $other: Option<$other_type>,)*
        }

        impl Api {
            /// Asks the server for every function. An error is the name of one that it lacks.
            ///
            /// # Safety
            /// `get` is the server's own `GetApi`.
            unsafe fn load(get: GetApi) -> Result<Self, &'static str> {
                Ok(Self {
                    $($name: {
                        // SAFETY: the server knows its functions by these names, with these types.
                        let function = unsafe { find(get, concat!("RedisModule_", stringify!($name), "\0")) };
                        // SAFETY: as above; a pointer to a function is a pointer.
                        unsafe { function.map(|found| std::mem::transmute::<*const c_void, $type>(found)) }
                            .ok_or(stringify!($name))?
                    },)*
                    $($other: {
                        // SAFETY: as above.
                        let function = unsafe { find(get, concat!("RedisModule_", stringify!($other), "\0")) };
                        // SAFETY: as above.
                        unsafe { function.map(|found| std::mem::transmute::<*const c_void, $other_type>(found)) }
                    },)*
                })
            }
        }
    };
}

api! {
    required {
        SetModuleAttribs: unsafe extern "C" fn(*mut Ctx, *const c_char, c_int, c_int);
        IsModuleNameBusy: unsafe extern "C" fn(*const c_char) -> c_int;
        SetModuleOptions: unsafe extern "C" fn(*mut Ctx, c_int);
        Log: unsafe extern "C" fn(*mut Ctx, *const c_char, *const c_char, ...);
        GetContextFlags: unsafe extern "C" fn(*mut Ctx) -> c_int;
        // Commands and replies.
        CreateCommand: unsafe extern "C" fn(
            *mut Ctx, *const c_char, CommandFn, *const c_char, c_int, c_int, c_int) -> c_int;
        GetCommand: unsafe extern "C" fn(*mut Ctx, *const c_char) -> *mut Cmd;
        SetCommandInfo: unsafe extern "C" fn(*mut Cmd, *const super::command::CommandInfo) -> c_int;
        WrongArity: unsafe extern "C" fn(*mut Ctx) -> c_int;
        ReplyWithLongLong: unsafe extern "C" fn(*mut Ctx, c_longlong) -> c_int;
        ReplyWithBool: unsafe extern "C" fn(*mut Ctx, c_int) -> c_int;
        ReplyWithDouble: unsafe extern "C" fn(*mut Ctx, c_double) -> c_int;
        ReplyWithNull: unsafe extern "C" fn(*mut Ctx) -> c_int;
        ReplyWithError: unsafe extern "C" fn(*mut Ctx, *const c_char) -> c_int;
        ReplyWithSimpleString: unsafe extern "C" fn(*mut Ctx, *const c_char) -> c_int;
        ReplyWithStringBuffer: unsafe extern "C" fn(*mut Ctx, *const c_char, usize) -> c_int;
        ReplyWithArray: unsafe extern "C" fn(*mut Ctx, c_long) -> c_int;
        ReplyWithMap: unsafe extern "C" fn(*mut Ctx, c_long) -> c_int;
        StringPtrLen: unsafe extern "C" fn(*const Str, *mut usize) -> *const c_char;
        CreateString: unsafe extern "C" fn(*mut Ctx, *const c_char, usize) -> *mut Str;
        FreeString: unsafe extern "C" fn(*mut Ctx, *mut Str);
        Replicate: unsafe extern "C" fn(*mut Ctx, *const c_char, *const c_char, ...) -> c_int;
        ReplicateVerbatim: unsafe extern "C" fn(*mut Ctx) -> c_int;
        // Keys.
        OpenKey: unsafe extern "C" fn(*mut Ctx, *mut Str, c_int) -> *mut Key;
        CloseKey: unsafe extern "C" fn(*mut Key);
        KeyType: unsafe extern "C" fn(*mut Key) -> c_int;
        SetExpire: unsafe extern "C" fn(*mut Key, c_longlong) -> c_int;
        GetAbsExpire: unsafe extern "C" fn(*mut Key) -> c_longlong;
        SignalModifiedKey: unsafe extern "C" fn(*mut Ctx, *mut Str) -> c_int;
        NotifyKeyspaceEvent: unsafe extern "C" fn(*mut Ctx, c_int, *const c_char, *mut Str) -> c_int;
        // The type of values.
        CreateDataType: unsafe extern "C" fn(
            *mut Ctx, *const c_char, c_int, *const super::data_type::TypeMethods) -> *mut Type;
        ModuleTypeSetValue: unsafe extern "C" fn(*mut Key, *mut Type, *mut c_void) -> c_int;
        ModuleTypeGetType: unsafe extern "C" fn(*mut Key) -> *mut Type;
        ModuleTypeGetValue: unsafe extern "C" fn(*mut Key) -> *mut c_void;
        SaveStringBuffer: unsafe extern "C" fn(*mut Io, *const c_char, usize);
        LoadStringBuffer: unsafe extern "C" fn(*mut Io, *mut usize) -> *mut c_char;
        IsIOError: unsafe extern "C" fn(*mut Io) -> c_int;
        LogIOError: unsafe extern "C" fn(*mut Io, *const c_char, *const c_char, ...);
        EmitAOF: unsafe extern "C" fn(*mut Io, *const c_char, *const c_char, ...);
        DigestAddStringBuffer: unsafe extern "C" fn(*mut Digest, *const c_char, usize);
        DigestEndSequence: unsafe extern "C" fn(*mut Digest);
        DefragAlloc: unsafe extern "C" fn(*mut Defrag, *mut c_void) -> *mut c_void;
        // INFO.
        RegisterInfoFunc: unsafe extern "C" fn(
            *mut Ctx, unsafe extern "C" fn(*mut Info, c_int)) -> c_int;
        InfoAddSection: unsafe extern "C" fn(*mut Info, *const c_char) -> c_int;
        InfoAddFieldULongLong: unsafe extern "C" fn(*mut Info, *const c_char, c_ulonglong) -> c_int;
        GetServerInfo: unsafe extern "C" fn(*mut Ctx, *const c_char) -> *mut ServerInfo;
        FreeServerInfo: unsafe extern "C" fn(*mut Ctx, *mut ServerInfo);
        ServerInfoGetFieldUnsigned: unsafe extern "C" fn(
            *mut ServerInfo, *const c_char, *mut c_int) -> c_ulonglong;
        // CONFIG.
        RegisterStringConfig: unsafe extern "C" fn(*mut Ctx, *const c_char, *const c_char, c_uint,
            GetString, SetString, Option<Apply>, *mut c_void) -> c_int;
        RegisterNumericConfig: unsafe extern "C" fn(*mut Ctx, *const c_char, c_longlong, c_uint,
            c_longlong, c_longlong, GetNumber, SetNumber, Option<Apply>, *mut c_void) -> c_int;
        LoadConfigs: unsafe extern "C" fn(*mut Ctx) -> c_int;
    }
    // Both are missing in Redis 7.0, the first also in Valkey 8.0.
    optional {
        AddACLCategory: unsafe extern "C" fn(*mut Ctx, *const c_char) -> c_int;
        SetCommandACLCategories: unsafe extern "C" fn(*mut Cmd, *const c_char) -> c_int;
    }
}

/// A function of the server by its name, which ends with a zero.
///
/// # Safety
/// `get` is the server's own `GetApi`.
pub(super) unsafe fn find(get: GetApi, name: &'static str) -> Option<*const c_void> {
    let mut function = std::ptr::null();
    // SAFETY: the name ends with a zero, and the server writes a pointer.
    let found = unsafe { get(name.as_ptr().cast(), &mut function) };
    (found == OK && !function.is_null()).then_some(function)
}

static API: OnceLock<Api> = OnceLock::new();

/// Whether the server is Valkey, which has its functions under its own name, too.
///
/// # Safety
/// `context` is what the server passed to the module's `OnLoad`.
pub(super) unsafe fn is_valkey(context: *mut Ctx) -> bool {
    // SAFETY: the caller's promise.
    unsafe { find(get_api(context), "ValkeyModule_SetModuleOptions\0").is_some() }
}

/// Finds all functions.
///
/// # Safety
/// `context` is what the server passed to the module's `OnLoad`.
pub(super) unsafe fn load(context: *mut Ctx) -> Result<(), &'static str> {
    // SAFETY: the first word of this context is the pointer to `GetApi`.
    let get = unsafe { get_api(context) };
    // SAFETY: the allocator is the server's from the first allocation on.
    unsafe { super::alloc::load(get) }?;
    // SAFETY: as above.
    let api = unsafe { Api::load(get) }?;
    let _ = API.set(api);
    Ok(())
}

/// # Safety
/// As for [`load`].
unsafe fn get_api(context: *mut Ctx) -> GetApi {
    // SAFETY: the caller's promise.
    unsafe { std::mem::transmute::<*const c_void, GetApi>(*context.cast::<*const c_void>()) }
}

/// The server's functions. Nothing is called before the module is loaded.
#[allow(clippy::expect_used, reason = "every caller was called by the server, after loading")]
pub(super) fn api() -> &'static Api {
    API.get().expect("the module is loaded")
}
