use std::sync::atomic::AtomicUsize;

use super::*;
use crate::jsonrpc::{json, members};

fn tool(name: &str) -> Json {
    json(format!(
        r#"{{"name":"{name}","inputSchema":{{"type":"object"}},"x-unknown":1}}"#
    ))
    .unwrap()
}

fn with_tools(names: &[&str]) -> Registry {
    let registry = Registry::new();
    for name in names {
        let id = registry.add(Kind::Tool, name).unwrap();
        registry.describe(Kind::Tool, id, &tool(name)).unwrap();
    }
    registry
}

/// The names on a page, and its cursor.
fn page(registry: &Registry, cursor: Option<&str>) -> (Vec<String>, Option<String>) {
    #[derive(serde::Deserialize)]
    struct Page {
        tools: Vec<Named>,
        #[serde(rename = "nextCursor")]
        next: Option<String>,
    }
    #[derive(serde::Deserialize)]
    struct Named {
        name: String,
    }
    let text = registry.page(Kind::Tool, cursor, false).unwrap();
    let page: Page = serde_json::from_str(&text).unwrap();
    (page.tools.into_iter().map(|tool| tool.name).collect(), page.next)
}

#[test]
fn lists_keep_the_order_of_addition_and_unknown_members() {
    let registry = with_tools(&["zeta", "alpha"]);
    let list = registry.page(Kind::Tool, None, false).unwrap();
    assert!(list.find("zeta") < list.find("alpha"));
    assert!(list.contains("\"x-unknown\":1"));
}

#[test]
fn a_list_made_before_a_change_is_made_anew() {
    let registry = with_tools(&["a", "b"]);
    assert_eq!(page(&registry, None).0, ["a", "b"]);
    let a = registry.find(Kind::Tool, "a").unwrap();
    assert!(registry.set_enabled(Kind::Tool, a, false));
    assert!(!registry.set_enabled(Kind::Tool, a, false));
    assert_eq!(page(&registry, None).0, ["b"]);
    assert_eq!(registry.find(Kind::Tool, "a"), None);
    registry.set_enabled(Kind::Tool, a, true);
    assert_eq!(page(&registry, None).0, ["a", "b"]);
    assert!(registry.remove(Kind::Tool, a));
    assert!(!registry.remove(Kind::Tool, a));
    assert_eq!(page(&registry, None).0, ["b"]);
    let again = registry.add(Kind::Tool, "a").unwrap();
    assert_ne!(again, a, "a number that was used is not given again");
}

#[test]
fn a_replaced_descriptor_keeps_its_place() {
    let registry = with_tools(&["a", "b"]);
    let a = registry.find(Kind::Tool, "a").unwrap();
    registry
        .describe(
            Kind::Tool,
            a,
            &json(r#"{"name":"a","title":"New","inputSchema":{"type":"object"}}"#).unwrap(),
        )
        .unwrap();
    let list = registry.page(Kind::Tool, None, false).unwrap();
    assert!(list.find("New") < list.find("\"b\""));
}

#[test]
fn pages_skip_and_repeat_nothing_when_entries_go_between_them() {
    let registry = with_tools(&["a", "b", "c", "d", "e"]);
    registry.set_page_size(NonZeroUsize::new(2));
    let (first, cursor) = page(&registry, None);
    assert_eq!(first, ["a", "b"]);
    for gone in ["a", "b", "c"] {
        registry.remove(Kind::Tool, registry.find(Kind::Tool, gone).unwrap());
    }
    let (second, cursor) = page(&registry, cursor.as_deref());
    assert_eq!((second, cursor), (vec!["d".to_owned(), "e".to_owned()], None));
}

#[test]
fn a_cursor_of_another_list_or_of_nowhere_is_refused() {
    let registry = with_tools(&["a", "b", "c"]);
    registry.set_page_size(NonZeroUsize::new(1));
    let cursor = page(&registry, None).1.unwrap();
    assert_eq!(registry.page(Kind::Prompt, Some(&cursor), false), Err(PageError));
    assert_eq!(registry.page(Kind::Tool, Some("nonsense"), false), Err(PageError));
    let bigger = with_tools(&["1", "2", "3", "4", "5", "6"]);
    bigger.set_page_size(NonZeroUsize::new(5));
    let cursor = page(&bigger, None).1.unwrap();
    assert_eq!(registry.page(Kind::Tool, Some(&cursor), false), Err(PageError));
}

#[test]
fn the_pages_of_a_list_are_kept_ready_up_to_a_bound() {
    let names: Vec<String> = (0..1000).map(|n| format!("t{n}")).collect();
    let registry = with_tools(&names.iter().map(String::as_str).collect::<Vec<_>>());
    registry.set_page_size(NonZeroUsize::new(1));
    let (mut seen, mut cursor) = (Vec::new(), None);
    loop {
        let (names, next) = page(&registry, cursor.as_deref());
        seen.extend(names);
        cursor = next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen, names);
}

#[test]
fn bad_entries_are_refused_with_the_reason() {
    let registry = with_tools(&["a"]);
    for (error, part) in [
        (registry.add(Kind::Tool, "").unwrap_err(), "name that is not empty"),
        (registry.add(Kind::Resource, "").unwrap_err(), "uri that is not empty"),
        (registry.add(Kind::Tool, "a").unwrap_err(), "exists already"),
        (registry.add(Kind::Template, "x://{").unwrap_err(), "x://{"),
        (registry.add_method("tools/mine", None).unwrap_err(), "taken"),
        (registry.describe(Kind::Tool, 99, &tool("a")).unwrap_err(), "removed"),
    ] {
        assert!(error.to_string().contains(part), "{error}");
    }
    for (kind, key, descriptor, part) in [
        (Kind::Tool, "t", "[]", "JSON object"),
        (Kind::Tool, "t", "{}", "\"name\" must be \"t\""),
        (Kind::Tool, "t", r#"{"name":"u"}"#, "\"name\" must be \"t\""),
        (Kind::Tool, "t", r#"{"name":"t"}"#, "inputSchema"),
        (
            Kind::Tool,
            "t",
            r#"{"name":"t","inputSchema":{}}"#,
            "\"type\": \"object\"",
        ),
        (
            Kind::Tool,
            "t",
            r#"{"name":"t","inputSchema":{"type":"object"},"outputSchema":1}"#,
            "outputSchema",
        ),
        (Kind::Resource, "x:1", r#"{"uri":"x:1"}"#, "\"name\""),
        (
            Kind::Template,
            "x:{n}",
            r#"{"uriTemplate":"x:{m}","name":"n"}"#,
            "uriTemplate",
        ),
        (Kind::Prompt, "p", r#"{"name":"p","arguments":{}}"#, "array"),
        (Kind::Prompt, "p", r#"{"name":"p","arguments":[{}]}"#, "\"name\""),
    ] {
        let id = registry
            .find(kind, key)
            .unwrap_or_else(|| registry.add(kind, key).unwrap());
        let error = registry
            .describe(kind, id, &json(descriptor).unwrap())
            .unwrap_err()
            .to_string();
        assert!(error.contains(part) && error.contains(key), "{error}");
    }
}

#[test]
fn a_uri_names_its_resource_before_a_template_and_templates_in_order() {
    let registry = Registry::new();
    let wide = registry.add(Kind::Template, "x://{+all}").unwrap();
    let narrow = registry.add(Kind::Template, "x://{one}").unwrap();
    let exact = registry.add(Kind::Resource, "x://a").unwrap();
    assert_eq!(registry.resolve("x://a"), Some(Found::Resource(exact)));
    assert!(matches!(registry.resolve("x://b"), Some(Found::Template(id, _)) if id == wide));
    registry.set_enabled(Kind::Template, wide, false);
    assert!(matches!(registry.resolve("x://b"), Some(Found::Template(id, _)) if id == narrow));
    assert_eq!(registry.resolve("x://b/c"), None);
}

#[test]
fn watchers_are_woken_by_what_peers_can_see_until_they_go() {
    let registry = Registry::new();
    let woken = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&woken);
    let watch = registry.watch(move || {
        count.fetch_add(1, Ordering::Relaxed);
    });
    let id = registry.add(Kind::Tool, "a").unwrap();
    registry.describe(Kind::Tool, id, &tool("a")).unwrap();
    assert_eq!(
        woken.load(Ordering::Relaxed),
        1,
        "the first description shows nothing new"
    );
    registry.describe(Kind::Tool, id, &tool("a")).unwrap();
    registry.set_enabled(Kind::Tool, id, true);
    assert_eq!((woken.load(Ordering::Relaxed), registry.changes()), (2, 2));
    drop(watch);
    registry.remove(Kind::Tool, id);
    assert_eq!((woken.load(Ordering::Relaxed), registry.changes()), (2, 3));
}

#[test]
fn prompts_know_which_arguments_must_be_given() {
    let registry = Registry::new();
    let id = registry.add(Kind::Prompt, "p").unwrap();
    let text = r#"{"name":"p","arguments":[{"name":"a","required":true},{"name":"b"},{"name":"c","required":false}]}"#;
    registry.describe(Kind::Prompt, id, &json(text).unwrap()).unwrap();
    assert_eq!(registry.required_arguments(id), ["a".into()]);
    assert!(members(&registry.descriptor(Kind::Prompt, id).unwrap()).is_some());
}
