use super::*;
use crate::jsonrpc::{Json, json};

fn raw(text: &str) -> Json {
    json(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn compile(schema: &str) -> Schema {
    Schema::compile(&raw(schema)).unwrap_or_else(|error| panic!("{error}: {schema}"))
}

fn verdict(schema: &str, instance: &str) -> Result<(), String> {
    compile(schema)
        .validate(&raw(instance))
        .map_err(|error| error.to_string())
}

fn refusal(schema: &str) -> String {
    Schema::compile(&raw(schema)).unwrap_err().to_string()
}

/// Each row: a schema, values that fit, values that do not.
fn table(rows: &[(&str, &[&str], &[&str])]) {
    for (schema, good, bad) in rows {
        let compiled = compile(schema);
        for instance in *good {
            assert_eq!(compiled.validate(&raw(instance)), Ok(()), "{schema} {instance}");
        }
        for instance in *bad {
            assert!(compiled.validate(&raw(instance)).is_err(), "{schema} {instance}");
        }
    }
}

#[test]
fn the_dialect_is_2020_12_or_the_declared_one() {
    let tuple = r#""properties":{"p":{"type":"array","items":[{"type":"string"}]}}}"#;
    let prefix = r#""properties":{"p":{"type":"array","prefixItems":[{"type":"string"}]}}}"#;
    let good = r#"{"p":["x",1]}"#;
    let bad = r#"{"p":[1]}"#;
    for name in [
        "http://json-schema.org/draft-07/schema#",
        "http://json-schema.org/draft-07/schema",
        "https://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft/2019-09/schema#",
        "http://json-schema.org/draft/2019-09/schema",
    ] {
        // The old dialects know tuples as `items`, and `prefixItems` not at all.
        table(&[
            (&format!(r#"{{"$schema":"{name}",{tuple}"#), &[good], &[bad]),
            (&format!(r#"{{"$schema":"{name}",{prefix}"#), &[good, bad], &[]),
        ]);
    }
    for name in [
        "",
        r#""$schema":"https://json-schema.org/draft/2020-12/schema","#,
        r#""$schema":"https://json-schema.org/draft/2020-12/schema#","#,
        r#""$schema":"http://json-schema.org/draft/2020-12/schema","#,
    ] {
        table(&[(&format!("{{{name}{prefix}"), &[good], &[bad])]);
        assert!(Schema::compile(&raw(&format!("{{{name}{tuple}"))).is_err());
    }
}

#[test]
fn another_dialect_is_refused_by_name_wherever_it_is_declared() {
    for name in [
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft-06/schema#",
        "https://json-schema.org/draft/next/schema",
        "https://example.com/mine",
        "",
    ] {
        for schema in [
            format!(r#"{{"$schema":"{name}"}}"#),
            format!(r#"{{"$defs":{{"a":{{"$id":"urn:a","$schema":"{name}"}}}}}}"#),
        ] {
            assert_eq!(
                refusal(&schema),
                format!(
                    "the schema cannot be used: the dialect \"{name}\" is not supported; \
                     supported are https://json-schema.org/draft/2020-12/schema, \
                     https://json-schema.org/draft/2019-09/schema and http://json-schema.org/draft-07/schema#"
                )
            );
        }
    }
    assert_eq!(
        refusal(r#"{"$schema":7}"#),
        "the schema cannot be used: $schema is a URI, not 7"
    );
}

#[test]
fn references_resolve_inside_the_document() {
    table(&[
        (
            r##"{"$ref":"#/$defs/a~1b%25","$defs":{"a/b%":{"type":"string"}}}"##,
            &[r#""x""#],
            &["1"],
        ),
        (
            r##"{"$ref":"#here","$defs":{"a":{"$anchor":"here","type":"string"}}}"##,
            &[r#""x""#],
            &["1"],
        ),
        (
            r##"{"$id":"https://example.com/s","$ref":"part","$defs":{"a":{"$id":"part","type":"string"}}}"##,
            &[r#""x""#],
            &["1"],
        ),
        (
            r##"{"type":"object","properties":{"next":{"$ref":"#"}},"additionalProperties":false}"##,
            &[r#"{"next":{"next":{}}}"#],
            &[r#"{"next":{"next":{"x":1}}}"#],
        ),
        (
            r##"{"$id":"https://example.com/strict","$ref":"tree","$dynamicAnchor":"node","unevaluatedProperties":false,
                "$defs":{"tree":{"$id":"tree","$dynamicAnchor":"node","properties":{"kids":{"type":"array","items":{"$dynamicRef":"#node"}}}}}}"##,
            &[r#"{"kids":[{"kids":[]}]}"#],
            &[r#"{"kids":[{"kid":[]}]}"#],
        ),
        (
            r##"{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/a","type":"string","definitions":{"a":{"type":"integer"}}}"##,
            &["1"],
            &[r#""x""#],
        ),
        (
            r##"{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"properties":{"next":{"$recursiveRef":"#"}},"additionalProperties":false}"##,
            &[r#"{"next":{"next":{}}}"#],
            &[r#"{"next":{"x":1}}"#],
        ),
        (
            r##"{"$ref":"#/x-parts/0/deep","x-parts":[{"deep":{"type":"string"}}]}"##,
            &[r#""x""#],
            &["1"],
        ),
        (r##"{"$ref":"#"}"##, &["1"], &[]),
        (
            r#"{"$ref":"https://json-schema.org/draft/2020-12/schema"}"#,
            &["{}"],
            &[r#"{"type":7}"#],
        ),
    ]);
}

#[test]
fn a_reference_out_of_the_document_is_refused_at_once_and_named() {
    for (reference, named) in [
        ("https://example.com/other.json", "https://example.com/other.json"),
        ("http://169.254.169.254/latest#/x", "http://169.254.169.254/latest"),
        ("file:///etc/passwd", "file:///etc/passwd"),
        ("other.json#/$defs/a", "other.json#/$defs/a"),
    ] {
        for schema in [
            format!(r#"{{"$ref":"{reference}"}}"#),
            format!(r#"{{"properties":{{"a":{{"items":{{"$ref":"{reference}"}}}}}}}}"#),
            format!(
                r#"{{"$schema":"http://json-schema.org/draft-07/schema#","properties":{{"a":{{"$ref":"{reference}"}}}}}}"#
            ),
        ] {
            assert_eq!(
                refusal(&schema),
                format!(
                    "the schema cannot be used: $ref \"{named}\" is not in the document, and nothing is fetched; put it into $defs"
                )
            );
        }
    }
    for (schema, named) in [
        (
            r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/X"}}}"##,
            "/$defs/X",
        ),
        (r##"{"$ref":"#nowhere"}"##, "nowhere"),
        (r##"{"properties":{"a":{"$dynamicRef":"#nowhere"}}}"##, "nowhere"),
    ] {
        let text = refusal(schema);
        assert!(text.contains(named) && text.contains("$ref"), "{text}");
    }
}

#[test]
fn a_reference_into_data_is_refused() {
    for reference in [
        "#/const",
        "#/enum/0",
        "#/$defs",
        "#/$defs/a/properties",
        "#/%63onst/allOf/0",
    ] {
        let schema =
            format!(r#"{{"$ref":"{reference}","const":{{}},"enum":[{{}}],"$defs":{{"a":{{"properties":{{}}}}}}}}"#);
        let text = refusal(&schema);
        assert_eq!(
            text,
            format!("the schema cannot be used: $ref \"{reference}\" leads to no schema")
        );
    }
    table(&[(
        r##"{"$ref":"#/$defs/const","$defs":{"const":{"type":"string"}}}"##,
        &[r#""x""#],
        &["1"],
    )]);
}

#[test]
fn a_bad_schema_spoils_only_what_uses_it() {
    let schemas: Vec<_> = [
        r#"{"type":"object"}"#,
        r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/X"}}}"##,
        r#"{"$schema":"http://json-schema.org/draft-04/schema#"}"#,
        r#"{"type":7}"#,
    ]
    .into_iter()
    .map(|text| LazySchema::new(raw(text)))
    .collect();
    assert!(schemas[0].get().unwrap().validate(&raw("{}")).is_ok());
    for bad in &schemas[1..] {
        let first = bad.get().unwrap_err();
        assert!(std::ptr::eq(first, bad.get().unwrap_err()), "compiled once");
    }
    assert!(schemas[2].raw().get().contains("draft-04"), "the text is unchanged");
}

#[test]
fn what_is_no_schema_is_refused_with_its_place() {
    for (schema, want) in [
        ("7", "a schema is an object or a boolean, not 7"),
        ("null", "a schema is an object or a boolean, not null"),
        ("[]", "a schema is an object or a boolean, not an array"),
        (r#"{"properties":{"a":{"type":"text"}}}"#, "at \"/properties/a/type\": "),
        (
            r#"{"required":"a"}"#,
            "at \"/required\": \"a\" is not of type \"array\"",
        ),
        (r#"{"pattern":"("}"#, "\"(\" is no regular expression"),
        (
            r#"{"properties":{"a":1e999}}"#,
            "it cannot be read: number out of range",
        ),
    ] {
        let text = refusal(schema);
        assert!(
            text.starts_with("the schema cannot be used: ") && text.contains(want),
            "{text}"
        );
    }
    table(&[("true", &["1"], &[]), ("false", &[], &["1"]), ("{}", &["1"], &[])]);
}

#[test]
fn schemas_are_bounded() {
    let many = |count: usize, item: &str| vec![item; count].join(",");
    let deep = r#"{"not":"#.repeat(130) + "{}" + &"}".repeat(130);
    let links: Vec<_> = (0..400)
        .map(|n| format!(r##""a{n}":{{"$ref":"#/definitions/a{}"}}"##, n + 1))
        .collect();
    for (schema, want) in [
        (
            format!(r#"{{"description":"{}"}}"#, "x".repeat(1024 * 1024)),
            "at most 1048576 are read",
        ),
        (
            format!(r#"{{"anyOf":[{}]}}"#, many(10_001, "{}")),
            "more than 10000 subschemas",
        ),
        (
            format!(r#"{{"anyOf":[{}]}}"#, many(257, "false")),
            "more than 256 subschemas that are only true or false",
        ),
        (
            format!(r#"{{"allOf":[{}]}}"#, many(257, r#"{"pattern":"a"}"#)),
            "more than 256 patterns",
        ),
        (deep, "it cannot be read: recursion limit exceeded"),
        (
            format!(
                r#"{{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{{{},"a400":{{}}}}}}"#,
                links.join(",")
            ),
            "more than 256 references to other references",
        ),
    ] {
        let text = refusal(&schema);
        assert!(text.contains(want), "{text}");
    }
}

/// A chain of definitions, each of which applies the one before it twice.
fn doubling(keyword: &str, levels: usize, leaf: &str, dialect: &str) -> String {
    let mut defs = format!(r#""a0":{leaf}"#);
    for level in 1..=levels {
        let below = format!(r##"{{"$ref":"#/definitions/a{}"}}"##, level - 1);
        defs.push_str(&format!(r#","a{level}":{{"{keyword}":[{below},{below}]}}"#));
    }
    format!(r##"{{"$schema":"{dialect}","definitions":{{{defs}}},"allOf":[{{"$ref":"#/definitions/a{levels}"}}]}}"##)
}

#[test]
fn a_check_that_would_not_end_is_given_up() {
    for dialect in [
        "https://json-schema.org/draft/2020-12/schema",
        "http://json-schema.org/draft-07/schema#",
    ] {
        for (keyword, leaf) in [
            ("allOf", "{}"),
            ("allOf", "true"),
            ("anyOf", "false"),
            ("anyOf", r#"{"type":"string"}"#),
            ("oneOf", r#"{"const":{"a":1}}"#),
        ] {
            let schema = compile(&doubling(keyword, 60, leaf, dialect));
            let text = schema.check(&raw("1"), 100_000).unwrap_err().to_string();
            assert!(
                text.ends_with("takes too long, and was given up"),
                "{keyword} {leaf}: {text}"
            );
        }
    }
}

#[test]
fn where_all_reasons_are_too_many_the_first_is_told() {
    let dialect = "https://json-schema.org/draft/2020-12/schema";
    for (keyword, levels, want) in [
        ("allOf", 60, r#"at the top level: 1 is not of type "string""#),
        (
            "anyOf",
            19,
            "it does not fit the schema; to find out where takes too long",
        ),
    ] {
        let text = verdict(&doubling(keyword, levels, r#"{"type":"string"}"#, dialect), "1").unwrap_err();
        assert_eq!(text, want, "{keyword}");
    }
}

#[test]
fn a_check_that_would_overflow_the_stack_is_given_up() {
    let mut defs = r#""a0":{"type":"string"}"#.to_owned();
    for level in 1..=4_000 {
        defs.push_str(&format!(r##","a{level}":{{"$ref":"#/$defs/a{}"}}"##, level - 1));
    }
    let schema = format!(r##"{{"$defs":{{{defs}}},"$ref":"#/$defs/a4000"}}"##);
    let text = verdict(&schema, "1").unwrap_err();
    assert_eq!(text, "checking it against the schema goes too deep, and was given up");
}

#[test]
fn deep_values_of_recursive_schemas_are_checked() {
    let schema = r##"{"$ref":"#/$defs/n","$defs":{"n":{"anyOf":[{"type":"object","properties":{"a":{"$ref":"#/$defs/n"}}},{"type":"integer"}]}}}"##;
    let nested = |leaf: &str| r#"{"a":"#.repeat(120) + leaf + &"}".repeat(120);
    let compiled = compile(schema);
    assert_eq!(compiled.validate(&raw(&nested("1"))), Ok(()));
    assert!(compiled.validate(&raw(&nested("true"))).is_err());
}

#[test]
fn a_panic_of_the_validator_is_not_taken_for_an_answer() {
    let budget = meter::Budget {
        looks: 10,
        per_text: 1,
        per_byte: 1,
    };
    let outcome = std::panic::catch_unwind(|| {
        let _ = meter::within(budget, || std::panic::resume_unwind(Box::new("other")));
    });
    assert_eq!(*outcome.unwrap_err().downcast::<&str>().unwrap(), "other");
    assert_eq!(meter::within(budget, || meter::charge(11)), Err(meter::Spent::Looks));
    assert_eq!(meter::within(budget, || meter::charge(10)), Ok(()));
    meter::charge(1_000);
}

#[test]
fn hostile_patterns_end() {
    let long = format!("\"{}!\"", "a".repeat(50_000));
    // Linear in the length, whatever the pattern.
    assert!(verdict(r#"{"pattern":"^(a+)+$"}"#, &long).is_err());
    assert!(verdict(r#"{"pattern":"^(a|aa)*$"}"#, &long).is_err());
    // With look-around it is not, so tries are counted.
    let text = verdict(r#"{"pattern":"^(?!x)((a+)+)+\\1$"}"#, &long).unwrap_err();
    assert_eq!(
        text,
        "at the top level: matching it with the pattern takes too long, and was given up"
    );
    let text = refusal(r#"{"pattern":"((((a{50}){50}){50}){50}){50}"}"#);
    assert!(text.contains("is no regular expression, or one larger than"), "{text}");
}

#[test]
fn patterns_have_the_syntax_of_ecma_262() {
    table(&[
        (
            r#"{"pattern":"^(?!.*\\.\\.)[a-z.]+@[a-z]+$"}"#,
            &[r#""a.b@c""#],
            &[r#""a..b@c""#],
        ),
        (r#"{"pattern":"^\\p{L}+$"}"#, &[r#""é""#], &[r#""1""#]),
        (r#"{"pattern":"^\\d{1,3}$"}"#, &[r#""12""#], &[r#""1234""#, r#""١""#]),
        (r#"{"pattern":"^[\\w-]{1,64}$"}"#, &[r#""a-b""#], &[r#""a b""#]),
        (
            r#"{"patternProperties":{"^x-":{"type":"integer"}},"additionalProperties":false}"#,
            &[r#"{"x-a":1}"#],
            &[r#"{"x-a":"b"}"#, r#"{"y":1}"#],
        ),
    ]);
}

#[test]
fn formats_and_encodings_forbid_nothing() {
    for dialect in [
        "https://json-schema.org/draft/2020-12/schema",
        "http://json-schema.org/draft-07/schema#",
    ] {
        for keyword in [
            r#""format":"email""#,
            r#""format":"date-time""#,
            r#""format":"no-such-format""#,
            r#""contentEncoding":"base64""#,
            r#""contentMediaType":"application/json""#,
        ] {
            assert_eq!(
                verdict(&format!(r#"{{"$schema":"{dialect}",{keyword}}}"#), r#""{no""#),
                Ok(()),
                "{keyword}"
            );
        }
    }
}

#[test]
fn integers_are_exact_within_64_bits() {
    table(&[
        (
            r#"{"const":9007199254740993}"#,
            &["9007199254740993"],
            &["9007199254740992", "9007199254740994"],
        ),
        (
            r#"{"enum":[9007199254740993]}"#,
            &["9007199254740993"],
            &["9007199254740992"],
        ),
        (
            r#"{"minimum":9007199254740993}"#,
            &["9007199254740993"],
            &["9007199254740992"],
        ),
        (
            r#"{"exclusiveMaximum":9007199254740993}"#,
            &["9007199254740992"],
            &["9007199254740993"],
        ),
        (
            r#"{"maximum":-9007199254740993}"#,
            &["-9007199254740993"],
            &["-9007199254740992"],
        ),
        (
            r#"{"multipleOf":2}"#,
            &["9007199254740994"],
            &["9007199254740993", "18446744073709551615"],
        ),
        (
            r#"{"const":18446744073709551615}"#,
            &["18446744073709551615"],
            &["18446744073709551614"],
        ),
        (
            r#"{"type":"integer"}"#,
            &["9007199254740993", "1.0", "100000000000000000000"],
            &["1.5"],
        ),
        (r#"{"multipleOf":0.01}"#, &["19.99"], &["19.995"]),
        (
            r#"{"uniqueItems":true}"#,
            &["[9007199254740992,9007199254740993]"],
            &["[1,1.0]"],
        ),
    ]);
}

#[test]
fn halves_of_surrogate_pairs_are_checked_like_any_character() {
    table(&[
        (
            r#"{"type":"object","properties":{"a":{"maxLength":3}}}"#,
            &[r#"{"a":"x\ud800y"}"#, r#"{"\udc00":1}"#],
            &[r#"{"a":"xx\ud800y"}"#],
        ),
        (r#"{"const":"\\ud800"}"#, &[r#""\\ud800""#], &[r#""\ud800""#]),
        (
            r#"{"maxLength":1}"#,
            &[r#""\ud83d\ude00""#],
            &[r#""\ud83d\ude00\ud83d""#],
        ),
    ]);
}

#[test]
fn violations_are_told_with_path_and_reason() {
    for (schema, instance, want) in [
        (
            r#"{"type":"string"}"#,
            "5",
            r#"at the top level: 5 is not of type "string""#,
        ),
        (
            r#"{"type":["string","null"]}"#,
            "[1]",
            r#"at the top level: an array is not of type "null" or "string""#,
        ),
        (
            r#"{"properties":{"a/b":{"items":{"minimum":3}}}}"#,
            r#"{"a/b":[3,2]}"#,
            r#"at "/a~1b/1": 2 is less than the minimum 3"#,
        ),
        (
            r#"{"required":["a"]}"#,
            "{}",
            r#"at the top level: the member "a" is missing"#,
        ),
        (
            r#"{"additionalProperties":false}"#,
            r#"{"a":1,"b":2}"#,
            r#"at the top level: has members that are not allowed: "a", "b""#,
        ),
        (
            r#"{"properties":{"a":{"enum":["x","y"]}}}"#,
            r#"{"a":"z"}"#,
            r#"at "/a": "z" is none of "x", "y""#,
        ),
        (
            r#"{"pattern":"^a$"}"#,
            r#""b""#,
            r#"at the top level: "b" does not match the pattern "^a$""#,
        ),
        (
            r#"{"propertyNames":{"maxLength":1}}"#,
            r#"{"ab":1}"#,
            r#"at the top level: the name of a member does not fit: "ab" is longer than 1 characters"#,
        ),
        (
            r#"{"anyOf":[{"type":"string"},{"properties":{"a":{"type":"string"}}}]}"#,
            r#"{"a":1}"#,
            r#"at the top level: an object fits none of the 2 alternatives of anyOf (nearest: at "/a": 1 is not of type "string")"#,
        ),
        (
            r#"{"items":{"type":"string"}}"#,
            "[1,2,3,4,5,6,7]",
            "at \"/0\": 1 is not of type \"string\"; at \"/1\": 2 is not of type \"string\"; at \"/2\": 3 is not of type \"string\"; \
             at \"/3\": 4 is not of type \"string\"; at \"/4\": 5 is not of type \"string\"; and 2 more",
        ),
    ] {
        assert_eq!(verdict(schema, instance).unwrap_err(), want, "{schema}");
    }
}

#[test]
fn what_is_told_stays_short() {
    let huge = format!("\"{}\"", "x".repeat(1_000_000));
    let names: Vec<_> = (0..1_000)
        .map(|n| format!("\"{}{n}\":{huge:.500}\"", "n".repeat(300)))
        .collect();
    let options: Vec<_> = (0..1_000).map(|n| format!("\"{}{n}\"", "o".repeat(300))).collect();
    for (schema, instance) in [
        (r#"{"type":"integer"}"#.to_owned(), huge.clone()),
        (
            r#"{"additionalProperties":false}"#.to_owned(),
            format!("{{{}}}", names.join(",")),
        ),
        (
            r#"{"additionalProperties":{"type":"integer"}}"#.to_owned(),
            format!("{{{}}}", names.join(",")),
        ),
        (format!(r#"{{"enum":[{}]}}"#, options.join(",")), huge.clone()),
        (format!(r#"{{"const":{huge:.60000}"}}"#), "1".to_owned()),
        (format!(r#"{{"pattern":"{}"}}"#, "p".repeat(5_000)), huge.clone()),
        (format!(r#"{{"required":[{}]}}"#, options.join(",")), "{}".to_owned()),
        (
            r#"{"anyOf":[{"type":"integer"},{"maxLength":3}]}"#.to_owned(),
            huge.clone(),
        ),
        (
            r#"{"propertyNames":{"maxLength":3}}"#.to_owned(),
            format!("{{{}}}", names.join(",")),
        ),
    ] {
        let text = verdict(&schema, &instance).unwrap_err();
        assert!(text.len() < 2_500, "{} bytes: {text}", text.len());
    }
}

#[test]
fn large_values_of_ordinary_schemas_pass() {
    let schema = r##"{"type":"array","items":{"$ref":"#/$defs/row"},"$defs":{"row":{"type":"object","properties":{
        "id":{"type":"integer","minimum":0},"name":{"type":"string","maxLength":100},"tags":{"type":"array","items":{"enum":["a","b","c"]},"uniqueItems":true},
        "mail":{"anyOf":[{"type":"string","pattern":"^[^@]+@[^@]+$"},{"type":"null"}]}},"required":["id","name"],"additionalProperties":false}}}"##;
    let row = r#"{"id":9007199254740993,"name":"Ada","tags":["a","b"],"mail":"ada@example.com"}"#;
    let rows = |last: &str| format!("[{},{last}]", vec![row; 5_000].join(","));
    let compiled = compile(schema);
    assert_eq!(compiled.validate(&raw(&rows(row))), Ok(()));
    assert_eq!(
        compiled.validate(&raw(&rows(r#"{"id":1}"#))).unwrap_err().to_string(),
        r#"at "/5000": the member "name" is missing"#
    );
}

#[test]
fn a_schema_can_be_used_by_many_threads() {
    fn shared<T: Send + Sync>(value: T) -> T {
        value
    }
    let schema = shared(LazySchema::new(raw(r#"{"type":"integer"}"#)));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert!(schema.get().unwrap().validate(&raw("1")).is_ok()));
        }
    });
}

#[test]
fn defaults_follow_what_is_present_in_the_order_of_the_schema() {
    let schema = r#"{"type":"object","properties":{
        "z":{"type":"string","default":"Z"},
        "pick":{"type":"string","enum":["a","b"],"enumNames":["A","B"]},
        "a":{"type":"integer","default":9007199254740993},
        "f":{"type":"number","default":1.0},
        "n":{"default":null}}}"#;
    for (content, want) in [
        ("{}", r#"{"z":"Z","a":9007199254740993,"f":1.0,"n":null}"#),
        (
            r#"{ "f" : 2.50 , "x":{} }"#,
            r#"{ "f" : 2.50 , "x":{},"z":"Z","a":9007199254740993,"n":null}"#,
        ),
        (
            r#"{"z":null,"a":1,"f":{"g":{}},"n":0}"#,
            r#"{"z":null,"a":1,"f":{"g":{}},"n":0}"#,
        ),
        (
            r#"{"\u007a":"own","a":1,"f":1,"n":0}"#,
            r#"{"\u007a":"own","a":1,"f":1,"n":0}"#,
        ),
        ("null", "null"),
        ("[1]", "[1]"),
    ] {
        assert_eq!(with_defaults(&raw(schema), &raw(content)).get(), want);
    }
    for schema in ["{}", "true", r#"{"properties":[]}"#, r#"{"properties":{"a":true}}"#] {
        assert_eq!(with_defaults(&raw(schema), &raw(r#"{"b":1}"#)).get(), r#"{"b":1}"#);
    }
}
