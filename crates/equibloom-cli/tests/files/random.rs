//! Random command lines: the command exits with 0, 1 or 2, never by a signal, a panic or not at all.
//!
//! A few hundred; `EQUIBLOOM_COMMANDS=10000` for more.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use equibloom::Filter;

use crate::index;
use crate::scratch::{Scratch, lines};

const TIMEOUT: Duration = Duration::from_secs(60);
/// Commands between two preparations of the files, which commands replace.
const ROUND: u64 = 50;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// Mostly one of the first items, which are right: some command lines have to be.
    fn pick_usual<T: Copy>(&mut self, items: &[T]) -> T {
        let end = if self.below(4) == 0 { items.len() } else { items.len().div_ceil(4) };
        self.pick(&items[..end])
    }
}

const FILTERS: &[&str] = &[
    "set.eqb",
    "other.eqb",
    "removable.eqb",
    "ints.eqb",
    "parts.eqb",
    "cut.eqb",
    "flipped.eqb",
    "header.eqb",
    "longer.eqb",
    "growing.eqg",
    "index.eqx",
    "empty",
    "keys",
    "-",
    "absent",
    "directory",
    "/dev/null",
    "out.eqb",
    "",
];
const INDEXES: &[&str] = &[
    "index.eqx",
    "index.eqx",
    "index.eqx",
    "out.eqx",
    "damaged.eqx",
    "cut.eqx",
    "set.eqb",
    "-",
    "absent",
    "directory",
    "",
];
const LAKES: &[&str] = &["rows.parquet", "directory", "*.parquet", "keys", "absent", "[", "-", ""];
const KEY_FILES: &[&str] = &[
    "keys",
    "keys",
    "csv",
    "jsonl",
    "keys.gz",
    "cut.gz",
    "bytes",
    "utf16",
    "returns",
    "empty",
    "long",
    "numbers",
    "set.eqb",
    "bz2",
    "rows.parquet",
    "-",
    "absent",
    "directory",
    "/dev/null",
    "",
];
const OUTPUTS: &[&str] = &[
    "out.eqb",
    "out.eqb",
    "set.eqb",
    "keys",
    "-",
    "directory",
    "nowhere/x",
    "/dev/null",
    "/dev/full",
    "",
];
const KEYS: &[&str] =
    &["alice", "key5@example.com", "5", "-17", "", "--help", "ü", "18446744073709551616", "a b"];
const COUNTS: &[&str] =
    &["1", "2", "1000", "0", "64", "5k", "1e15", "99999999999999999999", "-3", "x", ""];
const RATES: &[&str] =
    &["0.1%", "1e-6", "1%", "50%", "0", "1", "2", "1e-15", "1e-300", "nan", "inf", "-1", "%", ""];
const BYTES: &[&str] = &["10kB", "1MB", "2kB", "0", "1", "900", "900PB", "1e300", "-1", "x"];
const REALS: &[&str] = &["8", "12", "1.2", "0", "0.5", "1", "1000", "nan", "1e300", "-2", "x"];
const PLACEMENTS: &[&str] = &[
    "classical",
    "blocked",
    "single",
    "sequential",
    "multi-level",
    "two-choice",
    "one-plus-alpha",
    "list",
    "x",
];
const BLOCK_BITS: &[&str] = &["64", "100", "256", "512", "4096", "32768", "63", "0", "99999"];
const NAMES: &[&str] = &["key", "id", "1", "2", "0", "99", "a.b", "a..b", ""];
const WHEN_FULL: &[&str] = &["grow", "refuse", "saturate", "explode"];
const TYPES: &[&str] = &["auto", "text", "int", "bytes", "x"];
const SUBTABLES: &[&str] = &["4,2,1", "1", "0", "100000,5", "", "x", "0.8,0.2", "0.5,0.5,0.5"];
const MODELS: &[&str] = &["paper", "exact", "best", "x"];
const FIGURES: &[&str] = &["beyond", "nothing", ""];
const SHELLS: &[&str] = &["bash", "zsh", "fish", "elvish", "powershell", "cmd"];
/// An option without a value.
const NONE: &[&str] = &[];

type Options = &'static [(&'static str, &'static [&'static str])];

const READING: Options = &[
    ("-0", NONE),
    ("--csv-column", NAMES),
    ("--tsv-column", NAMES),
    ("--json-field", NAMES),
    ("--parquet-column", NAMES),
    ("--type", TYPES),
    ("--no-header", NONE),
    ("--keep-empty", NONE),
    ("--skip-missing", NONE),
    ("--max-record", BYTES),
];
const REQUIREMENTS: Options = &[
    ("--fpr", RATES),
    ("--memory", BYTES),
    ("--bits-per-key", REALS),
    ("--accesses-miss", REALS),
    ("--accesses-insert", REALS),
    ("--lines-miss", REALS),
    ("--lines-insert", REALS),
    ("--block-bits", BLOCK_BITS),
    ("--choices", COUNTS),
    ("--overflow", RATES),
    ("--placement", PLACEMENTS),
    ("--block", &["bloom", "fingerprint", "x"]),
    ("--hints", COUNTS),
    ("--removable", NONE),
    ("--mergeable", NONE),
    ("--headroom", RATES),
    ("--one-by-one", NONE),
    ("--force", NONE),
    ("--keys", COUNTS),
];
const BUILD: Options = &[
    ("-o", OUTPUTS),
    ("--when-full", WHEN_FULL),
    ("--seed", COUNTS),
    ("--threads", COUNTS),
    ("-q", NONE),
    ("--json", NONE),
];
const QUERY: Options = &[
    ("-f", FILTERS),
    ("-f", FILTERS),
    ("-e", KEYS),
    ("-v", NONE),
    ("-c", NONE),
    ("-l", NONE),
    ("-L", NONE),
    ("-H", NONE),
    ("--no-filename", NONE),
    ("-n", NONE),
    ("-m", COUNTS),
    ("-o", NONE),
    ("-q", NONE),
    ("--json", NONE),
    ("--no-verify", NONE),
];
const CHANGE: Options = &[
    ("-e", KEYS),
    ("--when-full", WHEN_FULL),
    ("--skip-absent", NONE),
    ("--threads", COUNTS),
    ("-q", NONE),
    ("--json", NONE),
];
const INDEX_BUILD: Options = &[
    ("--column", NAMES),
    ("--false-files", REALS),
    ("--row-groups", NONE),
    ("--seed", COUNTS),
    ("--threads", COUNTS),
    ("-q", NONE),
    ("--json", NONE),
];
const INDEX_FIND: Options = &[
    ("-e", KEYS),
    ("--column", NAMES),
    ("-l", NONE),
    ("--json", NONE),
    ("--no-check", NONE),
    ("--no-verify", NONE),
];
const THEORY: Options = &[
    ("--placement", PLACEMENTS),
    ("--load", REALS),
    ("--accesses", REALS),
    ("--choices", COUNTS),
    ("--overflow", RATES),
    ("--alpha", RATES),
    ("--model", MODELS),
    ("--block-bits", BLOCK_BITS),
    ("--bits-per-key", REALS),
    ("--epsilon", REALS),
    ("--buckets", &["1", "0", "1000", "x"]),
    ("--threshold", &["0", "2", "8", "x"]),
    ("--subtables", SUBTABLES),
    ("--budget", REALS),
    ("--steps", &["0", "1", "5", "x"]),
    ("--json", NONE),
];
const TRACE: Options = &[
    ("--keys", &["a,b,c", "", "x"]),
    ("--subtables", SUBTABLES),
    ("--blocks", &["0", "1", "7", "100000"]),
    ("--choices", COUNTS),
    ("--block-bits", &["6", "0", "4", "64", "40000"]),
    ("--hashes", COUNTS),
    ("--hints", COUNTS),
    ("--threshold", COUNTS),
    ("--probability", RATES),
    ("--least-loaded", NONE),
    ("--budget", COUNTS),
    ("--seed", COUNTS),
];

/// Commands, how often they are chosen, their options, and their positional arguments.
type Shape = (&'static str, usize, &'static [Options], &'static [&'static [&'static str]]);

const SHAPES: &[Shape] = &[
    ("build", 25, &[BUILD, READING, REQUIREMENTS], &[KEY_FILES, KEY_FILES]),
    ("query", 25, &[QUERY, READING], &[FILTERS, KEY_FILES, KEY_FILES]),
    ("add", 10, &[CHANGE, READING], &[FILTERS, KEY_FILES]),
    ("remove", 8, &[CHANGE, READING], &[FILTERS, KEY_FILES]),
    ("merge", 8, &[BUILD], &[FILTERS, FILTERS, FILTERS]),
    ("info", 5, &[&[("--json", NONE), ("--x", NONE)]], &[FILTERS]),
    ("verify", 5, &[&[("--json", NONE), ("-q", NONE)]], &[FILTERS, FILTERS, FILTERS]),
    ("index build", 3, &[INDEX_BUILD], &[LAKES]),
    ("index update", 1, &[&[("--threads", COUNTS), ("-q", NONE)]], &[INDEXES]),
    ("index find", 3, &[INDEX_FIND, READING], &[INDEXES, KEY_FILES]),
    ("index info", 1, &[&[("--json", NONE)]], &[INDEXES]),
    ("index verify", 1, &[&[("--json", NONE)]], &[INDEXES]),
    ("plan", 6, &[REQUIREMENTS, &[("--json", NONE), ("--hash-bits", COUNTS)]], &[]),
    ("theory lower-bound", 1, &[THEORY], &[]),
    ("theory optimum", 1, &[THEORY], &[]),
    ("theory rate", 1, &[THEORY], &[]),
    ("theory alpha", 1, &[THEORY], &[]),
    ("theory fluid", 1, &[THEORY], &[]),
    ("theory cuckoo", 1, &[THEORY], &[]),
    ("trace", 3, &[TRACE], &[]),
    (
        "cuckoo",
        2,
        &[&[("--trace", NONE), ("--keys", &["20,50,53", "1,1,1", "x", ""]), ("--buckets", COUNTS)]],
        &[],
    ),
    (
        "tables --entries 1000",
        1,
        &[&[("--load", REALS), ("--accesses", REALS), ("--choices", COUNTS)]],
        &[],
    ),
    (
        "demo --keys 0",
        1,
        &[&[("--bits-per-key", REALS), ("--block-bits", BLOCK_BITS), ("--overload", NONE)]],
        &[],
    ),
    ("reproduce --list", 1, &[&[("--figure", FIGURES), ("--quick", NONE), ("--full", NONE)]], &[]),
    ("completions", 1, &[], &[SHELLS]),
    ("man", 1, &[], &[&["pages", "keys", ""]]),
    ("install-extras", 1, &[], &[&["prefix", "keys", ""]]),
    ("", 1, &[&[("--help", NONE), ("--version", NONE), ("-x", NONE)]], &[&["help", "explode", ""]]),
];

/// The arguments of a command line.
fn command_line(random: &mut Random) -> Vec<&'static str> {
    let all: usize = SHAPES.iter().map(|shape| shape.1).sum();
    let mut choice = random.below(all);
    let chosen = SHAPES.iter().find(|shape| {
        let is_it = choice < shape.1;
        choice = choice.saturating_sub(shape.1);
        is_it
    });
    let (command, _, options, positional) = chosen.unwrap();
    let mut parts: Vec<Vec<&str>> = Vec::new();
    for values in *positional {
        if random.below(8) > 0 {
            parts.push(vec![random.pick_usual(values)]);
        }
    }
    if matches!(*command, "build" | "merge") && random.below(8) > 0 {
        parts.push(vec!["-o", random.pick_usual(OUTPUTS)]);
    }
    if *command == "index build" && random.below(8) > 0 {
        parts.push(vec!["--column", "id", "-o", random.pick_usual(&["out.eqx", "index.eqx", "-"])]);
    }
    if *command == "plan" && random.below(8) > 0 {
        parts.push(vec!["--keys", "5000", "--fpr", "1%"]);
    }
    let options: Vec<_> = options.concat();
    for _ in 0..random.below(4) {
        if options.is_empty() {
            break;
        }
        let (name, values) = random.pick(&options);
        parts.push(if values.is_empty() {
            vec![name]
        } else {
            vec![name, random.pick_usual(values)]
        });
    }
    // Options stand anywhere; positional arguments keep their order more often than not.
    if random.below(4) == 0 {
        for end in (1..parts.len()).rev() {
            parts.swap(end, random.below(end + 1));
        }
    }
    command.split_whitespace().chain(parts.concat()).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn prepare(scratch: &Scratch, random: &mut Random) {
    let keys = lines("key", 300);
    let _ = std::fs::create_dir_all(scratch.path("directory"));
    scratch.write("keys", &keys);
    scratch.write("others", lines("other", 200));
    scratch.write("csv", "id,key\n1,alice\n2,\"b,\"\"ob\"\n3,\n");
    scratch.write("jsonl", "{\"key\":\"alice\",\"id\":5}\n{\"id\":null}\n{\"key\":{\"x\":[1]}}\n");
    scratch.write("keys.gz", gzip(keys.as_bytes()));
    scratch.write("cut.gz", &gzip(keys.as_bytes())[..200]);
    scratch.write("bytes", (0..5_000).map(|_| random.next() as u8).collect::<Vec<_>>());
    let utf_16: Vec<u8> = "alice\nbob\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    scratch.write("utf16", &utf_16);
    scratch.write("returns", "alice\rbob\r");
    scratch.write("empty", "");
    scratch.write("long", "x".repeat(1_000_000));
    scratch.write("numbers", "1\n-5\n+7\n005\nx\n99999999999999999999\n");
    scratch.write("bz2", "BZh91AY");
    index::write(
        scratch,
        "rows.parquet",
        &(0..500).map(|_| random.next() as i64).collect::<Vec<_>>(),
    );
    let mut growing = Filter::<str>::builder().rate(0.01).build_growing().unwrap();
    growing.try_extend(keys.lines()).unwrap();
    growing.save(scratch.path("growing.eqg")).unwrap();
    for build in [
        "index build -q rows.parquet --column id -o index.eqx",
        "build keys -q --keys 500 --placement blocked -o set.eqb",
        "build others -q --keys 500 --placement blocked -o other.eqb",
        "build keys -q --removable --fpr 1% -o removable.eqb",
        "build - -q --type int -o ints.eqb",
        "merge set.eqb other.eqb -q -o parts.eqb",
    ] {
        let output = scratch.run_with_input(build, b"1\n2\n3\n");
        assert!(output.status.success(), "{build}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let whole = scratch.read("set.eqb");
    scratch.write("cut.eqb", &whole[..random.below(whole.len())]);
    scratch.write("longer.eqb", [&whole[..], b"x"].concat());
    let mut index = scratch.read("index.eqx");
    scratch.write("cut.eqx", &index[..random.below(index.len())]);
    let place = random.below(index.len());
    index[place] ^= 1 << random.below(8);
    scratch.write("damaged.eqx", &index);
    for (name, end) in [("flipped.eqb", whole.len()), ("header.eqb", 256)] {
        let mut damaged = whole.clone();
        damaged[random.below(end)] ^= 1 << random.below(8);
        scratch.write(name, &damaged);
    }
}

/// Runs a command line; returns what is wrong with its end.
fn run(scratch: &Scratch, arguments: &[&str], input: &[u8], full: bool) -> Result<i32, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_equibloom"));
    command.current_dir(scratch.path("")).args(arguments);
    command.env("HOME", scratch.path("home")).env("XDG_CACHE_HOME", scratch.path("cache"));
    command.stdin(Stdio::piped()).stderr(Stdio::piped());
    let full_device = std::fs::File::options().write(true).open("/dev/full");
    match full_device {
        Ok(device) if full => command.stdout(device),
        _ => command.stdout(Stdio::null()),
    };
    let mut child = command.spawn().unwrap();
    let (mut pipe, mut errors) = (child.stdin.take().unwrap(), child.stderr.take().unwrap());
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = errors.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let input = input.to_vec();
    std::thread::spawn(move || pipe.write_all(&input));
    let start = Instant::now();
    let mut pause = Duration::from_micros(500);
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if start.elapsed() > TIMEOUT => {
                child.kill().unwrap();
                child.wait().unwrap();
                return Err(format!("not done after {TIMEOUT:?}"));
            }
            None => std::thread::sleep(pause),
        }
        pause = (2 * pause).min(Duration::from_millis(20));
    };
    let error = reader.join().unwrap();
    match status.code() {
        Some(code @ 0..=2) if !error.contains("panicked") => Ok(code),
        _ => Err(format!("{status}: {error}")),
    }
}

#[test]
fn random_command_lines_end_with_a_status() {
    let commands = std::env::var("EQUIBLOOM_COMMANDS").ok().and_then(|it| it.parse().ok());
    let commands: u64 = commands.unwrap_or(300);
    let scratch = Scratch::new("random");
    let mut statuses = [0; 3];
    let mut failures = Vec::new();
    for number in 0..commands {
        if number % ROUND == 0 {
            prepare(&scratch, &mut Random(number));
        }
        // Each has its own seed, so that one can be repeated alone.
        let mut random = Random(number.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let arguments = command_line(&mut random);
        let input = match random.below(5) {
            0 => Vec::new(),
            1 => scratch.read("set.eqb"),
            2 => (0..random.below(3_000)).map(|_| random.next() as u8).collect(),
            _ => lines("key", 100).into_bytes(),
        };
        let is_full = random.below(20) == 0;
        match run(&scratch, &arguments, &input, is_full) {
            Ok(code) => statuses[code as usize] += 1,
            Err(problem) => failures.push(format!("{number}: {arguments:?}: {problem}")),
        }
    }
    eprintln!("{commands} command lines: statuses 0, 1, 2: {statuses:?}");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(statuses[0] > commands / 10 && statuses[2] > commands / 10, "{statuses:?}");
}
