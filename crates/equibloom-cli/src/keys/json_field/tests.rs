use super::*;

fn field(name: &str, record: &str) -> Result<Option<String>, String> {
    let path = path(name).unwrap();
    let field = Field { path: &path, skip_missing: false };
    let key = field.of(record.as_bytes())?;
    Ok(key.map(|key| String::from_utf8(key.into_owned()).unwrap()))
}

#[test]
fn a_field_is_a_string_without_quotes_or_anything_else_as_it_is_written() {
    for (name, record, key) in [
        ("id", r#"{"id":"a b"}"#, "a b"),
        (
            "id",
            r#"{"x":{"id":1},"id":12345678901234567890123,"y":[1,{"id":2}]}"#,
            "12345678901234567890123",
        ),
        ("id", r#" {"id" : 1.50 } "#, "1.50"),
        ("id", r#"{"id":true}"#, "true"),
        ("id", r#"{"id":"é\u00e9\n"}"#, "éé\n"),
        ("id", r#"{"id":"first","id":"last"}"#, "last"),
        ("\u{e9}", r#"{"\u00e9":"escaped name"}"#, "escaped name"),
        ("user.email", r#"{"user":{"name":"x","email":"a@b"}}"#, "a@b"),
        ("user\\.email", r#"{"user.email":"a@b"}"#, "a@b"),
        ("id", r#"{"id":""}"#, ""),
    ] {
        assert_eq!(field(name, record), Ok(Some(key.to_owned())), "{name} of {record}");
    }
}

#[test]
fn what_has_no_such_field_is_refused_by_name() {
    for (name, record, words) in [
        ("id", "{}", "`id` is missing"),
        ("id", r#"{"id":null}"#, "`id` is missing"),
        ("a.b", r#"{"a":"b"}"#, "`a.b` is missing"),
        ("a.b", r#"{"a":[{"b":1}]}"#, "`a.b` is missing"),
        ("id", "17", "`id` is missing"),
        ("id", r#"{"id":{"x":1}}"#, "`id` has parts"),
        ("id", r#"{"id":[1]}"#, "`id` has parts"),
        ("id", "key", "one JSON object on every line"),
        ("id", r#"{"id":1"#, "one JSON object on every line"),
        ("id", r#"{"id":1} {"id":2}"#, "one JSON object on every line"),
    ] {
        let error = field(name, record).unwrap_err();
        assert!(error.contains(words), "{record}: {error}");
    }
    for name in ["", ".", "a.", "a..b"] {
        assert!(path(name).is_err(), "{name}");
    }
}
