//! Results that the server called fresh, kept until it says otherwise (2026-07-28 caching).

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::Instant;
use crate::jsonrpc::{Json, canonical_without};

/// How many results are kept.
const ENTRIES: usize = 1024;

/// Methods whose results carry hints (2026-07-28 caching, Cacheable Results).
const CACHEABLE: [&str; 6] = [
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "server/discover",
    "tools/list",
];

/// Whether results of a method may be kept.
pub(crate) fn cacheable(method: &str) -> bool {
    CACHEABLE.contains(&method)
}

/// The results of one connection, and so of one authorization: private ones need no other care.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    entries: HashMap<Key, Entry>,
    /// The keys, oldest first.
    order: VecDeque<Key>,
    bytes: usize,
}

/// A method and what of its params the result depends on.
type Key = (Box<str>, Box<str>);

#[derive(Debug)]
struct Entry {
    result: Json,
    until: Instant,
}

impl Cache {
    /// The result at hand for a call, if it is fresh.
    pub(crate) fn get(&self, method: &str, params: Option<&str>, now: Instant) -> Option<Json> {
        if self.entries.is_empty() {
            return None;
        }
        let entry = self.entries.get(&key(method, params)?)?;
        (now < entry.until).then(|| entry.result.clone())
    }

    /// Keeps a result for as long as it says; with all others it takes at most `limit` bytes.
    pub(crate) fn put(&mut self, method: &str, params: Option<&str>, result: &RawValue, limit: usize, now: Instant) {
        let Some(ttl) = time_to_live(result) else { return };
        let Some(key) = key(method, params) else { return };
        self.remove(|known| *known == key);
        if result.get().len() > limit {
            return;
        }
        self.bytes += result.get().len();
        self.order.push_back(key.clone());
        let entry = Entry {
            result: result.to_owned(),
            until: now + ttl,
        };
        self.entries.insert(key, entry);
        while self.bytes > limit || self.entries.len() > ENTRIES {
            let Some(oldest) = self.order.pop_front() else { break };
            self.bytes -= self.entries.remove(&oldest).map_or(0, |entry| entry.result.get().len());
        }
    }

    /// All results of a method are stale.
    pub(crate) fn forget(&mut self, method: &str) {
        self.remove(|(known, _)| **known == *method);
    }

    /// A notification says what is stale (caching, Interaction with Notifications).
    pub(crate) fn receive_notification(&mut self, method: &str, params: Option<&RawValue>) {
        if self.entries.is_empty() {
            return;
        }
        match method {
            "notifications/tools/list_changed" => self.remove(|(method, _)| **method == *"tools/list"),
            "notifications/prompts/list_changed" => self.remove(|(method, _)| **method == *"prompts/list"),
            "notifications/resources/list_changed" => {
                self.remove(|(method, _)| matches!(&**method, "resources/list" | "resources/templates/list"));
            }
            "notifications/resources/updated" => {
                let uri = params.and_then(|params| uri(params.get()));
                self.remove(|(method, params)| {
                    **method == *"resources/read" && (uri.is_none() || self::uri(params) == uri)
                });
            }
            _ => {}
        }
    }

    fn remove(&mut self, stale: impl Fn(&Key) -> bool) {
        let Self { entries, order, bytes } = self;
        order.retain(|key| {
            let keep = !stale(key);
            if !keep {
                *bytes -= entries.remove(key).map_or(0, |entry| entry.result.get().len());
            }
            keep
        });
    }
}

fn key(method: &str, params: Option<&str>) -> Option<Key> {
    // What rests on a round of input must not be kept (caching, Cache Key).
    let says = |name: &str| params.is_some_and(|params| memmem::find(params.as_bytes(), name.as_bytes()).is_some());
    if says("\"requestState\"") || says("\"inputResponses\"") {
        return None;
    }
    let params = canonical_without(params.unwrap_or("{}"), &["_meta"])?;
    Some((method.into(), params.into()))
}

/// How long a result stays fresh; `None` when it is stale at once.
fn time_to_live(result: &RawValue) -> Option<Duration> {
    #[derive(Deserialize)]
    struct Hints {
        #[serde(default, rename = "ttlMs")]
        ttl: f64,
    }
    let hints: Hints = serde_json::from_str(result.get()).ok()?;
    let ttl = hints.ttl / 1000.0;
    (ttl > 0.0).then(|| Duration::try_from_secs_f64(ttl).unwrap_or(Duration::MAX))
}

fn uri(params: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Of {
        uri: String,
    }
    serde_json::from_str::<Of>(params).ok().map(|it| it.uri)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::json;

    const LIMIT: usize = 1000;

    fn at(millis: u64) -> Instant {
        Instant::from_micros(millis * 1000)
    }

    fn result(ttl: &str) -> Json {
        json(format!(r#"{{"ttlMs":{ttl},"tools":[]}}"#)).unwrap()
    }

    #[test]
    fn a_result_is_fresh_until_its_time_and_not_at_it() {
        let mut cache = Cache::default();
        cache.put("tools/list", None, &result("100"), LIMIT, at(5));
        assert!(cache.get("tools/list", Some("{}"), at(104)).is_some());
        assert!(cache.get("tools/list", None, at(105)).is_none());
        assert!(cache.get("tools/list", Some(r#"{"cursor":"2"}"#), at(6)).is_none());
        assert!(cache.get("prompts/list", None, at(6)).is_none());
    }

    #[test]
    fn a_result_that_is_stale_at_once_is_not_kept() {
        let mut cache = Cache::default();
        for ttl in ["0", "-5", "null", "\"1\""] {
            cache.put("tools/list", None, &result(ttl), LIMIT, at(0));
        }
        cache.put("tools/list", None, &json("{}").unwrap(), LIMIT, at(0));
        assert!(cache.entries.is_empty() && cache.order.is_empty());
    }

    #[test]
    fn params_count_by_value_and_without_meta() {
        let mut cache = Cache::default();
        cache.put(
            "resources/read",
            Some(r#"{"uri":"a","_meta":{"progressToken":1}}"#),
            &result("9"),
            LIMIT,
            at(0),
        );
        assert!(
            cache
                .get("resources/read", Some(r#"{ "uri" : "\u0061" }"#), at(1))
                .is_some()
        );
    }

    #[test]
    fn notifications_make_stale_what_they_are_about() {
        let mut cache = Cache::default();
        for (method, params) in [
            ("tools/list", "{}"),
            ("prompts/list", "{}"),
            ("resources/list", "{}"),
            ("resources/templates/list", "{}"),
            ("resources/read", r#"{"uri":"x:1"}"#),
            ("resources/read", r#"{"uri":"x:2"}"#),
        ] {
            cache.put(method, Some(params), &result("1000"), LIMIT, at(0));
        }
        for (method, params, left) in [
            ("notifications/message", "{}", 6),
            ("notifications/tools/list_changed", "{}", 5),
            ("notifications/resources/list_changed", "{}", 3),
            ("notifications/resources/updated", r#"{"uri":"x:1"}"#, 2),
            ("notifications/resources/updated", r#"{"uri":"x:3"}"#, 2),
            ("notifications/prompts/list_changed", "{}", 1),
        ] {
            cache.receive_notification(method, Some(&json(params).unwrap()));
            assert_eq!((cache.entries.len(), cache.order.len()), (left, left), "{method}");
        }
        assert_eq!(cache.bytes, result("1000").get().len());
    }

    #[test]
    fn the_oldest_results_make_room() {
        let mut cache = Cache::default();
        for page in 0..100 {
            cache.put(
                "tools/list",
                Some(&format!(r#"{{"cursor":"{page}"}}"#)),
                &result("1000"),
                LIMIT,
                at(0),
            );
        }
        assert!(cache.bytes <= LIMIT && !cache.entries.is_empty());
        assert!(cache.get("tools/list", Some(r#"{"cursor":"99"}"#), at(1)).is_some());
        assert!(cache.get("tools/list", Some(r#"{"cursor":"0"}"#), at(1)).is_none());
        cache.put("tools/list", None, &result("1000"), 3, at(0));
        assert!(
            cache.get("tools/list", None, at(1)).is_none(),
            "one that is too large is not kept"
        );
    }
}
