//! Keys make the same filter in every format: the oracle is the filter of plain lines.

use std::io::Write;
use std::process::Command;
use std::sync::Arc;

use flate2::Compression;
use flate2::write::GzEncoder;
use parquet::basic::{Compression as Packing, ZstdLevel};
use parquet::data_type::{
    ByteArray, ByteArrayType, DataType, FixedLenByteArray, FixedLenByteArrayType, Int32Type,
    Int64Type,
};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use crate::scratch::{Scratch, lines};

/// Keys that need quotes, escapes or a correct encoding.
const STRANGE: [&str; 12] = [
    "alice@example.com",
    "Ærøskøbing 東京 🦀",
    "a,b;c",
    "she said \"no\"",
    " spaces around ",
    "back\\slash",
    "0",
    "-17",
    "1e3",
    "null",
    "caf\u{65}\u{301}",
    "'",
];

fn keys() -> Vec<String> {
    let mut keys: Vec<String> = STRANGE.iter().map(|&key| key.to_owned()).collect();
    keys.extend(lines("key", 40_000).lines().map(str::to_owned));
    keys
}

fn plain(keys: &[String]) -> String {
    keys.iter().map(|key| format!("{key}\n")).collect()
}

/// The filter built from a file. `blocked` is planned at once.
fn built(scratch: &Scratch, arguments: &str) -> Vec<u8> {
    scratch.ok(&format!("build --quiet -o built.eqb --placement blocked {arguments}"));
    scratch.read("built.eqb")
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn quoted(key: &str) -> String {
    format!("\"{}\"", key.replace('"', "\"\""))
}

#[test]
fn every_format_gives_the_filter_of_plain_lines() {
    let scratch = Scratch::new("formats");
    let keys = keys();
    let text = plain(&keys);
    scratch.write("lines", &text);
    let expected = built(&scratch, "lines");

    scratch.write("crlf", text.replace('\n', "\r\n"));
    scratch.write("unfinished", text.trim_end());
    scratch.write("marked", ["\u{feff}", &text].concat());
    scratch.write("gaps", text.replace('\n', "\n\n").replace("key7", "\r\nkey7"));
    scratch.write("nul", text.replace('\n', "\0"));
    scratch.write("gz", gzip(text.as_bytes()));
    let (first, second) = text.as_bytes().split_at(text.len() / 2);
    scratch.write("members.gz", [gzip(first), gzip(second)].concat());
    scratch.write("zst", zstd::encode_all(text.as_bytes(), 3).unwrap());
    let frames = [first, second].map(|part| zstd::encode_all(part, 1).unwrap()).concat();
    scratch.write("frames.zst", frames);
    let csv = keys.iter().enumerate().map(|(row, key)| format!("{row},{},x\r\n", quoted(key)));
    let csv: String = ["id,the key,3\r\n".to_owned()].into_iter().chain(csv).collect();
    scratch.write("csv", &csv);
    scratch.write("csv.gz", gzip(csv.as_bytes()));
    scratch.write("bare.csv", csv.split_once('\n').unwrap().1);
    let tsv: String = keys.iter().map(|key| format!("{key}\tx\n")).collect();
    scratch.write("tsv", ["key\tother\n", &tsv].concat());
    let json: String = keys
        .iter()
        .map(|key| format!("{}\n", serde_json::json!({"n": [1, {"key": 2}], "user": {"key": key}})))
        .collect();
    scratch.write("jsonl", &json);
    scratch.write("escaped.jsonl", json.replace('a', "\\u0061").replace("\\u0061:", "a:"));
    for arguments in [
        "crlf",
        "unfinished",
        "marked",
        "gaps",
        "nul -0",
        "nul --null",
        "gz",
        "members.gz",
        "zst",
        "frames.zst",
        "csv --csv-column 2",
        "csv.gz --csv-column 2",
        "bare.csv --csv-column 2 --no-header",
        "tsv --tsv-column key",
        "tsv --tsv-column 1",
        "jsonl --json-field user.key",
        "escaped.jsonl --json-field user.key",
    ] {
        assert!(built(&scratch, arguments) == expected, "{arguments}");
    }
    // A column name with a space.
    let mut command =
        scratch.command("build --quiet -o built.eqb --placement blocked csv --csv-column");
    assert!(command.arg("the key").status().unwrap().success());
    assert!(scratch.read("built.eqb") == expected);
}

#[test]
fn standard_input_pipes_and_several_files_give_the_filter_of_one_file() {
    let scratch = Scratch::new("inputs");
    let text = plain(&keys());
    scratch.write("lines", &text);
    let expected = built(&scratch, "lines");
    let (first, second) = text.split_at(text.find("key20000@").unwrap());
    scratch.write("first", first.trim_end());
    scratch.write("second", second);
    assert!(built(&scratch, "first second") == expected);

    for arguments in [
        "build -q --placement blocked -o piped.eqb",
        "build -q --placement blocked -o piped.eqb -",
        "build -q --placement blocked -o piped.eqb --keys 44013",
    ] {
        for input in [text.as_bytes(), &gzip(text.as_bytes())] {
            let output = scratch.run_with_input(arguments, input);
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            assert!(output.stdout.is_empty() && output.stderr.is_empty());
            assert!(scratch.read("piped.eqb") == expected, "{arguments}");
        }
    }
    let output = scratch
        .run_with_input("build -q --placement blocked -o piped.eqb first -", second.as_bytes());
    assert!(output.status.success() && scratch.read("piped.eqb") == expected);
    // A named pipe can be read only once.
    let made = Command::new("mkfifo").arg(scratch.path("fifo")).status();
    if made.is_ok_and(|status| status.success()) {
        let reader = scratch.command("build -q --placement blocked -o piped.eqb fifo").spawn();
        scratch.write("fifo", &text);
        assert!(reader.unwrap().wait().unwrap().success());
        assert!(scratch.read("piped.eqb") == expected);
    }
    assert!(!scratch.names().iter().any(|name| name.contains("tmp")), "{:?}", scratch.names());
}

#[test]
fn lines_of_any_length_are_keys_and_come_back_as_they_are() {
    let scratch = Scratch::new("long");
    let long: Vec<String> = [1, 255, 65_535, 262_143, 262_144, 262_145, 3_000_000, 20_000_000]
        .iter()
        .map(|&length| "x".repeat(length))
        .collect();
    scratch.write("lines", format!("first\n{}\nlast", long.join("\n")));
    let summary = scratch.json("build lines -o long.eqb --fpr 1e-9 --placement blocked");
    assert_eq!(summary["keys_read"], long.len() + 2);
    let found = scratch.ok("query long.eqb lines");
    assert!(found == format!("first\n{}\nlast\n", long.join("\n")));
    let found = scratch.run("query -v long.eqb lines");
    assert_eq!((found.status.code(), found.stdout.len()), (Some(1), 0));
}

#[test]
fn empty_keys_are_skipped_unless_kept() {
    let scratch = Scratch::new("empty");
    scratch.write("lines", "a\n\n\r\nb\n\n");
    scratch.write("csv", "key,n\na,1\n\"\",2\nb,3\n");
    scratch.write("jsonl", "{\"k\":\"a\"}\n\n{\"k\":\"\"}\n{\"k\":\"b\"}\n");
    for (arguments, all) in [("lines", 5), ("csv --csv-column key", 3), ("jsonl --json-field k", 3)]
    {
        let summary =
            scratch.json(&format!("build {arguments} --fpr 1e-9 --placement blocked -o f.eqb"));
        assert_eq!(summary["keys_read"], 2, "{arguments}");
        assert_eq!(scratch.run_with_input("query f.eqb -c --keep-empty", b"\n").stdout, b"0\n");
        let summary = scratch.json(&format!(
            "build {arguments} --fpr 1e-9 --placement blocked --keep-empty -o f.eqb"
        ));
        assert_eq!((&summary["keys_read"], &summary["keys"]), (&all.into(), &3.into()));
        assert_eq!(scratch.run_with_input("query f.eqb --keep-empty", b"\n\nc\n").stdout, b"\n\n");
    }
    // An empty key on the command line counts.
    let mut command = scratch.command("query f.eqb -c -e");
    assert_eq!(command.arg("").output().unwrap().stdout, b"1\n");
}

#[test]
fn an_empty_file_makes_an_empty_filter() {
    let scratch = Scratch::new("nothing");
    scratch.write("none", "");
    assert_eq!(scratch.json("build none --placement blocked -o none.eqb")["keys"], 0);
    let output = scratch.run_with_input("build -q --placement blocked -o piped.eqb", b"");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(scratch.read("none.eqb") == scratch.read("piped.eqb"));
    assert_eq!(scratch.run("query none.eqb -e anything").status.code(), Some(1));
    scratch.ok("info none.eqb");
    scratch.ok("build none --csv-column x -q -o none.eqb");
}

/// One column of each type that can hold keys, and some that cannot.
const SCHEMA: &str = "message keys {
    required binary text (UTF8);
    required int64 number;
    required int32 small (INTEGER(32,false));
    required fixed_len_byte_array(4) fixed;
    required group user { optional binary mail (UTF8); }
    required int32 day (DATE);
    repeated binary tags (UTF8);
}";

fn column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, std::fs::File>,
    values: &[T::T],
    definitions: Option<&[i16]>,
    repetitions: Option<&[i16]>,
) {
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(values, definitions, repetitions).unwrap();
    column.close().unwrap();
}

fn write_parquet(scratch: &Scratch, name: &str, packing: Packing, texts: &[String]) {
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let properties = Arc::new(WriterProperties::builder().set_compression(packing).build());
    let mut writer = SerializedFileWriter::new(scratch.create(name), schema, properties).unwrap();
    let mut start: i64 = 0;
    for texts in texts.chunks(25_000) {
        let numbers: Vec<i64> = (start..start + texts.len() as i64).collect();
        start += texts.len() as i64;
        let bytes: Vec<ByteArray> = texts.iter().map(|text| text.as_str().into()).collect();
        let present: Vec<i16> = numbers.iter().map(|number| i16::from(number % 2 == 0)).collect();
        let every_other: Vec<ByteArray> = bytes.iter().step_by(2).cloned().collect();
        let fixed: Vec<FixedLenByteArray> = numbers
            .iter()
            .map(|&number| ByteArray::from(format!("{number:04x}").as_str()).into())
            .collect();
        let small: Vec<i32> = numbers.iter().map(|&number| -1 - number as i32).collect();
        let mut group = writer.next_row_group().unwrap();
        column::<ByteArrayType>(&mut group, &bytes, None, None);
        column::<Int64Type>(
            &mut group,
            &numbers.iter().map(|n| -n).collect::<Vec<_>>(),
            None,
            None,
        );
        column::<Int32Type>(&mut group, &small, None, None);
        column::<FixedLenByteArrayType>(&mut group, &fixed, None, None);
        column::<ByteArrayType>(&mut group, &every_other, Some(&present), None);
        column::<Int32Type>(&mut group, &small, None, None);
        let none = vec![0; texts.len()];
        column::<ByteArrayType>(&mut group, &[], Some(&none), Some(&none));
        group.close().unwrap();
    }
    writer.close().unwrap();
}

#[test]
fn parquet_columns_give_the_filter_of_plain_lines() {
    let scratch = Scratch::new("parquet");
    let keys = keys();
    let zstd = Packing::ZSTD(ZstdLevel::default());
    for (name, packing) in
        [("plain", Packing::UNCOMPRESSED), ("snappy", Packing::SNAPPY), ("zstd", zstd)]
    {
        write_parquet(&scratch, name, packing, &keys);
        scratch.write("lines", plain(&keys));
        let expected = built(&scratch, "lines");
        assert!(built(&scratch, &format!("{name} --parquet-column text")) == expected, "{name}");
    }
    let all = 0..keys.len();
    let lines_of = |line: &dyn Fn(usize) -> String| all.clone().map(line).collect::<String>();
    let negative = lines_of(&|row| format!("-{row}\n").replace("-0\n", "0\n"));
    let unsigned = lines_of(&|row| format!("{}\n", u32::MAX - row as u32));
    for (column, lines_are, lines) in [
        ("number", "--type int", &negative),
        ("number --type text", "", &negative),
        ("small", "--type int", &unsigned),
        ("small --type text", "", &unsigned),
        ("fixed", "", &lines_of(&|row| format!("{row:04x}\n"))),
        ("user.mail", "", &plain(&keys.iter().step_by(2).cloned().collect::<Vec<_>>())),
    ] {
        scratch.write("lines", lines);
        let expected = built(&scratch, &format!("lines {lines_are}"));
        assert!(
            built(&scratch, &format!("plain --parquet-column {column}")) == expected,
            "{column}"
        );
    }
    let found = scratch.ok("query built.eqb plain --parquet-column user.mail");
    assert_eq!(found, plain(&keys.iter().step_by(2).cloned().collect::<Vec<_>>()));

    for (arguments, words) in [
        ("plain --parquet-column mail", &["no column `mail`", "user.mail", "tags"][..]),
        ("plain --parquet-column tags.list", &["no column"]),
        ("plain --parquet-column tags", &["`tags`", "lists"]),
        ("plain", &["Parquet", "--parquet-column"]),
        ("lines --parquet-column text", &["lines: not a Parquet file"]),
        ("- --parquet-column text", &["standard input", "pipe", "name of a file"]),
    ] {
        let output = scratch.run(&format!("build {arguments} -o new.eqb"));
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments}: {error}");
        for words in words {
            assert!(error.contains(words), "{arguments}: `{words}` is missing in {error}");
        }
    }
}
