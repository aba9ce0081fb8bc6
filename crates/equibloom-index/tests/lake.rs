//! Indexes of Parquet files, compared with the keys that were written to them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

mod writing;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use equibloom_index::lake::{self, Options, Progress, Report};
use equibloom_index::{Contents, Draft, Index, IndexError, Key, Settings, State};
use writing::{Cells, random, write};

/// A directory of files, what they hold in the column `id`, and the index beside it.
struct Lake {
    directory: tempfile::TempDir,
    ids: BTreeMap<String, Vec<i64>>,
}

fn quiet() -> Options<'static> {
    Options::new(2)
}

impl Lake {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("lake")).unwrap();
        Self { directory, ids: BTreeMap::new() }
    }

    /// Random keys that differ from those of `random` with an odd stream.
    fn of_random(files: usize, keys: usize) -> Self {
        let mut lake = Self::new();
        for file in 0..files {
            let ids: Vec<i64> = random(2 * file as u64).take(keys).map(|id| id << 1).collect();
            lake.write(&format!("{file:04}.parquet"), &ids);
        }
        lake
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn index(&self) -> PathBuf {
        self.path("lake.eqx")
    }

    fn write(&mut self, name: &str, ids: &[i64]) {
        let path = self.path("lake").join(name);
        write(&path, &[("id", Cells::Int64(ids))], 3_000);
        self.ids.insert(path.to_str().unwrap().to_owned(), ids.to_vec());
    }

    fn settings(&self) -> Settings {
        Settings::new(["id"]).roots([self.path("lake").to_str().unwrap()])
    }

    fn build(&self) -> Report {
        lake::build(self.index(), self.settings(), &quiet()).unwrap()
    }

    fn open(&self) -> Index {
        Index::load(self.index()).unwrap()
    }

    /// The files that a careful program reads for a key: what the index answers, and what it does not know; all files if it cannot
    /// be read.
    fn read_for(&self, key: i64) -> Vec<String> {
        let all = || lake::list(&self.settings().roots).unwrap();
        let Ok(index) = Index::load(self.index()) else { return all() };
        let freshness = lake::check(&index).unwrap();
        let known = index.find("id", Key::from(key)).filter(|place| freshness.known[place.file]);
        let known = known.map(|place| index.files()[place.file].path.clone());
        known.chain(freshness.unknown.iter().cloned()).collect()
    }

    /// Looks up some keys of every file; returns how many, all of which must be found.
    fn look_up_everywhere(&self) -> usize {
        let mut keys = 0;
        for (path, ids) in &self.ids {
            for &id in ids.iter().step_by(ids.len().div_ceil(20)) {
                let files = self.read_for(id);
                assert!(
                    files.contains(path),
                    "{id} of {path} is lost; it would be read from {files:?}"
                );
                keys += 1;
            }
        }
        keys
    }
}

fn find(index: &Index, key: i64) -> Vec<&str> {
    index.find("id", Key::from(key)).map(|place| index.files()[place.file].path.as_str()).collect()
}

#[test]
fn a_hit_opens_its_file_and_a_miss_hardly_any() {
    let lake = Lake::of_random(100, 2_000);
    let report = lake.build();
    assert_eq!((report.files, report.read, report.kept, report.skipped.len()), (100, 100, 0, 0));
    let index = lake.open();
    for (path, ids) in &lake.ids {
        assert!(ids.iter().all(|&id| find(&index, id).contains(&path.as_str())));
    }
    // Odd numbers are in no file, and within the range of all.
    let misses = 20_000;
    let opened: usize = random(1).take(misses).map(|id| find(&index, id << 1 | 1).len()).sum();
    let mean = opened as f64 / misses as f64;
    // 4 standard deviations of the mean of a Poisson variable.
    assert!(mean < 0.1 + 4.0 * (0.1 / misses as f64).sqrt(), "{mean} files opened in vain");
    assert!(mean > 0.02, "{mean}: the filters are larger than they need be");
    let summary = index.summary("id");
    assert_eq!((summary.filters, summary.ranges, summary.unknown), (100, 0, 0));
    assert!(summary.false_files <= 0.1);
    let bits = summary.filter_bytes as f64 * 8.0 / summary.filtered_keys as f64;
    assert!(bits < 15.0, "{bits} bits per key");
}

#[test]
fn many_keys_at_once_are_found_as_one_by_one() {
    let lake = Lake::of_random(20, 500);
    lake.build();
    let index = lake.open();
    let ids: Vec<i64> = lake.ids.values().flatten().copied().chain(random(1).take(2_000)).collect();
    let mut keys: Vec<Key<'_>> = ids.iter().map(|&id| Key::from(id)).collect();
    for also in [None, Some(Key::from("text")), Some(Key::Integer(1 << 70))] {
        keys.extend(also);
        let mut together: Vec<_> = Vec::new();
        index.find_many("id", &keys, |place, key| together.push((key, place)));
        together.sort_unstable();
        let single = keys.iter().enumerate();
        let single: Vec<_> = single
            .flat_map(|(number, &key)| index.find("id", key).map(move |place| (number, place)))
            .collect();
        assert_eq!(together, single);
    }
}

/// Each fault, by what it does to a lake and its index, and then: no row is lost.
#[test]
fn no_fault_loses_a_row() {
    let mut lake = Lake::of_random(12, 3_000);
    lake.build();
    let whole = fs::read(lake.index()).unwrap();
    let mut looked_up = lake.look_up_everywhere();

    // A file that the index does not know.
    lake.write("new.parquet", &[2, 4, 6]);
    looked_up += lake.look_up_everywhere();
    // A changed file, of another size.
    lake.write("0003.parquet", &(0..5_000).map(|id| 2 * id).collect::<Vec<_>>());
    looked_up += lake.look_up_everywhere();
    // A changed file of the same size and footer length.
    let path = lake.path("lake/0004.parquet");
    let old = fs::metadata(&path).unwrap();
    let other: Vec<i64> = random(999).take(3_000).map(|id| id << 1).collect();
    lake.write("0004.parquet", &other);
    assert_eq!(fs::metadata(&path).unwrap().len(), old.len());
    looked_up += lake.look_up_everywhere();
    // A file that is gone is not an answer.
    let gone = lake.path("lake/0005.parquet");
    fs::remove_file(&gone).unwrap();
    let ids = lake.ids.remove(gone.to_str().unwrap()).unwrap();
    assert!(!lake.read_for(ids[0]).contains(&gone.to_str().unwrap().to_owned()));
    looked_up += lake.look_up_everywhere();
    // The same by an update.
    let report = lake::update(lake.index(), &quiet()).unwrap();
    assert_eq!((report.files, report.read, report.kept, report.removed), (12, 3, 9, 1));
    // A changed file with the size and time that it had.
    let path = lake.path("lake/0006.parquet");
    let (old, state) = (fs::metadata(&path).unwrap(), lake::state(path.to_str().unwrap()).unwrap());
    let other: Vec<i64> = random(1_001).take(3_000).map(|id| id << 1).collect();
    lake.write("0006.parquet", &other);
    assert_eq!(fs::metadata(&path).unwrap().len(), old.len());
    fs::File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_modified(old.modified().unwrap())
        .unwrap();
    looked_up += lake.look_up_everywhere();
    assert_ne!(lake::state(path.to_str().unwrap()).unwrap().footer, state.footer);
    assert_eq!(lake::update(lake.index(), &quiet()).unwrap().read, 1);
    looked_up += lake.look_up_everywhere();

    // A damaged index: any byte of it.
    let whole_now = fs::read(lake.index()).unwrap();
    let mut damaged = 0;
    for place in random(5).map(|place| place as usize % whole_now.len()).take(60).chain(0..64) {
        let mut bytes = whole_now.clone();
        bytes[place] ^= 1 << (place % 8);
        fs::write(lake.index(), &bytes).unwrap();
        damaged += usize::from(
            Index::load(lake.index()).map_or(true, |index| !index.damaged().is_empty()),
        );
        looked_up += lake.look_up_everywhere();
    }
    // Zeros between filters belong to nothing.
    assert!(damaged > 110, "{damaged} of 124 changed bytes were noticed");
    // A cut one.
    for length in [0, 1, 63, 64, 1_000, whole_now.len() - 1] {
        fs::write(lake.index(), &whole_now[..length]).unwrap();
        assert!(Index::load(lake.index()).is_err());
        looked_up += lake.look_up_everywhere();
    }
    // An old one, and none.
    fs::write(lake.index(), &whole).unwrap();
    looked_up += lake.look_up_everywhere();
    fs::remove_file(lake.index()).unwrap();
    assert!(matches!(Index::load(lake.index()), Err(IndexError::Io { .. })));
    looked_up += lake.look_up_everywhere();
    assert!(looked_up > 20_000, "{looked_up} lookups");
}

/// A filter that is damaged is left out when the index is updated: its file is read again.
#[test]
fn an_update_mends_damaged_filters() {
    let lake = Lake::of_random(5, 3_000);
    lake.build();
    let whole = fs::read(lake.index()).unwrap();
    let mut bytes = whole.clone();
    bytes[3_000] ^= 1;
    fs::write(lake.index(), &bytes).unwrap();
    assert_eq!(lake.open().damaged().len(), 1);
    let report = lake::update(lake.index(), &quiet()).unwrap();
    assert_eq!((report.read, report.kept), (1, 4));
    assert!(fs::read(lake.index()).unwrap() == whole);
}

#[test]
fn what_cannot_be_a_key_is_an_answer_to_every_key() {
    let lake = Lake::new();
    let directory = lake.path("lake");
    let ids: Vec<i64> = random(1).take(1_000).collect();
    let texts: Vec<String> = (0..1_000).map(|number| format!("text {number}")).collect();
    let floats = vec![1.5; 1_000];
    write(
        &directory.join("a-ids.parquet"),
        &[("id", Cells::Int64(&ids)), ("x", Cells::Int64(&ids))],
        500,
    );
    write(
        &directory.join("b-texts.parquet"),
        &[("id", Cells::Text(&texts)), ("x", Cells::Int64(&ids))],
        500,
    );
    write(
        &directory.join("c-floats.parquet"),
        &[("id", Cells::Float(&floats)), ("x", Cells::Int64(&ids))],
        500,
    );
    write(
        &directory.join("d-lists.parquet"),
        &[("id", Cells::Lists(&ids)), ("x", Cells::Int64(&ids))],
        500,
    );
    write(&directory.join("e-other.parquet"), &[("x", Cells::Int64(&ids))], 500);
    fs::write(directory.join("f-none.parquet"), b"PAR1 is no Parquet file").unwrap();
    write(
        &directory.join("g-nulls.parquet"),
        &[("id", Cells::Nulls(1_000)), ("x", Cells::Int64(&ids))],
        500,
    );
    write(
        &directory.join("h-empty.parquet"),
        &[("id", Cells::Int64(&[])), ("x", Cells::Int64(&[]))],
        500,
    );
    for row_groups in [false, true] {
        let settings = Settings::new(["id", "x"]).row_groups(row_groups);
        let settings = settings.roots([directory.to_str().unwrap()]);
        lake::build(lake.index(), settings, &quiet()).unwrap();
        let index = lake.open();
        let find = |column, key| {
            let mut files: Vec<char> = index
                .find(column, key)
                .map(|place| {
                    Path::new(&index.files()[place.file].path)
                        .file_name()
                        .unwrap()
                        .to_str()
                        .unwrap()
                        .chars()
                        .next()
                        .unwrap()
                })
                .collect();
            files.dedup();
            String::from_iter(files)
        };
        // Found, of another kind, and unknown ones.
        assert_eq!(find("id", Key::from(ids[7])), "abcdef");
        assert_eq!(find("id", Key::from("text 7")), "abcdef");
        assert_eq!(find("id", Key::from("text 7000")), "acdef");
        assert_eq!(find("x", Key::from(ids[7])), "abcdefg");
        // A column that the index does not have.
        assert_eq!(find("y", Key::from(5)), "abcdefgh");
        assert!(
            matches!(&index.files()[2].units[0].contents, Contents::Unknown { reason } if reason.contains("DOUBLE"))
        );
    }
}

#[test]
fn the_type_of_a_column_does_not_matter_to_its_keys() {
    let lake = Lake::new();
    let small: Vec<i32> = (0..500).map(|number| 7 * number - 1_000).collect();
    write(&lake.path("lake/i32.parquet"), &[("id", Cells::Int32(&small))], 100);
    write(&lake.path("lake/dates.parquet"), &[("id", Cells::Dates(&small))], 100);
    let large: Vec<u64> = (0..500).map(|number| u64::MAX - 3 * number).collect();
    write(&lake.path("lake/u64.parquet"), &[("id", Cells::Uint64(&large))], 100);
    let moments: Vec<i64> = (0..500).map(|number| 1_700_000_000_000 + 37 * number).collect();
    write(&lake.path("lake/times.parquet"), &[("id", Cells::Milliseconds(&moments))], 100);
    lake.build();
    let index = lake.open();
    let finds = |key: Key<'_>, name: &str| {
        index.find("id", key).any(|place| index.files()[place.file].path.ends_with(name))
    };
    for number in small {
        assert!(finds(number.into(), "i32.parquet") && finds(number.into(), "dates.parquet"));
    }
    for number in large {
        // The same 64 bits.
        assert!(
            finds(number.into(), "u64.parquet")
                && finds(number.cast_signed().into(), "u64.parquet")
        );
    }
    for moment in moments {
        assert!(finds((1_000_000 * moment).into(), "times.parquet"));
    }
}

#[test]
fn files_sorted_by_the_key_need_small_filters_and_integers_without_gaps_none() {
    let mut sorted = Lake::new();
    let mut dense = Lake::new();
    for file in 0..50 {
        let ids: Vec<i64> = (0..4_000).map(|id| 1_000 * (4_000 * file + id)).collect();
        sorted.write(&format!("{file}.parquet"), &ids);
        let ids: Vec<i64> = (0..4_000).map(|id| 4_000 * file + id).collect();
        dense.write(&format!("{file}.parquet"), &ids);
    }
    sorted.build();
    let index = sorted.open();
    let summary = index.summary("id");
    assert_eq!(summary.filters, 50);
    assert!(summary.filter_bytes * 8 < 6 * summary.filtered_keys, "{summary:?}");
    let misses = (0..20_000).map(|miss| 1_000 * (7 * miss) + 1);
    let opened: usize = misses.map(|key| find(&index, key).len()).sum();
    // 4 standard deviations.
    assert!((opened as f64) < 2_000.0 + 4.0 * 2_000_f64.sqrt(), "{opened} of 20,000");
    sorted.look_up_everywhere();

    dense.build();
    let index = dense.open();
    let summary = index.summary("id");
    assert_eq!((summary.filters, summary.ranges, summary.false_files), (0, 50, 0.0));
    assert!(index.bytes() < 10_000);
    for key in [-1, 0, 3_999, 4_000, 199_999, 200_000] {
        assert_eq!(find(&index, key).len(), usize::from((0..200_000).contains(&key)), "{key}");
    }
}

#[test]
fn row_groups_are_found_in_their_files() {
    let mut lake = Lake::new();
    for file in 0..5 {
        let ids: Vec<i64> = random(file).take(10_000).collect();
        lake.write(&format!("{file}.parquet"), &ids);
    }
    let settings = lake.settings().row_groups(true);
    lake::build(lake.index(), settings, &quiet()).unwrap();
    let index = lake.open();
    for (path, ids) in &lake.ids {
        let number = index.file(path).unwrap();
        for (row, &id) in ids.iter().enumerate().step_by(37) {
            let group = Some((row / 3_000) as u32);
            let mut found = index.find("id", Key::from(id));
            assert!(found.any(|place| (place.file, place.row_group) == (number, group)), "{id}");
        }
    }
    assert_eq!(index.summary("id").filters, 20);
}

#[test]
fn an_index_does_not_depend_on_threads_updates_or_interruptions() {
    let mut lake = Lake::of_random(40, 1_000);
    let bytes = |threads| {
        let options = Options::new(threads);
        lake::build(lake.index(), lake.settings(), &options).unwrap();
        fs::read(lake.index()).unwrap()
    };
    let whole = bytes(1);
    assert!(bytes(4) == whole);
    // Without three files, then with them: the number of files is rounded up to 64 either way.
    let names = ["lake/0003.parquet", "lake/0017.parquet", "lake/0039.parquet"];
    let names = names.map(|name| (lake.path(name), lake.path(&name.replace('/', "-"))));
    names.iter().for_each(|(name, aside)| fs::rename(name, aside).unwrap());
    lake.build();
    assert!(fs::read(lake.index()).unwrap() != whole);
    names.iter().for_each(|(name, aside)| fs::rename(aside, name).unwrap());
    let report = lake::update(lake.index(), &quiet()).unwrap();
    assert_eq!((report.read, report.kept, report.removed), (3, 37, 0));
    // Renamed files have other times.
    let updated = fs::read(lake.index()).unwrap();
    let whole = bytes(2);
    assert!(updated == whole);
    let report = lake::update(lake.index(), &quiet()).unwrap();
    assert_eq!((report.read, report.kept), (0, 40));
    assert!(fs::read(lake.index()).unwrap() == whole);
    assert!(!lake.path("lake.eqx.part").exists());

    // Interrupted: the journal of another build of the same files is there, its last record torn.
    let part = lake.path("lake.eqx.part");
    let options = Options {
        progress: &|progress| {
            if progress == Progress::Read {
                let _ = fs::copy(&part, part.with_extension("copy"));
            }
        },
        ..Options::new(1)
    };
    lake::build(lake.index(), lake.settings(), &options).unwrap();
    fs::remove_file(lake.index()).unwrap();
    let journal = fs::read(part.with_extension("copy")).unwrap();
    for (length, resumed) in
        [(journal.len(), 40), (journal.len() - 1, 39), (journal.len() / 2, 19), (10, 0)]
    {
        fs::write(&part, &journal[..length]).unwrap();
        let report = lake.build();
        assert!(
            report.resumed.abs_diff(resumed) <= 1 && report.read + report.resumed == 40,
            "{report:?}"
        );
        assert!(fs::read(lake.index()).unwrap() == whole, "{length} bytes");
    }
    // Of a file that has changed meanwhile, the record is of no use.
    fs::write(&part, &journal).unwrap();
    lake.write("0000.parquet", &[8, 10]);
    assert_eq!(lake.build().read, 1);
    lake.look_up_everywhere();
    // Nor is a journal with other settings.
    fs::write(&part, &journal).unwrap();
    let report = lake::build(lake.index(), lake.settings().false_files(0.01), &quiet()).unwrap();
    assert_eq!((report.read, report.resumed), (40, 0));
}

#[test]
fn a_build_that_is_stopped_goes_on_later() {
    let lake = Lake::of_random(10, 9_000);
    let read = std::sync::atomic::AtomicU64::new(0);
    let finished = || read.load(std::sync::atomic::Ordering::Relaxed);
    let options = Options {
        progress: &|progress| {
            let step = u64::from(progress == Progress::Read);
            read.fetch_add(step, std::sync::atomic::Ordering::Relaxed);
        },
        stop: &|| finished() == 4,
        ..Options::new(1)
    };
    let stopped = lake::build(lake.index(), lake.settings(), &options);
    assert!(matches!(stopped, Err(IndexError::Stopped)), "{stopped:?}");
    assert!(!lake.index().exists());
    let report = lake.build();
    assert_eq!((report.resumed, report.read), (4, 6));
    lake.look_up_everywhere();
}

#[test]
fn two_builds_of_one_index_do_not_meet() {
    let lake = Lake::of_random(3, 100);
    let inner = std::sync::Mutex::new(None);
    let options = Options {
        progress: &|_| {
            *inner.lock().unwrap() = Some(lake::build(lake.index(), lake.settings(), &quiet()));
        },
        ..Options::new(1)
    };
    lake::build(lake.index(), lake.settings(), &options).unwrap();
    let inner = inner.into_inner().unwrap().unwrap();
    assert!(matches!(inner, Err(IndexError::Locked { .. })), "{inner:?}");
    lake.look_up_everywhere();
}

#[test]
fn an_index_of_other_files_is_not_compared_with_directories() {
    let lake = Lake::of_random(1, 100);
    for roots in [vec![], vec!["table:5"]] {
        let mut draft = Draft::new(Settings::new(["id"]).roots(roots));
        draft.add_unknown("a data file", State::default(), "a test").unwrap();
        draft.save(lake.index()).unwrap();
        let index = lake.open();
        let updated = lake::update(lake.index(), &quiet());
        assert!(matches!(updated, Err(IndexError::Settings(_))), "{updated:?}");
        assert!(matches!(lake::check(&index), Err(IndexError::Settings(_))));
        // Unchanged, and asked without a check.
        assert_eq!(find(&lake.open(), 5), ["a data file"]);
    }
}

#[test]
fn files_are_named_by_directories_patterns_and_paths() {
    let lake = Lake::new();
    let at = |name: &str| {
        let path = lake.path("lake").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        write(&path, &[("id", Cells::Int64(&[5]))], 10);
    };
    [
        "a.parquet",
        "b.PARQUET",
        "day=1/c.pq",
        "_x=1/d.parq",
        "_temporary/e.parquet",
        ".f.parquet",
        "g.txt",
    ]
    .into_iter()
    .for_each(at);
    let root = |name: &str| lake.path(name).to_str().unwrap().to_owned();
    let names = |roots: &[&str]| {
        let roots: Vec<String> = roots.iter().map(|name| root(name)).collect();
        let files = lake::list(&roots).unwrap();
        let mut names: Vec<_> = files
            .iter()
            .map(|file| file.rsplit('/').next().unwrap().chars().next().unwrap())
            .collect();
        names.sort_unstable();
        String::from_iter(names)
    };
    assert_eq!(names(&["lake"]), "abcd");
    assert_eq!(names(&["lake", "lake/a.parquet"]), "abcd");
    assert_eq!(names(&["lake/*.parquet"]), ".a");
    assert_eq!(names(&["lake/d*"]), "c");
    assert_eq!(names(&["lake/g.txt", "lake/none"]), "g");
    let none = Settings::new(["id"]).roots([root("nothing")]);
    let error = lake::build(lake.index(), none, &quiet()).unwrap_err().to_string();
    assert!(error.contains("nothing: there is no Parquet file"), "{error}");
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let lake = Lake::of_random(1, 10);
    let refused = |settings: Settings, text: &str| {
        let error = lake::build(lake.index(), settings, &quiet()).unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    };
    refused(lake.settings().false_files(0.0), "give a number from 1e-6");
    refused(lake.settings().false_files(f64::NAN), "give a number from 1e-6");
    refused(Settings::new([""; 0]), "name at least one");
    refused(Settings::new(["id", "id"]), "named twice");
}
