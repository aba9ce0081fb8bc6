//! A reader written from `docs/index-format.md` alone: it decodes what the library wrote and answers as the library does.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

use equibloom::Filter;
use equibloom_index::{Contents, Draft, Index, Key, KeySet, Range, Settings, State};
use xxhash_rust::xxh3::xxh3_64;

/// The fields of a table, one after the other.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, count: u64) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count as usize);
        self.0 = rest;
        taken
    }

    fn wide(&mut self) -> u128 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = self.take(1)[0];
            value |= u128::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return value;
            }
        }
    }

    fn number(&mut self) -> u64 {
        self.wide().try_into().unwrap()
    }

    fn wide_integer(&mut self) -> i128 {
        let number = self.wide();
        let half = (number >> 1) as i128;
        if number & 1 == 0 { half } else { -half - 1 }
    }

    fn float(&mut self) -> f64 {
        f64::from_le_bytes(self.take(8).try_into().unwrap())
    }

    fn bytes(&mut self) -> &'a [u8] {
        let length = self.number();
        self.take(length)
    }

    fn text(&mut self) -> &'a str {
        std::str::from_utf8(self.bytes()).unwrap()
    }

    fn list<T>(&mut self, mut element: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.number()).map(|_| element(self)).collect()
    }

    fn optional<T>(&mut self, value: impl FnOnce(&mut Self) -> T) -> Option<T> {
        match self.take(1)[0] {
            0 => None,
            1 => Some(value(self)),
            other => panic!("{other}"),
        }
    }
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

/// An index of three files and two columns: integers of all signs, text, long text, an unknown unit, empty ones, dense integers.
fn sample(row_groups: bool) -> (Vec<u8>, Draft) {
    let settings = Settings::new(["id", "name"]).row_groups(row_groups).seed(77).roots(["/lake"]);
    let mut draft = Draft::new(settings.false_files(0.25));
    let keys = || KeySet::new(77);
    let mut ids = keys();
    (0..5_000_i64).for_each(|id| ids.insert((id * id * 31 - 9_000).into()));
    let mut names = keys();
    (0..300).for_each(|name| names.insert(format!("{name:0100}").as_str().into()));
    let mut dense = keys();
    (10..20).for_each(|id| dense.insert(id.into()));
    let mut unknown = keys();
    unknown.insert(5.into());
    unknown.insert("five".into());
    let built = |set: KeySet| set.finish(1e-3).unwrap();
    let state = State { size: 12_345, modified: -7, footer: u64::MAX };
    draft.add("/lake/ü", state, [built(ids), built(names)]).unwrap();
    draft.add("/lake/a", State::default(), [built(dense), built(unknown)]).unwrap();
    draft.add("/lake/b", state, [built(keys()), built(keys())]).unwrap();
    draft.add_unknown("/lake/c", state, "not Parquet").unwrap();
    (draft.to_bytes().unwrap(), draft)
}

#[test]
fn the_table_is_as_specified() {
    for row_groups in [false, true] {
        let (bytes, _) = sample(row_groups);
        assert_eq!(bytes[..8], [0x89, 0x45, 0x51, 0x58, 0x0d, 0x0a, 0x1a, 0x0a]);
        assert_eq!(u64_at(&bytes, 8), 1);
        let (at, length) = (u64_at(&bytes, 16) as usize, u64_at(&bytes, 24) as usize);
        assert_eq!(at + length, bytes.len());
        assert_eq!(u64_at(&bytes, 32), xxh3_64(&bytes[at..]));
        assert_eq!((u64_at(&bytes, 40), u64_at(&bytes, 48)), (0, 0));
        assert_eq!(u64_at(&bytes, 56), xxh3_64(&bytes[..56]));

        let index = Index::from_bytes(bytes.clone()).unwrap();
        let mut fields = Fields(&bytes[at..]);
        assert_eq!(fields.list(Fields::text), ["/lake"]);
        assert_eq!(fields.list(Fields::text), ["id", "name"]);
        assert_eq!(fields.take(1), [u8::from(row_groups)]);
        assert_eq!((fields.float(), fields.number()), (0.25, 77));
        let mut end = 64;
        let files = fields.list(|fields| {
            let path = fields.text();
            let size = fields.number();
            let modified = fields.wide_integer() as i64;
            let state = State { size, modified, footer: fields.number() };
            let units = fields.list(|fields| {
                let (column, row_group) = (fields.number(), fields.optional(Fields::number));
                let contents = match fields.number() {
                    0 => Contents::Unknown { reason: fields.text().to_owned() },
                    1 => Contents::Empty,
                    2 => {
                        let count = fields.number();
                        let range = match fields.number() {
                            0 => Range::Integers {
                                least: fields.wide_integer(),
                                most: fields.wide_integer(),
                            },
                            1 => Range::Bytes {
                                least: fields.bytes().into(),
                                most: fields.bytes().into(),
                            },
                            other => panic!("{other}"),
                        };
                        let filter = fields.optional(|fields| {
                            let (at, length, rate) =
                                (fields.number(), fields.number(), fields.float());
                            // In the order of the table, zeros between.
                            assert!(at % 64 == 0 && at >= end && at < end + 64);
                            assert!(bytes[end as usize..at as usize].iter().all(|byte| *byte == 0));
                            end = at + length;
                            (at, length, rate)
                        });
                        check_filter(&bytes, filter, &range, &index, column);
                        let filter = filter.map(|(offset, length, rate)| {
                            let mut stored = first_filter(&index);
                            (stored.offset, stored.length, stored.rate) = (offset, length, rate);
                            stored
                        });
                        Contents::Keys { count, range, filter }
                    }
                    other => panic!("{other}"),
                };
                (column, row_group, contents)
            });
            (path, state, units)
        });
        assert!(fields.0.is_empty());
        assert_eq!(end, at as u64);
        assert_eq!(files.len(), index.files().len());
        for ((path, state, units), file) in files.iter().zip(index.files()) {
            assert_eq!((*path, *state), (file.path.as_str(), file.state));
            let known = file.units.iter().map(|unit| {
                (u64::from(unit.column), unit.row_group.map(u64::from), unit.contents.clone())
            });
            assert!(units.iter().cloned().eq(known), "{path}");
        }
        assert!(files.is_sorted_by_key(|(path, ..)| *path));
    }
}

fn first_filter(index: &Index) -> equibloom_index::StoredFilter {
    let units = index.files().iter().flat_map(|file| &file.units);
    let mut filters = units.filter_map(|unit| match unit.contents {
        Contents::Keys { filter, .. } => filter,
        _ => None,
    });
    filters.next().unwrap()
}

/// The filter, loaded as a file of its own, answers as the index does within the range.
fn check_filter(
    bytes: &[u8],
    filter: Option<(u64, u64, f64)>,
    range: &Range,
    index: &Index,
    column: u64,
) {
    let Some((at, length, rate)) = filter else { return };
    assert_eq!(rate, 1e-3);
    let bytes = &bytes[at as usize..(at + length) as usize];
    let held = |key: Key<'_>| {
        let file = index.file("/lake/ü").unwrap();
        let name = if column == 0 { "id" } else { "name" };
        index.find(name, key).any(|place| place.file == file)
    };
    match range {
        Range::Integers { least, most } => {
            let filter: Filter<i64> = Filter::from_bytes(bytes).unwrap();
            for key in (-20_000..40_000_i64).step_by(3) {
                let within = (*least..=*most).contains(&i128::from(key));
                let expected = within && filter.contains(&key);
                assert_eq!(held(key.into()), expected, "{key}");
            }
        }
        Range::Bytes { least, most } => {
            assert_eq!((least.len(), most.len()), (64, 64));
            let filter: Filter<str> = Filter::from_bytes(bytes).unwrap();
            for key in 0..1_000 {
                let key = format!("{key:0100}");
                assert_eq!(held(key.as_str().into()), filter.contains(&key), "{key}");
            }
        }
    }
}

/// So many integers from 0 on, and how many of them the kept sample finds.
const SAMPLE_FOUND: (u64, usize) = (200_000, 260);

/// Indexes of every version remain readable, and their answers remain, wrong ones too.
#[test]
fn the_sample_of_version_1_answers_as_it_did() {
    let index = Index::from_bytes(include_bytes!("samples/v1.eqx").to_vec()).unwrap();
    assert_eq!((index.settings().seed, index.files().len()), (77, 4));
    let (of_keys, unknown) = (index.file("/lake/ü").unwrap(), index.file("/lake/c").unwrap());
    let found = |column: &str, key: Key<'_>| {
        let files: Vec<usize> = index.find(column, key).map(|place| place.file).collect();
        assert!(files.contains(&unknown));
        files.contains(&of_keys)
    };
    assert!((0..5_000_i64).all(|id| found("id", (id * id * 31 - 9_000).into())));
    assert!((0..300).all(|name| found("name", format!("{name:0100}").as_str().into())));
    let (absent, expected) = SAMPLE_FOUND;
    assert_eq!((0..absent).filter(|&id| found("id", id.into())).count(), expected);
}

#[test]
#[ignore = "writes a file that is checked in"]
fn write_the_sample_of_this_version() {
    std::fs::create_dir_all("tests/samples").unwrap();
    std::fs::write("tests/samples/v1.eqx", sample(false).0).unwrap();
}

#[test]
fn a_later_version_is_refused() {
    let (mut bytes, _) = sample(false);
    bytes[8] = 2;
    let error = Index::from_bytes(bytes).unwrap_err().to_string();
    assert!(error.contains("version 2") && error.contains("reads version 1"), "{error}");
    let error = Index::from_bytes(b"PAR1 something else".to_vec()).unwrap_err().to_string();
    assert!(error.contains("not an index"), "{error}");
}

/// Tables with a valid checksum and any contents neither panic nor take memory that is not there.
#[test]
fn a_forged_table_is_refused_or_loses_nothing() {
    let (bytes, _) = sample(false);
    let at = u64_at(&bytes, 16) as usize;
    let mut refused = 0;
    for place in at..bytes.len() {
        for value in [0, 1, 2, 0x7f, 0x80, 0xff] {
            let mut forged = bytes.clone();
            forged[place] = value;
            let sum = xxh3_64(&forged[at..]);
            forged[32..40].copy_from_slice(&sum.to_le_bytes());
            let sum = xxh3_64(&forged[..56]);
            forged[56..64].copy_from_slice(&sum.to_le_bytes());
            match Index::from_bytes(forged) {
                Err(_) => refused += 1,
                Ok(index) => {
                    let _ = index.find("id", 5.into()).count();
                    let _ = (index.summary("id"), index.key_kind("name"));
                }
            }
        }
    }
    assert!(refused > 100, "{refused}");
}
