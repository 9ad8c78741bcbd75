use super::super::UriTemplate;
use super::template;

#[test]
fn errors_say_what_is_wrong_and_at_which_byte() {
    let cases = [
        ("a{/id*", 1, "without a `}`"),
        ("/id*}", 4, "without a `{`"),
        ("é}", 2, "without a `{`"),
        ("a{b{c}", 3, "`{` inside an expression"),
        ("{}", 1, "without a variable"),
        ("{?}", 2, "without a name"),
        ("{a,}", 3, "without a name"),
        ("{:3}", 1, "without a name"),
        ("{*keys?}", 1, "without a name"),
        ("{/?id}", 2, "'?' may not stand here"),
        ("{??hello}", 2, "'?' may not stand here"),
        ("{!hello}", 1, "operator `!` is reserved"),
        ("{=path}", 1, "operator `=` is reserved"),
        ("{|var*}", 1, "operator `|` is reserved"),
        ("{$var}", 1, "'$' may not stand here"),
        ("{with space}", 5, "' ' may not stand here"),
        ("{?x, y}", 4, "' ' may not stand here"),
        ("{user-id}", 5, "'-' may not stand here"),
        ("{é}", 1, "'é' may not stand here"),
        ("{x.}", 2, "ends with a dot"),
        ("{a..b}", 3, "'.' may not stand here"),
        ("{+.a}", 2, "'.' may not stand here"),
        ("{%2x}", 1, "'%' may not stand here"),
        ("{hello:2*}", 7, "from 1 to 9999"),
        ("{x*:3}", 2, "only one of them"),
        ("{x**}", 2, "only one of them"),
        ("{var:prefix}", 5, "from 1 to 9999"),
        ("{var:}", 5, "from 1 to 9999"),
        ("{var:0}", 5, "from 1 to 9999"),
        ("{var:01}", 5, "from 1 to 9999"),
        ("{var:+1}", 5, "from 1 to 9999"),
        ("{var:10000}", 5, "from 1 to 9999"),
        ("{var:99999999999999999999999}", 5, "from 1 to 9999"),
        ("50%", 2, "write %25"),
        ("a b", 1, "' ' may not stand in a URI template; write %20"),
        ("a\u{85}", 1, "write %C2%85"),
        ("\u{ffff}", 0, "write %EF%BF%BF"),
        ("a\\b", 1, "write %5C"),
    ];
    for (text, offset, part) in cases {
        let error = UriTemplate::parse(text).expect_err(text);
        assert_eq!(error.offset(), offset, "{text}: {error}");
        assert!(error.to_string().contains(part), "{text}: {error}");
    }
}

#[test]
fn templates_have_a_text_and_names_once_each() {
    let cases: [(&str, &[&str]); 4] = [
        ("file:///{+path}", &["path"]),
        ("{b}{?a,b,c*}{&a:3}", &["b", "a", "c"]),
        (
            "{last.name,Stra%C3%9Fe,_1,42}",
            &["last.name", "Stra%C3%9Fe", "_1", "42"],
        ),
        ("plain://text", &[]),
    ];
    for (text, names) in cases {
        let template = template(text);
        assert_eq!(template.as_str(), text);
        assert_eq!(template.variables().collect::<Vec<_>>(), names);
    }
}

#[test]
fn the_bounds_of_a_template_are_errors() {
    let at_limits = [
        "x".repeat(UriTemplate::MAX_LENGTH),
        "{x}".repeat(UriTemplate::MAX_EXPRESSIONS),
        format!("{{x{}}}", ",x".repeat(UriTemplate::MAX_VARIABLES - 1)),
    ];
    for text in at_limits {
        template(&text);
    }
    let over = [
        (
            "x".repeat(UriTemplate::MAX_LENGTH + 1),
            4096,
            "4097 bytes; write one of at most 4096",
        ),
        ("{x}".repeat(UriTemplate::MAX_EXPRESSIONS + 1), 192, "at most 64"),
        (
            format!("{{x{}}}", ",x".repeat(UriTemplate::MAX_VARIABLES)),
            257,
            "at most 128",
        ),
    ];
    for (text, offset, part) in over {
        let error = UriTemplate::parse(&text).expect_err(part);
        assert_eq!(error.offset(), offset, "{error}");
        assert!(error.to_string().contains(part), "{error}");
    }
}
