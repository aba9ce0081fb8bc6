//! `equibloom index`, on lakes of Parquet files.

use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use parquet::data_type::Int64Type;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::scratch::Scratch;

/// Ids of a file, which no other file has: a bijection of 63 bits.
fn ids(file: u64, count: u64) -> Vec<i64> {
    let scatter = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 1;
    (0..count).map(|row| scatter(file * 1_000_000 + row) as i64).collect()
}

/// Writes a file of one column, `id`.
pub(crate) fn write(scratch: &Scratch, name: &str, ids: &[i64]) {
    let schema = parse_message_type("message rows { required int64 id; }").unwrap();
    let file = scratch.create(name);
    let mut writer = SerializedFileWriter::new(file, schema.into(), Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int64Type>().write_batch(ids, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
}

fn lake(scratch: &Scratch, files: u64, count: u64) {
    fs::create_dir_all(scratch.path("lake")).unwrap();
    for file in 0..files {
        write(scratch, &format!("lake/{file:03}.parquet"), &ids(file, count));
    }
}

fn found(scratch: &Scratch, arguments: &str) -> BTreeSet<String> {
    let output = scratch.ok(&format!("index find lake.eqx {arguments}"));
    let name = |line: &str| line.rsplit('/').next().unwrap().to_owned();
    output.lines().map(name).collect()
}

#[test]
fn keys_are_found_in_their_files_and_nowhere_else() {
    let scratch = Scratch::new("index");
    lake(&scratch, 30, 2_000);
    let text = scratch.ok("index build lake --column id -o lake.eqx");
    assert!(text.contains("an index of 30 files") && text.contains("30 filters, "), "{text}");
    let info = scratch.json("index info lake.eqx");
    assert_eq!((&info["files"], &info["columns"][0]["keys"]), (&30.into(), &60_000.into()));
    assert!(info["columns"][0]["false_files"].as_f64().unwrap() <= 0.1);
    for file in 0..30 {
        for id in ids(file, 2_000).iter().step_by(400) {
            let files = found(&scratch, &format!("-e {id}"));
            assert!(files.contains(&format!("{file:03}.parquet")) && files.len() < 4, "{files:?}");
        }
    }
    // A key that is in no file, and for which no filter is wrong.
    let output = scratch.run(&format!("index find lake.eqx -e {}", ids(99, 1)[0]));
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    // Keys of a file, with the key before each file, and all files once.
    let keys: String = (0..30).map(|file| format!("{}\n", ids(file, 8)[7])).collect();
    scratch.write("keys", &keys);
    let output = scratch.ok("index find lake.eqx keys");
    for (file, key) in keys.lines().enumerate() {
        let start = format!("{key}\t");
        let end = format!("lake/{file:03}.parquet");
        assert!(output.lines().any(|line| line.starts_with(&start) && line.ends_with(&end)));
    }
    assert_eq!(found(&scratch, "keys -l").len(), 30);
    let rows = scratch.json("index find lake.eqx keys");
    assert_eq!(rows.as_array().unwrap().len(), output.lines().count());
    assert!(scratch.ok("index verify lake.eqx").contains("whole"));
}

#[test]
fn changed_files_and_damaged_filters_are_answers() {
    let scratch = Scratch::new("index-faults");
    lake(&scratch, 8, 3_000);
    scratch.ok("index build -q lake --column id -o lake.eqx");
    let key = ids(99, 1)[0];
    write(&scratch, "lake/new.parquet", &[key]);
    let is_found = |key: &i64| {
        let files = found(&scratch, &format!("-e {key}"));
        files.contains("new.parquet") && files.len() < 4
    };
    assert!(is_found(&key));
    assert!(scratch.ok("index verify lake.eqx").contains("1 file new or changed"));
    let text = scratch.ok("index update lake.eqx");
    assert!(text.contains("1 file, 8 unchanged"), "{text}");
    assert!(is_found(&key));

    let mut bytes = scratch.read("lake.eqx");
    bytes[2_000] ^= 1;
    scratch.write("lake.eqx", &bytes);
    assert_eq!(scratch.run("index verify lake.eqx").status.code(), Some(1));
    let output = scratch.run(&format!("index find lake.eqx -e {key}"));
    let (output, warning) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.contains("000.parquet") && output.contains("new.parquet"), "{output}");
    assert!(warning.contains("000.parquet is damaged"), "{warning}");
    scratch.ok("index update -q lake.eqx");
    assert!(scratch.ok("index verify lake.eqx").contains("whole"));

    // Not answered at all: the status says that all files are to be read.
    let whole = scratch.read("lake.eqx");
    let last = whole.len() - 1;
    bytes.clone_from(&whole);
    bytes[last] ^= 1;
    scratch.write("lake.eqx", &bytes);
    scratch.write("text.eqx", "no index");
    for (arguments, message) in [
        ("index find lake.eqx -e 5", "read all files"),
        ("index find none.eqx -e 5", "could not open"),
        ("index find text.eqx -e 5", "not an index"),
        ("index update text.eqx", "not an index"),
        ("index build none --column id -o lake.eqx", "there is no Parquet file"),
        ("index build lake --column id --false-files 0 -o lake.eqx", "give a number"),
    ] {
        let output = scratch.run(arguments);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{arguments}");
        assert!(error.contains(message), "{arguments}: {error}");
    }
    scratch.write("lake.eqx", &whole);
    let output = scratch.run("index find lake.eqx -e 5 --column x");
    assert!(String::from_utf8(output.stderr).unwrap().contains("no column `x`: give one of id"));
    let output = scratch.run("index find lake.eqx -e five");
    assert!(String::from_utf8(output.stderr).unwrap().contains("keys are read as integers"));
}

#[test]
fn a_killed_build_goes_on() {
    let scratch = Scratch::new("index-killed");
    lake(&scratch, 60, 20_000);
    scratch.ok("index build -q lake --column id -o whole.eqx");
    let part = scratch.path("lake.eqx.part");
    let mut resumed = 0;
    for _ in 0..6 {
        let mut build = scratch.command("index build -q lake --column id -o lake.eqx --threads 1");
        let mut build = build.stderr(Stdio::null()).spawn().unwrap();
        // Killed as soon as it has finished some files more.
        let before = fs::metadata(&part).map_or(0, |part| part.len());
        while fs::metadata(&part).map_or(0, |part| part.len()) < before + 100_000 {
            if build.try_wait().unwrap().is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = build.kill();
        build.wait().unwrap();
        if scratch.path("lake.eqx").exists() {
            break;
        }
        resumed += 1;
    }
    assert!(resumed > 0);
    if !scratch.path("lake.eqx").exists() {
        let built = scratch.json("index build lake --column id -o lake.eqx");
        assert!(built["resumed"].as_u64().unwrap() > 0, "{built}");
    }
    assert!(scratch.read("lake.eqx") == scratch.read("whole.eqx"));
    assert!(!part.exists());
}

#[test]
fn an_index_is_no_stream() {
    let scratch = Scratch::new("index-stream");
    lake(&scratch, 1, 10);
    for arguments in
        ["build lake --column id -o -", "update -", "find - -e 1", "info -", "verify -"]
    {
        let output = scratch.run(&format!("index {arguments}"));
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        assert!(
            error.contains("an index is asked in place") && output.stdout.is_empty(),
            "{error}"
        );
    }
    assert!(!scratch.names().iter().any(|name| name.starts_with('-')));
    for threads in ["0", "257", "18446744073709551615"] {
        let output =
            scratch.run(&format!("index build lake --column id --threads {threads} -o x.eqx"));
        assert_eq!(output.status.code(), Some(2), "{threads}");
    }
}
