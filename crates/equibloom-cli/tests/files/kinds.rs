//! Keys are text or integers: the file says which, and a query of the other kind is refused.

use std::sync::Arc;

use equibloom::{HashFilter, KeyHash, KeyHasher, KeyKind, Stable, StableKey};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, Int32Type,
    Int64Type, Int96, Int96Type,
};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use serde_json::Value;

use crate::scratch::Scratch;

/// Low enough that no answer here is a false positive.
const EXACT: &str = "--fpr 1e-9 --placement blocked";

/// A file of one column `key` with schema `column`; `None` is a null.
fn parquet<T: DataType>(scratch: &Scratch, name: &str, column: &str, values: &[Option<T::T>])
where
    T::T: Clone,
{
    let schema = Arc::new(parse_message_type(&format!("message m {{ {column}; }}")).unwrap());
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(scratch.create(name), schema, properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut writing = group.next_column().unwrap().unwrap();
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let present: Vec<T::T> = values.iter().flatten().cloned().collect();
    let levels = column.contains("optional").then_some(&levels[..]);
    writing.typed::<T>().write_batch(&present, levels, None).unwrap();
    writing.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
}

/// A run that fails with these words.
fn refused(scratch: &Scratch, arguments: &str, words: &[&str]) {
    let output = scratch.run(arguments);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments}: {error}");
    for words in words {
        assert!(error.contains(words), "{arguments}: `{words}` is missing in {error}");
    }
}

/// A filter file, queried by the library.
struct Opened(HashFilter);

impl Opened {
    fn contains<K: StableKey + ?Sized>(&self, key: &K) -> bool {
        self.0.contains(Stable::with_seed(self.0.parameters().seed).hash_key(key))
    }
}

fn opened(scratch: &Scratch, name: &str) -> Opened {
    Opened(HashFilter::load(scratch.path(name)).unwrap())
}

#[test]
fn an_integer_is_its_value_in_every_format() {
    let scratch = Scratch::new("integers");
    scratch.write("lines", "5\n-7\n18446744073709551615\n");
    let build = |arguments: &str| {
        scratch.ok(&format!("build {arguments} {EXACT} -q -o built.eqb"));
        scratch.read("built.eqb")
    };
    let expected = build("lines --type int");
    scratch.write("odd", "+05\r\n\r\n-0007\n018446744073709551615");
    scratch.write("csv", "n,key\n1,5\n2,-7\n3,18446744073709551615\n");
    let jsonl = "{\"key\":5}\n{\"key\":\"-7\"}\n{\"key\":18446744073709551615}\n";
    scratch.write("jsonl", jsonl);
    for arguments in ["odd", "csv --csv-column key", "jsonl --json-field key"] {
        assert!(build(&format!("{arguments} --type int")) == expected, "{arguments}");
    }
    // The library finds them in every integer type.
    let filter = opened(&scratch, "built.eqb");
    assert_eq!(filter.0.key_kind(), KeyKind::Integer);
    assert!(filter.contains(&5_u64) && filter.contains(&5_i32) && filter.contains(&5_u8));
    assert!(filter.contains(&-7_i8) && filter.contains(&-7_i64) && filter.contains(&u64::MAX));
    assert!(!filter.contains(&6_u64) && !filter.contains("5"));
    // The filter decides how lines, cells and command-line keys are read.
    assert_eq!(scratch.ok("query built.eqb odd"), "+05\r\n-0007\n018446744073709551615\n");
    assert_eq!(scratch.ok("query built.eqb jsonl --json-field key"), jsonl);
    assert_eq!(scratch.ok("query built.eqb -e 5 -e 6 -e -7"), "5\n-7\n");
    assert_eq!(scratch.ok("query built.eqb --type int -e 5 -c"), "1\n");
    assert!(scratch.ok("info built.eqb").contains("integers"));
    assert_eq!(scratch.json("info built.eqb")["header"]["key_kind"], "integer");
    assert!(scratch.run("add built.eqb -e 0 --when-full saturate -q").status.success());
    assert!(opened(&scratch, "built.eqb").contains(&0_u16));

    for (name, words) in [("--type text", "leave --type out"), ("--type bytes", "--type int")] {
        refused(
            &scratch,
            &format!("query built.eqb {name} -e 5"),
            &["built.eqb: it holds integers", words],
        );
        refused(&scratch, &format!("add built.eqb {name} -e 5"), &["built.eqb: it holds integers"]);
    }
    refused(&scratch, "query built.eqb -e five", &["on the command line", "`five` is not one"]);
    scratch.write("bad", "5\nx5\n");
    refused(&scratch, "query built.eqb bad", &["bad, line 2", "`x5` is not one"]);
    refused(&scratch, "build --type int bad -o new.eqb", &["bad, line 2", "`x5`", "--type text"]);
    scratch.write("bad.csv", "key\n5\n1.0\n");
    let csv = "query built.eqb bad.csv --csv-column key";
    refused(&scratch, csv, &["bad.csv, line 3", "`1.0` is not one"]);
}

#[test]
fn text_is_its_bytes_and_digits_are_text_unless_the_filter_holds_integers() {
    let scratch = Scratch::new("digits");
    scratch.write("lines", "5\n-7\n");
    let kinds = ["", "--type auto", "--type text", "--type bytes"].map(|name| {
        scratch.ok(&format!("build lines {name} {EXACT} -q -o text.eqb"));
        scratch.read("text.eqb")
    });
    assert!(kinds.iter().all(|filter| *filter == kinds[0]));
    let filter = opened(&scratch, "text.eqb");
    assert_eq!(filter.0.key_kind(), KeyKind::Bytes);
    assert!(filter.contains("5") && !filter.contains(&5_u64));
    assert_eq!(scratch.ok("query text.eqb -e 5 -e 05"), "5\n");
    refused(&scratch, "query text.eqb --type int -e 5", &["text.eqb: it holds text", "--type"]);

    // Files without a kind hold text, unless --type says otherwise.
    opened(&scratch, "text.eqb")
        .0
        .with_key_kind(KeyKind::Unspecified)
        .save(scratch.path("old.eqb"))
        .unwrap();
    assert_eq!(scratch.ok("query old.eqb -e 5 -e 05"), "5\n");
    assert_eq!(scratch.run("query old.eqb --type int -e 5").status.code(), Some(1));
    for (kind, name) in [(KeyKind::WideInteger, "128-bit"), (KeyKind::Composite, "composite")] {
        opened(&scratch, "text.eqb").0.with_key_kind(kind).save(scratch.path("other.eqb")).unwrap();
        refused(&scratch, "query other.eqb -e 5", &["other.eqb", name, "library"]);
    }
    scratch.ok(&format!("build lines --type int {EXACT} -q -o int.eqb"));
    refused(
        &scratch,
        "merge text.eqb int.eqb -o all.eqb",
        &["text or bytes", "integers", "--type"],
    );
}

#[test]
fn parquet_columns_have_a_kind_of_their_own() {
    let scratch = Scratch::new("kinds");
    let numbers = [Some(5_i64), None, Some(-7), None];
    parquet::<Int64Type>(&scratch, "ids", "optional int64 key", &numbers);
    let summary = scratch.json(&format!("build ids --parquet-column key {EXACT} -o ids.eqb"));
    assert_eq!((&summary["keys_read"], &summary["keys_missing"]), (&2.into(), &2.into()));
    assert_eq!(summary["key_kind"], "integer");
    assert_eq!(scratch.ok("query ids.eqb --type int -e 5 -e 6"), "5\n");
    let filter = opened(&scratch, "ids.eqb");
    assert!(filter.contains(&5_u64) && filter.contains(&5_i32) && filter.contains(&-7_i16));
    assert!(!filter.contains("5") && !filter.contains(&6_u64));
    assert_eq!(scratch.ok("query ids.eqb ids --parquet-column key"), "5\n-7\n");
    assert_eq!(scratch.json("query ids.eqb ids --parquet-column key")["missing"], 2);
    refused(&scratch, "query ids.eqb --type text -e 5", &["ids.eqb: it holds integers", "--type"]);

    // A column of the other kind is converted only on request.
    let texts = ["5", "-7", "08"].map(|text| Some(ByteArray::from(text)));
    parquet::<ByteArrayType>(&scratch, "texts", "required binary key (UTF8)", &texts);
    refused(
        &scratch,
        "query ids.eqb texts --parquet-column key",
        &["ids.eqb: it holds integers, and the column holds text", "--type int"],
    );
    assert_eq!(scratch.ok("query ids.eqb texts --parquet-column key --type int"), "5\n-7\n");
    scratch.ok(&format!("build texts --parquet-column key {EXACT} -q -o texts.eqb"));
    refused(
        &scratch,
        "query texts.eqb ids --parquet-column key",
        &["holds integers", "--type text"],
    );
    assert_eq!(scratch.ok("query texts.eqb ids --parquet-column key --type text"), "5\n-7\n");
    refused(
        &scratch,
        "build ids texts --parquet-column key -o new.eqb",
        &["integers in ids", "text or bytes in texts", "--type"],
    );
    parquet::<Int32Type>(&scratch, "days", "required int32 key (DATE)", &[Some(0)]);
    refused(
        &scratch,
        "query texts.eqb days --parquet-column key --type text",
        &["dates", "--type int"],
    );

    // Types that cannot be keys.
    let far = [Some(i64::MAX / 1_000)];
    parquet::<Int64Type>(&scratch, "far", "required int64 key (TIMESTAMP_MILLIS)", &far);
    refused(
        &scratch,
        "build far --parquet-column key -o new.eqb",
        &["far, row group 1", "1677 to 2262"],
    );
    parquet::<DoubleType>(&scratch, "floats", "required double key", &[Some(1.0)]);
    refused(&scratch, "build floats --parquet-column key -o new.eqb", &["DOUBLE", "not a key"]);
    parquet::<Int64Type>(&scratch, "money", "required int64 key (DECIMAL(10,2))", &[Some(1)]);
    refused(&scratch, "build money --parquet-column key -o new.eqb", &["Decimal", "not a key"]);
    parquet::<Int32Type>(&scratch, "noon", "required int32 key (TIME_MILLIS)", &[Some(1)]);
    refused(&scratch, "build noon --parquet-column key -o new.eqb", &["INT32", "not a key"]);
}

/// The test vectors of `docs/keys.json` of these types: their values (or integers) and hashes for the second seed.
struct Vectors(Value);

impl Vectors {
    fn read() -> Self {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/keys.json");
        Self(serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap())
    }

    fn seed(&self) -> u64 {
        u64::from_str_radix(self.0["seeds"][1].as_str().unwrap(), 16).unwrap()
    }

    fn of(&self, name: &str) -> Vec<(&Value, KeyHash)> {
        let keys = self.0["keys"].as_array().unwrap().iter().filter(|key| key["type"] == name);
        let hash = |key: &Value| u128::from_str_radix(key["hashes"][1].as_str().unwrap(), 16);
        let keys: Vec<_> = keys.map(|key| (key, hash(key).unwrap().into())).collect();
        assert!(!keys.is_empty(), "{name}");
        keys
    }

    /// Builds a filter by the command, and looks up the hashes of the vectors by the library.
    fn check(&self, scratch: &Scratch, name: &str, arguments: &str) {
        let seed = self.seed();
        scratch.ok(&format!("build {arguments} {EXACT} --seed {seed} -q -o vectors.eqb"));
        let filter = opened(scratch, "vectors.eqb");
        for (key, hash) in self.of(name) {
            assert!(filter.0.contains(hash), "{arguments}: {key}");
        }
        let others = if name == "text" { self.of("integer") } else { self.of("text") };
        assert!(!others.iter().any(|&(_, hash)| filter.0.contains(hash)), "{arguments}");
    }
}

#[test]
fn the_test_vectors_hold_for_lines_and_literal_keys() {
    let scratch = Scratch::new("vectors");
    let vectors = Vectors::read();
    for (name, arguments) in [("text", "--type text --keep-empty"), ("integer", "--type int")] {
        let values = vectors.of(name);
        let values = values.iter().map(|(key, _)| key["value"].as_str().unwrap());
        scratch.write("nul", values.clone().map(|value| format!("{value}\0")).collect::<String>());
        vectors.check(&scratch, name, &format!("nul -0 {arguments}"));
        for value in values {
            let mut command = scratch.command("query vectors.eqb -q -e");
            assert!(command.arg(value).status().unwrap().success(), "{value}");
        }
    }
}

#[test]
fn the_test_vectors_hold_for_parquet_columns() {
    let scratch = Scratch::new("vectors-parquet");
    let vectors = Vectors::read();
    let values = |name, field: &str| {
        let keys = vectors.of(name).into_iter();
        keys.map(|(key, _)| key[field].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let check = |name| vectors.check(&scratch, name, "column --parquet-column key");

    // Unsigned and signed columns of 64 bits; those of 32 bits hold fewer.
    let bits = |text: &String| text.parse::<i128>().unwrap() as i64;
    let integers: Vec<_> = values("integer", "value").iter().map(|it| Some(bits(it))).collect();
    for schema in ["int64 key", "int64 key (INTEGER(64,true))", "int64 key (INTEGER(64,false))"] {
        parquet::<Int64Type>(&scratch, "column", &format!("optional {schema}"), &integers);
        check("integer");
    }
    let narrow: Vec<_> =
        integers.iter().flatten().filter_map(|&it| i32::try_from(it).ok()).map(Some).collect();
    for schema in ["int32 key", "int32 key (INTEGER(8,true))", "int32 key (INTEGER(16,true))"] {
        parquet::<Int32Type>(&scratch, "column", &format!("optional {schema}"), &narrow);
        scratch.ok(&format!("build column --parquet-column key {EXACT} -q -o narrow.eqb"));
        let filter = opened(&scratch, "narrow.eqb");
        assert!(
            narrow
                .iter()
                .flatten()
                .all(|key| filter.contains(key) && filter.contains(&i64::from(*key)))
        );
    }
    let unsigned = [Some(-1), Some(5)];
    parquet::<Int32Type>(&scratch, "column", "optional int32 key (UINT_32)", &unsigned);
    scratch.ok(&format!("build column --parquet-column key {EXACT} -q -o narrow.eqb"));
    let filter = opened(&scratch, "narrow.eqb");
    assert!(filter.contains(&u32::MAX) && !filter.contains(&-1_i32) && filter.contains(&5_u8));

    parquet::<BoolType>(&scratch, "column", "required boolean key", &[Some(false), Some(true)]);
    check("bool");

    let texts: Vec<_> =
        values("text", "value").iter().map(|it| Some(ByteArray::from(it.as_str()))).collect();
    parquet::<ByteArrayType>(&scratch, "column", "optional binary key (UTF8)", &texts);
    vectors.check(&scratch, "text", "column --parquet-column key --keep-empty");
    let uuids: Vec<_> = values("uuid", "bytes")
        .iter()
        .map(|hex| (0..32).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()))
        .map(|bytes| Some(ByteArray::from(bytes.collect::<Vec<_>>()).into()))
        .collect();
    let schema = "optional fixed_len_byte_array(16) key (UUID)";
    parquet::<FixedLenByteArrayType>(&scratch, "column", schema, &uuids);
    check("uuid");

    let days: Vec<_> =
        values("date", "integer").iter().map(|it| Some(it.parse::<i32>().unwrap())).collect();
    parquet::<Int32Type>(&scratch, "column", "optional int32 key (DATE)", &days);
    check("date");

    // Each timestamp in the coarsest unit that holds it, and all of them in nanoseconds.
    let moments: Vec<i64> = values("timestamp", "integer").iter().map(bits).collect();
    let schema = |unit| format!("optional int64 key (TIMESTAMP({unit},true))");
    let nanoseconds: Vec<_> = moments.iter().copied().map(Some).collect();
    parquet::<Int64Type>(&scratch, "column", &schema("NANOS"), &nanoseconds);
    check("timestamp");
    let int96 = |&moment: &i64| {
        let (day, rest) =
            (moment.div_euclid(86_400_000_000_000), moment.rem_euclid(86_400_000_000_000));
        let mut value = Int96::new();
        value.set_data(rest as u32, (rest >> 32) as u32, (day + 2_440_588) as u32);
        Some(value)
    };
    let old: Vec<_> = moments.iter().map(int96).collect();
    parquet::<Int96Type>(&scratch, "column", "optional int96 key", &old);
    check("timestamp");
    for (unit, factor) in [("MILLIS", 1_000_000), ("MICROS", 1_000)] {
        let held: Vec<i64> =
            moments.iter().copied().filter(|moment| moment % factor == 0).collect();
        assert!(!held.is_empty());
        let counts: Vec<_> = held.iter().map(|moment| Some(moment / factor)).collect();
        for schema in [schema(unit), format!("optional int64 key (TIMESTAMP_{unit})")] {
            parquet::<Int64Type>(&scratch, "column", &schema, &counts);
            scratch.ok(&format!("build column --parquet-column key {EXACT} -q -o held.eqb"));
            let filter = opened(&scratch, "held.eqb");
            assert!(held.iter().all(|moment| filter.contains(moment)), "{schema}");
        }
    }
}
