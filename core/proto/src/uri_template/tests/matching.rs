use super::{UriValue, list, map, template};

/// Template, URI, and what it gives; `None` for no match.
type Case = (&'static str, &'static str, Option<Vec<(&'static str, UriValue)>>);

fn check(cases: Vec<Case>) {
    for (text, uri, want) in cases {
        let want = want.map(|all| all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect());
        assert_eq!(template(text).matches(uri), want, "{text} with {uri}");
    }
}

fn found<const N: usize>(all: [(&'static str, &'static str); N]) -> Option<Vec<(&'static str, UriValue)>> {
    Some(all.into_iter().map(|(name, text)| (name, text.into())).collect())
}

#[test]
fn simple_values_stay_in_their_segment() {
    check(vec![
        ("users/{id}", "users/7", found([("id", "7")])),
        ("users/{id}", "users/", None),
        ("users/{id}", "users/7/", None),
        ("users/{id}", "users/7?x", None),
        ("users/{id}", "users/7#x", None),
        ("users/{id}", "users", None),
        ("users/{id}", "Users/7", None),
        ("users/{id}/x", "users/7/x", found([("id", "7")])),
        ("users/{id}", "users/a@b:c,d", found([("id", "a@b:c,d")])),
        ("users/{id}", "users/J%C3%BCrgen%20%41", found([("id", "Jürgen A")])),
        ("users/{id}", "users/Jürgen", found([("id", "Jürgen")])),
        ("users/{id}", "users/%2520", found([("id", "%20")])),
        ("{x}-{y}", "a-b-c", found([("x", "a-b"), ("y", "c")])),
        ("{x}{y}", "abc", found([("x", "ab"), ("y", "c")])),
        ("{x}{y}", "a", None),
        ("{x,y}", "1024,768", found([("x", "1024"), ("y", "768")])),
        ("{x,y}", "1024,", found([("x", "1024"), ("y", "")])),
        ("{x,y}", "1024", found([("x", "1024")])),
        ("{x:3}", "val", found([("x", "val")])),
        ("{x:3}", "valu", None),
        ("{x:1}", "%E2%82%AC", found([("x", "€")])),
        ("{x:3}{y}", "value", found([("x", "val"), ("y", "ue")])),
        ("{x*}", "a,b%2Cc", Some(vec![("x", list(&["a", "b,c"]))])),
        ("{x*}", "a", Some(vec![("x", list(&["a"]))])),
        ("", "", found([])),
        ("", "x", None),
        ("aab{x}aab", "aaaabaab", None),
        ("{x}aab", "aaaab", found([("x", "aa")])),
    ]);
}

#[test]
fn reserved_values_cross_segments() {
    check(vec![
        ("file:///{+path}", "file:///a/b%20c.txt", found([("path", "a/b c.txt")])),
        ("file:///{+path}", "file:///", None),
        ("file://{+path}", "file:///a/b", found([("path", "/a/b")])),
        ("docs{+path}", "docs/a", found([("path", "/a")])),
        ("{+dir}/{file}", "a/b/c", found([("dir", "a/b"), ("file", "c")])),
        ("{+path}{?q}", "a/b?q=1", found([("path", "a/b"), ("q", "1")])),
        ("{+path}{?q}", "a/b?z=1", found([("path", "a/b?z=1")])),
        ("{+path:3}", "a/b", found([("path", "a/b")])),
        ("{+path:3}", "a/bc", None),
        ("{+items*}", "a/b,c", Some(vec![("items", list(&["a/b", "c"]))])),
        ("page{#at}", "page#a/b?c", found([("at", "a/b?c")])),
        ("page{#at}", "page#", found([("at", "")])),
        ("page{#at}", "page", found([])),
        ("page{#at,to}", "page#1,2", found([("at", "1"), ("to", "2")])),
    ]);
}

#[test]
fn labels_and_segments_may_be_missing_or_lists() {
    check(vec![
        ("{name}{.ext}", "a.json", found([("name", "a"), ("ext", "json")])),
        ("{name}{.ext}", "a.tar.gz", found([("name", "a.tar"), ("ext", "gz")])),
        ("{name}{.ext}", "a", found([("name", "a")])),
        ("{name}{.ext}", "a.", found([("name", "a"), ("ext", "")])),
        ("X{.list*}", "X.a.b", Some(vec![("list", list(&["a", "b"]))])),
        ("files{/path*}", "files/a/b", Some(vec![("path", list(&["a", "b"]))])),
        ("files{/path*}", "files/", Some(vec![("path", list(&[""]))])),
        ("files{/path*}", "files", found([])),
        ("files{/path*}", "filesa", None),
        ("files{/path}", "files/a/b", None),
        (
            "{/a,b*}",
            "/1/2/3",
            Some(vec![("a", "1".into()), ("b", list(&["2", "3"]))]),
        ),
        ("{/a,b*}", "/1", found([("a", "1")])),
        (
            "{/a*,b}",
            "/1/2/3",
            Some(vec![("a", list(&["1", "2"])), ("b", "3".into())]),
        ),
        ("{/a,b}/edit", "/1/edit", found([("a", "1")])),
        ("{/a:2}", "/12", found([("a", "12")])),
        ("{/a:2}", "/123", None),
    ]);
}

#[test]
fn named_members_come_in_any_order_and_may_be_missing() {
    check(vec![
        ("s{?a,b}", "s?b=2&a=1", found([("a", "1"), ("b", "2")])),
        ("s{?a,b}", "s?b=2", found([("b", "2")])),
        ("s{?a,b}", "s", found([])),
        ("s{?a,b}", "s?", None),
        ("s{?a,b}", "s?a=1&", None),
        ("s{?a,b}", "s?c=1", None),
        ("s{?a,b}", "s?a=1&c=1", None),
        ("s{?a,b}", "s?a=1&a=2", None),
        ("s{?a,b}", "s?a=1&a=1", None),
        ("s{?a,b}", "s?a", None),
        ("s{?a,b}", "s?a=", found([("a", "")])),
        ("s{?a,b}", "s?ab=1", None),
        ("s{?a}", "s?a=b=c/d?e+f", found([("a", "b=c/d?e+f")])),
        ("s{?a}", "s?a=x%26b%3D1", found([("a", "x&b=1")])),
        ("s{?a}", "s?%61=1", found([("a", "1")])),
        ("s{?a:2}", "s?a=12", found([("a", "12")])),
        ("s{?a:2,b}", "s?a=123&b=1", None),
        ("s{?a}{&b}", "s?b=2&a=1", found([("a", "1"), ("b", "2")])),
        ("s{?a}{&b}", "s&b=2", found([("b", "2")])),
        ("s?fixed=yes{&x}", "s?fixed=yes&x=1", found([("x", "1")])),
        ("s?fixed=yes{&x}", "s?x=1&fixed=yes", None),
        ("s{?a}{#f}", "s?a=1#x", found([("a", "1"), ("f", "x")])),
        ("s{?a}x", "s?a=1x", found([("a", "1")])),
        ("s{?Stra%C3%9Fe}", "s?Stra%c3%9fe=1", found([("Stra%C3%9Fe", "1")])),
        ("s{?tags}", "s?tags=a,b", found([("tags", "a,b")])),
        (
            "s{?tags*}",
            "s?tags=a&tags=b,c",
            Some(vec![("tags", list(&["a", "b,c"]))]),
        ),
        (
            "s{?q,rest*}",
            "s?z=1&q=2&y=3",
            Some(vec![("q", "2".into()), ("rest", map(&[("z", "1"), ("y", "3")]))]),
        ),
        ("s{?rest*}", "s?rest=1&y=3", None),
        ("s{?rest*}", "s?=3", None),
        (
            "s{;a}{.b}{;c,d*}",
            "s;a=1;d=2",
            Some(vec![("a", "1".into()), ("d", list(&["2"]))]),
        ),
        ("s{;x,y}", "s;y=2;x=1", found([("x", "1"), ("y", "2")])),
        ("s{;x,y}", "s;x", found([("x", "")])),
        ("s{;x,y}/t", "s;x;y=2/t", found([("x", ""), ("y", "2")])),
        ("s{;x,y}", "s;z=2", None),
        ("s{;k*}", "s;a=1;b", Some(vec![("k", map(&[("a", "1"), ("b", "")]))])),
        ("{n}{;x,y}", "s;x=1;y=2", found([("n", "s"), ("x", "1"), ("y", "2")])),
    ]);
}

#[test]
fn readings_without_plain_reserved_characters_go_first() {
    check(vec![
        (
            "{x}{y*}",
            "12,3",
            Some(vec![("x", "1".into()), ("y", list(&["2", "3"]))]),
        ),
        ("{x,y}", "a,b,c", found([("x", "a,b"), ("y", "c")])),
        ("{x}{&y}", "a&y=1", found([("x", "a"), ("y", "1")])),
        ("{x}{&y}", "a&z=1", found([("x", "a&z=1")])),
    ]);
}

#[test]
fn a_variable_twice_has_one_value() {
    check(vec![
        ("{x}/{x}", "a/%61", found([("x", "a")])),
        ("{x}/{x}", "a/b", None),
        ("{/x:1,x}", "/v/value", found([("x", "value")])),
        ("{/x:1,x}", "/w/value", None),
        ("{x}{?x}", "a", None),
        ("{x}{?x}", "a?x=a", found([("x", "a")])),
    ]);
}

#[test]
fn literals_are_compared_by_what_they_mean() {
    check(vec![
        ("caf%c3%a9/%7e{x}", "café/~1", found([("x", "1")])),
        ("café/~{x}", "caf%C3%A9/%7E1", found([("x", "1")])),
        ("a%2Fb{x}", "a%2fb1", found([("x", "1")])),
        ("a%2Fb{x}", "a/b1", None),
        ("a/b{x}", "a%2Fb1", None),
        ("%FF{x}", "%FF1", None),
    ]);
}

#[test]
fn what_is_no_text_matches_nothing() {
    for uri in [
        "x/%",
        "x/%4",
        "x/%zz",
        "x/%FF",
        "x/%C3",
        "x/%C0%AF",
        "x/%ED%A0%80",
        "x/%00",
        "x/a\0",
    ] {
        for text in ["x/{a}", "{+a}", "x{/a*}"] {
            assert_eq!(template(text).matches(uri), None, "{text} with {uri}");
        }
    }
}

#[test]
fn no_value_climbs_out_of_its_place() {
    let traversals = [
        "..", ".", "%2e%2E", "%2e", "..%2Fetc", "a%2Fb", "%2Fetc", "a%5Cb", "..%5c..", "a\\b",
    ];
    for value in traversals {
        for before in ["{x}", "a{.x}", "a{/x}", "a{;x}", "{x*}", "a{/x*}"] {
            let uri = match before {
                "{x}" | "{x*}" => format!("root/{value}"),
                "a{.x}" => format!("root/a.{value}"),
                "a{;x}" => format!("root/a;x={value}"),
                _ => format!("root/a/{value}"),
            };
            assert_eq!(
                template(&format!("root/{before}")).matches(&uri),
                None,
                "{before} with {uri}"
            );
        }
    }
    let paths = [
        "..",
        ".",
        "../x",
        "a/../b",
        "a/..",
        "a/./b",
        "..%2Fx",
        "a%2f..",
        "a%5C..%5Cb",
        "a\\..",
        "%2e%2e/x",
        "/etc",
        "%2Fetc",
        "%5Cetc",
        "//etc",
    ];
    for path in paths {
        for text in ["file:///{+path}", "file:///{+path*}"] {
            let uri = format!("file:///{path}");
            assert_eq!(template(text).matches(&uri), None, "{text} with {uri}");
        }
    }
    check(vec![
        ("v/{x}", "v/...", found([("x", "...")])),
        ("v/{x}", "v/1.0..2.0", found([("x", "1.0..2.0")])),
        ("v/{x}", "v/.env", found([("x", ".env")])),
        ("v/{x}", "v/%252e%252e", found([("x", "%2e%2e")])),
        ("v/{+x}", "v/a..b/c.", found([("x", "a..b/c.")])),
        ("v{?x}", "v?x=../a%2Fb", found([("x", "../a/b")])),
        ("v{#x}", "v#/definitions/a", found([("x", "/definitions/a")])),
        ("v{#x}", "v#../a", None),
    ]);
}
