//! `EB.LOAD` and `EB.DUMP`: the library's own files, in the directory that the configuration names and nowhere else.

use std::path::{Path, PathBuf};

use equibloom::file::FileErrorKind;

use super::add::filter;
use super::options;
use crate::config;
use crate::ffi::{Arguments, Command, Context, Keys, Name, Spec};
use crate::replication;
use crate::reply::{Error, Reply, text};
use crate::value::{Content, Growing, HIGHEST_RATE, PLANNED_SHARE, Planned, Reservation, Value};

/// What the second file of a filter with two parts ends with.
const GROWING_SUFFIX: &str = ".growing";

pub(crate) struct Load;

impl Command for Load {
    const SPEC: Spec = Spec {
        name: "LOAD",
        flags: c"write deny-oom admin",
        arity: -3,
        keys: Keys::Change,
        summary: c"Creates a filter from files of the library in the configured directory",
        complexity: c"O(N), N: bytes of the files",
        tips: None,
    };

    fn run(context: &Context, arguments: Arguments<'_>) -> Result<Reply, Error> {
        let mut key = context.write(arguments.name(1))?;
        if key.content().is_some() {
            return Err(Error::EXISTS);
        }
        let mut loaded: Option<Value> = None;
        for name in arguments.from(2) {
            let part = load(context, &path(name)?)?;
            match &mut loaded {
                Some(loaded) => loaded.merge(&part).map_err(Error::because)?,
                none => *none = Some(part),
            }
        }
        let loaded = loaded.ok_or(Error::Arity)?;
        options::check_limit(context, loaded.bytes())?;
        key.set(Content::Filter(loaded));
        let name = key.name;
        if let Some(Content::Filter(value)) = key.content() {
            replication::loaded(context, name, value);
        }
        context.changed(key.name, c"bloom.load");
        Ok(Reply::Ok)
    }
}

/// Reads a file of either kind.
fn load(context: &Context, path: &Path) -> Result<Value, Error> {
    let metadata = std::fs::metadata(path).map_err(|error| refused(path, error))?;
    // The server would wait for whatever writes to a pipe.
    if !metadata.is_file() {
        return Err(refused(path, "this is no file"));
    }
    options::check_encoded(context, metadata.len())?;
    match Planned::load(path) {
        Ok(planned) => {
            let parameters = *planned.parameters();
            let expected = parameters.predict(parameters.keys).map_err(Error::because)?;
            let removable = parameters.design.is_multiset();
            // The file's own rate, and a share for keys beyond it.
            let share = if removable { 1.0 } else { PLANNED_SHARE };
            let reservation = Reservation {
                rate: (expected.rate / share).min(HIGHEST_RATE),
                capacity: parameters.keys,
                expansion: if removable { 0 } else { 2 },
                removable,
                seed: parameters.seed,
            };
            Ok(Value::of_parts(reservation, Some(planned), None))
        }
        Err(error) if matches!(error.kind(), FileErrorKind::NotAFilter { .. }) => {
            let growing = Growing::load(path).map_err(Error::because)?;
            let reservation = Reservation {
                rate: growing.rate(),
                capacity: growing.len().max(1),
                expansion: 2,
                removable: growing.is_removable(),
                seed: growing.hasher().seed(),
            };
            Ok(Value::of_parts(reservation, None, Some(growing)))
        }
        Err(error) => Err(Error::because(error)),
    }
}

pub(crate) struct Dump;

impl Command for Dump {
    const SPEC: Spec = Spec {
        name: "DUMP",
        // Not `readonly`: that would let every reader write files.
        flags: c"admin",
        arity: 3,
        keys: Keys::Read,
        summary:
            c"Writes a filter to files of the library in the configured directory, and names them",
        complexity: c"O(N), N: bytes of the filter",
        tips: None,
    };

    fn run(context: &Context, arguments: Arguments<'_>) -> Result<Reply, Error> {
        let path = path(arguments.name(2))?;
        let written = filter(context, arguments.name(1), |value| dump(value, &path))?;
        let names = written.ok_or(Error::NOT_FOUND)?.map_err(Error::because)?;
        Ok(Reply::Array(names.into_iter().map(text).collect()))
    }
}

/// Writes one file, or two for a filter with both parts.
fn dump(value: &Value, path: &Path) -> Result<Vec<String>, String> {
    let name = |path: &Path| {
        path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let mut names = Vec::new();
    let mut growing_path = path.to_owned();
    if let Some(planned) = &value.planned {
        planned.save(path).map_err(|error| error.to_string())?;
        names.push(name(path));
        growing_path.as_mut_os_string().push(GROWING_SUFFIX);
    }
    if let Some(growing) = &value.growing {
        growing.save(&growing_path).map_err(|error| error.to_string())?;
        names.push(name(&growing_path));
    }
    Ok(names)
}

/// A file of the configured directory.
fn path(name: Name<'_>) -> Result<PathBuf, Error> {
    let directory = config::DIRECTORY.get();
    if directory.is_empty() {
        return Err(Error::new(
            "ERR no directory for files: set equibloom.directory in the configuration",
        ));
    }
    let name = str::from_utf8(name.bytes()).ok();
    let is_plain = |name: &&str| {
        !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0'])
    };
    let refused = Error::new(
        "ERR bad file name: it is a name in equibloom.directory, without slashes, and not hidden",
    );
    Ok(Path::new(&directory).join(name.filter(is_plain).ok_or(refused)?))
}

fn refused(path: &Path, reason: impl std::fmt::Display) -> Error {
    Error::because(format!("{}: {reason}", path.display()))
}
