//! The vectors of `../vectors.json`; with `BLOOMTYPE_SERVER`, the name of a
//! folder that `test/tap/clients.pl` makes, also what a server says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{env, fs};

use crate::*;

// ----------------------------------------------------------------
// JSON, as much as the vectors need
// ----------------------------------------------------------------

#[derive(Debug)]
enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    Array(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

struct Parser<'a>(&'a [u8], usize);

impl Parser<'_> {
    fn peek(&mut self) -> u8 {
        while self.0[self.1].is_ascii_whitespace() {
            self.1 += 1;
        }
        self.0[self.1]
    }

    fn next(&mut self, expected: &str) -> bool {
        self.peek();
        let found = self.0[self.1..].starts_with(expected.as_bytes());
        self.1 += if found { expected.len() } else { 0 };
        found
    }

    fn text(&mut self) -> String {
        assert!(self.next("\""));
        let mut text = Vec::new();
        while self.0[self.1] != b'"' {
            if self.0[self.1] == b'\\' {
                self.1 += 1;
                assert!(b"\"\\/".contains(&self.0[self.1]), "an escape");
            }
            text.push(self.0[self.1]);
            self.1 += 1;
        }
        self.1 += 1;
        String::from_utf8(text).unwrap()
    }

    fn value(&mut self) -> Json {
        match self.peek() {
            b'"' => Json::Text(self.text()),
            b'[' => {
                self.1 += 1;
                let mut items = Vec::new();
                while !self.next("]") {
                    assert!(items.is_empty() || self.next(","));
                    items.push(self.value());
                }
                Json::Array(items)
            }
            b'{' => {
                self.1 += 1;
                let mut members = BTreeMap::new();
                while !self.next("}") {
                    assert!(members.is_empty() || self.next(","));
                    let name = self.text();
                    assert!(self.next(":"));
                    members.insert(name, self.value());
                }
                Json::Object(members)
            }
            _ if self.next("null") => Json::Null,
            _ if self.next("true") => Json::Bool(true),
            _ if self.next("false") => Json::Bool(false),
            _ => {
                let start = self.1;
                while b"+-.eE0123456789".contains(&self.0[self.1]) {
                    self.1 += 1;
                }
                let text = std::str::from_utf8(&self.0[start..self.1]).unwrap();
                Json::Number(text.parse().unwrap())
            }
        }
    }
}

impl Json {
    fn get(&self, name: &str) -> &Json {
        match self {
            Json::Object(members) => &members[name],
            _ => panic!("{self:?} has no {name}"),
        }
    }

    fn items(&self, name: &str) -> &[Json] {
        match self.get(name) {
            Json::Array(items) => items,
            other => panic!("{name} is {other:?}"),
        }
    }

    fn text(&self, name: &str) -> &str {
        match self.get(name) {
            Json::Text(text) => text,
            other => panic!("{name} is {other:?}"),
        }
    }

    fn number(&self, name: &str) -> f64 {
        match self.get(name) {
            Json::Number(number) => *number,
            Json::Text(text) => text.parse().unwrap(),
            other => panic!("{name} is {other:?}"),
        }
    }

    fn integer(&self, name: &str) -> i64 {
        match self.get(name) {
            Json::Text(text) => text.parse().unwrap(),
            _ => self.number(name) as i64,
        }
    }

    fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), Json::Bool(true))
    }

    fn hash(&self) -> u64 {
        u64::from_str_radix(self.text("hash"), 16).unwrap()
    }

    fn bytes(&self) -> Vec<u8> {
        unhex(self.text("bytes"))
    }
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
}

fn vectors() -> Json {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors.json");
    let text = fs::read(path).unwrap();
    Parser(&text, 0).value()
}

// ----------------------------------------------------------------
// The vectors
// ----------------------------------------------------------------

fn days(text: &str) -> i32 {
    let mut parts = text.split('-');
    let mut part = || parts.next().unwrap().parse().unwrap();
    let year = part();
    match Key::date(year as i32, part(), part()) {
        Ok(Key::Date(days)) => days,
        other => panic!("{text}: {other:?}"),
    }
}

/// Microseconds since 2000 of a time such as 2026-11-20 14:34:56.789012+02.
fn microseconds(text: &str) -> i64 {
    match text {
        "infinity" => return i64::MAX,
        "-infinity" => return i64::MIN,
        _ => {}
    }
    let (time, zone) = text[11..].split_once('+').unwrap_or((&text[11..], "0"));
    let parts: Vec<i64> = time.split([':', '.']).map(|part| part.parse().unwrap()).collect();
    let seconds = ((parts[0] - zone.parse::<i64>().unwrap()) * 60 + parts[1]) * 60 + parts[2];
    (i64::from(days(&text[..10])) * 86_400 + seconds) * 1_000_000 + parts[3]
}

/// Calls a function with the key of a vector; `None`, if the crate has no key of
/// its type.
fn with_key<T>(vector: &Json, f: impl FnOnce(Key) -> T) -> Option<T> {
    let text = vector.text("key");
    Some(match vector.text("type") {
        "int2" | "int4" | "int8" => f(text.parse::<i64>().unwrap().into()),
        "text" | "varchar" | "name" | "char(9)" => f(text.into()),
        "bytea" => f(unhex(&text[2..])[..].into()),
        "bool" => f((text == "true").into()),
        "float4" => f(text.parse::<f32>().unwrap().into()),
        "float8" => f(text.parse::<f64>().unwrap().into()),
        "uuid" => f(Key::Uuid(unhex(&text.replace('-', "")).try_into().unwrap())),
        "date" => f(Key::Date(match text {
            "infinity" => i32::MAX,
            "-infinity" => i32::MIN,
            _ => days(text),
        })),
        "timestamp" => f(Key::Timestamp(microseconds(text))),
        "timestamptz" => f(Key::Timestamptz(microseconds(text))),
        _ => return None,
    })
}

#[test]
fn hashes() {
    let mut made = BTreeSet::new();
    for v in vectors().items("hashes") {
        let (seed, hash) = (v.integer("seed"), v.hash());
        assert_eq!(xxh3(&v.bytes(), seed as u64), hash, "{v:?}");
        if !v.text("key_type_name").is_empty() {
            assert_eq!(f64::from(number_of_name(v.text("key_type_name"))), v.number("key_type"));
        }
        let key = with_key(v, |key| (key.hash(seed), f64::from(key.oid())));
        if let Some(key) = key {
            assert_eq!(key, (hash, v.number("key_type")), "{v:?}");
            made.insert(v.text("type").to_string());
        }
    }
    for name in
        "int2 int4 int8 text varchar bytea bool float4 float8 uuid date timestamp timestamptz"
            .split(' ')
    {
        assert!(made.contains(name), "no key of type {name} was tested");
    }
}

#[test]
fn lengths() {
    for v in vectors().items("lengths") {
        let text = &"bloom".repeat(700)[..v.integer("length") as usize];
        assert_eq!(Key::from(text).hash(v.integer("seed")), v.hash(), "{v:?}");
    }
}

#[test]
fn positions() {
    for v in vectors().items("positions") {
        let (bits, hashes) = (v.integer("bits") as u64, v.integer("hashes") as u32);
        let mut a = v.hash();
        let expected = v.items("positions");
        assert_eq!(expected.len(), hashes as usize);
        for position in expected {
            match position {
                Json::Number(p) => assert_eq!(next_position(&mut a, bits) as f64, *p, "{v:?}"),
                other => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn sizes() {
    for v in vectors().items("sizes") {
        let fp_prob = v.number("fp_prob");
        let options = Options { fp_prob, ..Options::new(v.integer("capacity") as u64) };
        let filter = Builder::new(&options).unwrap().filter();
        assert_eq!(filter.bits() as i64, v.integer("bits"), "{v:?}");
        assert_eq!(i64::from(filter.hashes()), v.integer("hashes"), "{v:?}");
    }
    for (capacity, fp_prob) in [
        (0, 0.01),
        (1 << 53, 0.01),
        (429_496_730, 0.01),
        (u64::MAX, 0.01),
        (1, 1.0),
        (1, 0.0),
        (1, 4e-14),
        (1, f64::NAN),
    ] {
        let options = Options { fp_prob, ..Options::new(capacity) };
        match Builder::new(&options) {
            // it names the value
            Err(Error::OutOfRange(wrong)) => {
                let named = format!("capacity {capacity} is out of range: at fp_prob {fp_prob}, ");
                let rate = format!("fp_prob {fp_prob} is out of range: ");
                assert!(wrong.starts_with(&named) || wrong.starts_with(&rate), "{wrong}");
            }
            other => panic!("{options:?}: {other:?}"),
        }
    }
}

#[test]
fn filters() {
    let mut built = 0;
    for v in vectors().items("filters") {
        let bytes = v.bytes();
        let filter = Filter::try_from(&bytes[..]).unwrap();
        assert_eq!(filter.to_bytes(), bytes, "{v:?}");
        assert_eq!(filter.to_text().parse().as_ref(), Ok(&filter), "{v:?}");
        assert_eq!(filter.bits() as i64, v.integer("bits"), "{v:?}");
        assert_eq!(i64::from(filter.hashes()), v.integer("hashes"), "{v:?}");
        assert_eq!(filter.seed(), v.integer("seed"), "{v:?}");
        assert_eq!(filter.capacity() as i64, v.integer("capacity"), "{v:?}");
        assert_eq!(filter.fp_prob(), v.number("fp_prob"), "{v:?}");
        let form = if filter.form() == Form::Keys { "keys" } else { "bits" };
        assert_eq!(form, v.text("form"), "{v:?}");
        let key_type = match (v.integer("key_type") as u32, v.text("key_type_name")) {
            (0, _) => None,
            (oid, "") => Some(KeyType::BuiltIn(oid)),
            (_, name) => Some(KeyType::Named(name.to_string())),
        };
        assert_eq!(filter.key_type(), key_type.as_ref(), "{v:?}");

        // The vector's keys, made here, make the vector's filter.
        let none = Content::Keys(Vec::new());
        let empty = Filter { shape: filter.shape, key_type: None, content: none };
        let mut builder = Builder::try_from(empty).ok();
        for key in v.items("keys") {
            assert!(filter.test(xxh3(&key.bytes(), filter.seed() as u64).max(1)), "{key:?}");
            let added = with_key(key, |key| {
                assert_eq!(filter.contains(key), Ok(true), "{key:?}");
                builder.as_mut().map(|builder| builder.add(key))
            });
            if added != Some(Some(Ok(()))) {
                builder = None;
            }
        }
        if let (Some(builder), Json::Text(_)) = (builder, v.get("sql")) {
            built += 1;
            assert_eq!(builder.filter().to_bytes(), bytes, "{v:?}");
        }
        for key in v.items("others") {
            let hash = xxh3(&key.bytes(), filter.seed() as u64).max(1);
            let contains = with_key(key, |key| filter.contains(key).unwrap())
                .unwrap_or_else(|| filter.test(hash));
            assert_eq!(contains, key.flag("contains"), "{v:?}");
        }
    }
    assert!(built >= 8, "only {built} filters were built");
}

#[test]
fn malformed() {
    let vectors = vectors();
    let refused = |bytes: &[u8]| matches!(Filter::try_from(bytes), Err(Error::Format(_)));
    for v in vectors.items("malformed").iter().chain(vectors.items("counting")) {
        assert!(refused(&v.bytes()), "{v:?}");
    }
    for v in vectors.items("malformed_text") {
        assert!(matches!(v.text("text").parse::<Filter>(), Err(Error::Format(_))), "{v:?}");
    }
    for v in vectors.items("filters") {
        let bytes = v.bytes();
        for i in 0..bytes.len() {
            assert!(refused(&bytes[..i]), "{i} bytes of {v:?}");
            for bit in 0..8 {
                let mut other = bytes.clone();
                other[i] ^= 1 << bit;
                if let Ok(filter) = Filter::try_from(&other[..]) {
                    assert_eq!(filter.to_bytes(), other);
                }
            }
        }
        assert!(refused(&[&bytes[..], &[0]].concat()), "{v:?}");
    }
}

// ----------------------------------------------------------------
// Keys, union and intersection
// ----------------------------------------------------------------

fn filled(options: &Options, keys: std::ops::Range<i32>) -> Filter {
    let mut builder = Builder::new(options).unwrap();
    keys.for_each(|key| builder.add(key).unwrap());
    builder.filter()
}

#[test]
fn other_key_types() {
    let filter = filled(&Options::new(100), 0..10);
    let keys = [
        Key::from("5"),
        Key::from(&[5_u8][..]),
        Key::from(5.0),
        Key::from(true),
        Key::Uuid([0; 16]),
        Key::Date(5),
        Key::Timestamp(5),
        Key::Timestamptz(5),
    ];
    for key in keys {
        assert!(matches!(filter.contains(key), Err(Error::KeyType { .. })), "{key:?}");
        let mut builder = Builder::try_from(filter.clone()).unwrap();
        assert!(matches!(builder.add(key), Err(Error::KeyType { .. })), "{key:?}");
        assert_eq!(builder.filter(), filter);
        let nothing = filled(&Options::new(100), 0..0);
        assert_eq!(nothing.contains(key), Ok(false));
    }
    let options = Options { key_type: Some(KeyType::TEXT), ..Options::new(100) };
    let texts = filled(&options, 0..0);
    assert_eq!(texts.key_type(), Some(&KeyType::TEXT));
    assert!(matches!(texts.contains(5), Err(Error::KeyType { .. })));
    assert!(matches!(filter.union(&texts), Err(Error::KeyType { .. })));
    assert!(matches!(filter.intersect(&texts), Err(Error::KeyType { .. })));
    let shapes = "the filters differ in bits, hashes or seed: 1024, 5 and 0; 2048, 5 and 0";
    let of_200 = filled(&Options::new(200), 0..1);
    assert_eq!(filter.union(&of_200), Err(Error::Shape(shapes.into())));
    assert!(matches!(Builder::try_from(Filter::without_shape()), Err(Error::Shape(_))));
}

#[test]
fn dates() {
    for (year, month, day, days) in [
        (2000, 1, 1, 0),
        (1999, 12, 31, -1),
        (2000, 2, 29, 59),
        (2000, 3, 1, 60),
        (1900, 3, 1, -36_465),
        (-4713, 11, 24, -2_451_545),
        (5_874_897, 12, 31, 2_145_031_948),
    ] {
        assert_eq!(Key::date(year, month, day), Ok(Key::Date(days)));
    }
    for (year, month, day) in
        [(2001, 2, 29), (1900, 2, 29), (2000, 0, 1), (2000, 13, 1), (2000, 4, 31), (i32::MAX, 1, 1)]
    {
        assert!(Key::date(year, month, day).is_err(), "{year}-{month}-{day}");
    }
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_micros(946_684_800_000_001);
    assert_eq!(Key::try_from(time), Ok(Key::Timestamptz(1)));
    assert!(Key::try_from(time + std::time::Duration::from_nanos(1)).is_err());
    let before = std::time::UNIX_EPOCH - std::time::Duration::from_secs(1);
    assert_eq!(Key::try_from(before), Ok(Key::Timestamptz(-946_684_801_000_000)));
    assert!(Key::unix_microseconds(i64::MIN).is_err());
}

#[test]
fn unions() {
    for capacity in [10, 1000, 5000] {
        let options = Options { fp_prob: 0.001, seed: -3, ..Options::new(capacity) };
        for n in [0, 1, 20, 200, 1500] {
            let (a, b) = (filled(&options, 0..n), filled(&options, n / 2..2 * n));
            let both = filled(&options, 0..2 * n);
            assert_eq!(a.union(&b).unwrap().to_bytes(), both.to_bytes());
            assert_eq!(b.union(&a).unwrap().to_bytes(), both.to_bytes());
            let common = a.intersect(&b).unwrap();
            assert_eq!(common, b.intersect(&a).unwrap());
            assert_eq!(Filter::try_from(&common.to_bytes()[..]).as_ref(), Ok(&common));
            for key in n / 2..n {
                assert_eq!(common.contains(key), Ok(true));
            }
            assert_eq!(a.union(&Filter::without_shape()).as_ref(), Ok(&a));
            assert_eq!(Filter::without_shape().union(&a).as_ref(), Ok(&a));
        }
    }
    let a = filled(&Options::new(11), 0..1);
    let b = filled(&Options { fp_prob: 0.009_431, ..Options::new(12) }, 0..1);
    let both = a.union(&b).unwrap();
    assert_eq!((both.capacity(), both.fp_prob()), (12, 0.009_431));
}

#[test]
fn estimates() {
    let few = filled(&Options::new(1000), 0..100);
    assert_eq!(few.estimated_keys(), 100.0);
    assert!(few.fp_prob_now() > 0.0 && few.fp_prob_now() < 1e-17);
    let many = filled(&Options::new(1000), 0..1000);
    assert!((many.estimated_keys() - 1000.0).abs() < 50.0, "{}", many.estimated_keys());
    assert!((many.fp_prob_now() - 0.0094).abs() < 0.002, "{}", many.fp_prob_now());
    let full = filled(&Options::new(10), 0..10_000);
    assert!(full.estimated_keys().is_finite() && full.fp_prob_now() == 1.0);
}

// ----------------------------------------------------------------
// Against a server
// ----------------------------------------------------------------

fn server(name: &str) -> Option<Vec<u8>> {
    let folder = env::var_os("BLOOMTYPE_SERVER")?;
    Some(fs::read(Path::new(&folder).join(name)).unwrap())
}

/// Lines of "accepted" or "refused" and a file.
#[test]
fn verdicts() {
    let lines = match server("verdicts") {
        Some(lines) => String::from_utf8(lines).unwrap(),
        None => return,
    };
    for line in lines.lines() {
        let (verdict, file) = line.split_once(' ').unwrap();
        let bytes = fs::read(file).unwrap();
        let filter = Filter::try_from(&bytes[..]);
        assert_eq!(filter.is_ok(), verdict == "accepted", "{line}");
        if let Ok(filter) = filter {
            assert_eq!(filter.to_bytes(), bytes, "{line}");
        }
    }
}

/// No text has a character 0.
#[test]
fn character_0() {
    let mut builder = Builder::new(&Options::new(100)).unwrap();
    for before in ["", "a"] {
        let key = format!("{before}\0b");
        assert!(builder.add(&key).is_err());
        assert!(builder.clone().filter().contains(&key).is_err());
        builder.add("a").unwrap();
    }
}

/// More keys than the capacity are an error, if asked for, with the rate.
#[test]
fn full() {
    for (capacity, n, is_overfull, error) in [
        (1000, 0, false, false),
        (1000, 1000, false, false),
        (2, 5, false, false),
        (10, 1000, true, true),
        (1000, 1100, true, true),
    ] {
        let mut builder = Builder::new(&Options::new(capacity)).unwrap();
        (0..n).for_each(|i| builder.add(i).unwrap());
        let filter = builder.clone().filter();
        assert_eq!(filter.is_overfull(), is_overfull, "{n} of {capacity}");
        match builder.try_filter() {
            Ok(same) => assert!(!error && same == filter, "{n} of {capacity}"),
            Err(Error::Overfull(text)) => {
                assert!(error, "{n} of {capacity}");
                let rate = format!("rate is now {:.3}, not 0.01", filter.fp_prob_now());
                assert!(text.ends_with(&rate), "{text}");
            }
            Err(other) => panic!("{other}"),
        }
    }
}

/// Lines of a filter, and whether it is full.
#[test]
fn full_by_server() {
    let lines = match server("full") {
        Some(lines) => String::from_utf8(lines).unwrap(),
        None => return,
    };
    for line in lines.lines() {
        let (bytes, is_overfull) = line.split_once(' ').unwrap();
        let filter = Filter::try_from(&unhex(bytes)[..]).unwrap();
        assert_eq!(filter.is_overfull(), is_overfull == "t", "{line}");
    }
}

/// Lines of two filters, their union and their intersection.
#[test]
fn combined() {
    let lines = match server("combined") {
        Some(lines) => String::from_utf8(lines).unwrap(),
        None => return,
    };
    for line in lines.lines() {
        let read = |field| Filter::try_from(&unhex(field)[..]).unwrap();
        let f: Vec<Filter> = line.split(' ').map(read).collect();
        assert_eq!(f[0].union(&f[1]).as_ref(), Ok(&f[2]), "{line}");
        assert_eq!(f[0].intersect(&f[1]).as_ref(), Ok(&f[3]), "{line}");
    }
}

/// Each of the server's filters has the URLs, and is what is built of them here.
#[test]
fn urls() {
    let urls = match server("urls") {
        Some(urls) => String::from_utf8(urls).unwrap(),
        None => return,
    };
    let mut built = 0;
    for entry in fs::read_dir(env::var_os("BLOOMTYPE_SERVER").unwrap()).unwrap() {
        let file = entry.unwrap().path();
        if file.extension() != Some("bloom".as_ref()) {
            continue;
        }
        let bytes = fs::read(&file).unwrap();
        let filter = Filter::try_from(&bytes[..]).unwrap();
        let mut builder = Builder::new(&Options {
            fp_prob: filter.fp_prob(),
            seed: filter.seed(),
            ..Options::new(filter.capacity())
        })
        .unwrap();
        for url in urls.lines() {
            assert_eq!(filter.contains(url), Ok(true), "{url}");
            builder.add(url).unwrap();
        }
        assert!(builder.filter().to_bytes() == bytes, "{file:?} is built differently");
        built += 1;
    }
    assert!(built > 0, "no filters");
}
