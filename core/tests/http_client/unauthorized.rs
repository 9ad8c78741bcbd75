//! Servers that want other credentials while a connection lasts.

use std::future::IntoFuture as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use oxmcp::transport::{Http, Unauthorized};
use oxmcp::{Client, Error, ErrorKind, Revision};
use tokio::sync::Semaphore;

use super::script::{Asked, Script, said, text};

/// Header fields that are given one after the other, and why.
#[derive(Clone, Default)]
struct Tokens {
    fresh: Arc<Mutex<Vec<&'static str>>>,
    refusals: Arc<Mutex<Vec<Unauthorized>>>,
}

impl Tokens {
    fn of(fresh: &[&'static str]) -> Self {
        let fresh = fresh.iter().rev().copied().collect();
        Self {
            fresh: Arc::new(Mutex::new(fresh)),
            refusals: Arc::default(),
        }
    }

    fn over(&self, http: Http) -> Http {
        let tokens = self.clone();
        http.header("Authorization", "Bearer 0")
            .on_unauthorized(move |refused| {
                tokens.refusals.lock().unwrap().push(refused);
                let fresh = tokens.fresh.lock().unwrap().pop();
                let fresh = fresh.map(|token| ("authorization".to_owned(), format!("Bearer {token}")));
                async move { Ok(fresh.into_iter().collect()) }
            })
    }

    fn asked(&self) -> Vec<(u16, Option<String>)> {
        let refusals = self.refusals.lock().unwrap();
        refusals
            .iter()
            .map(|refused| (refused.status, refused.www_authenticate.clone()))
            .collect()
    }
}

/// Holds the header field that is given back until it is opened.
struct Gate {
    /// A permit for each time it was asked for.
    asked: Arc<Semaphore>,
    open: Arc<Semaphore>,
}

impl Gate {
    async fn of(script: &mut Script) -> (Client, Self) {
        let (asked, open) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
        let (of_client, until) = (Arc::clone(&asked), Arc::clone(&open));
        let renewing = move |http: Http| {
            http.on_unauthorized(move |_| {
                of_client.add_permits(1);
                let until = Arc::clone(&until);
                async move {
                    until.acquire().await.unwrap().forget();
                    Ok(vec![("X-Key".to_owned(), "new".to_owned())])
                }
            })
        };
        (script.legacy_with(None, renewing).await, Self { asked, open })
    }
}

/// The next request of a method, which carries this token.
async fn next_with(script: &mut Script, method: &str, token: &str) -> Asked {
    let asked = script.next_is(method).await;
    assert_eq!(asked.field("Authorization"), Some(&*format!("Bearer {token}")));
    asked
}

#[tokio::test]
async fn a_refused_request_is_made_again_with_what_is_given_then() {
    let mut script = Script::start().await;
    let tokens = Tokens::of(&["1", "2"]);
    let client = script.legacy_with(None, |http| tokens.over(http)).await;
    let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
        let asked = next_with(&mut script, "tools/call", "0").await;
        asked
            .reply(401, "WWW-Authenticate: Bearer a\r\nWWW-Authenticate: Basic\r\n", "")
            .await;
        next_with(&mut script, "tools/call", "1")
            .await
            .answer(said("yes"))
            .await;
    });
    assert_eq!(text(done), "yes");
    assert_eq!(tokens.asked(), [(401, Some("Bearer a,Basic".to_owned()))]);
    // What follows carries it from the start, until that is refused in its turn.
    let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
        let asked = next_with(&mut script, "tools/call", "1").await;
        asked
            .reply(403, "WWW-Authenticate: Bearer error=\"insufficient_scope\"\r\n", "")
            .await;
        next_with(&mut script, "tools/call", "2")
            .await
            .answer(said("more"))
            .await;
    });
    assert_eq!(text(done), "more");
    assert_eq!(tokens.asked().len(), 2);
}

#[tokio::test]
async fn what_is_refused_for_good_fails_its_call_alone() {
    let mut script = Script::start().await;
    let tokens = Tokens::of(&["1", "1"]);
    let client = script.legacy_with(None, |http| tokens.over(http)).await;
    // The other credentials are refused, too: nobody is asked twice for one request.
    let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
        for token in ["0", "1"] {
            next_with(&mut script, "tools/call", token)
                .await
                .reply(401, "", "")
                .await;
        }
    });
    let error = done.unwrap_err();
    assert_eq!((error.kind(), error.http_status()), (ErrorKind::Response, Some(401)));
    assert_eq!(tokens.asked(), [(401, None)]);
    // The same again, and none at all, is nothing new to be sent.
    for _ in 0..2 {
        let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
            next_with(&mut script, "tools/call", "1").await.reply(401, "", "").await;
        });
        assert_eq!(done.unwrap_err().http_status(), Some(401));
    }
    // 403 without a challenge is no matter of credentials.
    let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
        next_with(&mut script, "tools/call", "1").await.reply(403, "", "").await;
    });
    assert_eq!(done.unwrap_err().http_status(), Some(403));
    assert_eq!(tokens.asked().len(), 3);
    let (done, ()) = tokio::join!(client.ping().into_future(), async {
        next_with(&mut script, "ping", "1")
            .await
            .answer(serde_json::json!({}))
            .await;
    });
    done.unwrap();
}

#[tokio::test]
async fn a_handshake_asks_as_well() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let mut script = Script::start().await;
        let tokens = Tokens::of(&["1"]);
        let http = tokens.over(Http::new(&script.url).listen(false));
        let builder = Client::builder().revisions([revision]);
        let (client, ()) = tokio::join!(builder.connect(http), async {
            script.next().await.reply(401, "", "").await;
            match revision.has_handshake() {
                true => script.shake_hands("2025-11-25", None).await,
                false => script.discover().await,
            }
        });
        assert_eq!(client.unwrap().peer().revision, revision);
        assert_eq!(tokens.asked(), [(401, None)]);
    }
}

#[tokio::test]
async fn requests_that_are_refused_together_ask_once() {
    const CALLS: usize = 8;
    let mut script = Script::start().await;
    let (client, Gate { asked, open }) = Gate::of(&mut script).await;
    let calls = (0..CALLS).map(|_| {
        let client = client.clone();
        tokio::spawn(async move { text(client.call_tool("t", ()).await) })
    });
    let calls: Vec<_> = calls.collect();
    let mut first = Vec::new();
    for _ in 0..CALLS {
        first.push(script.next_is("tools/call").await);
    }
    for one in first {
        assert_eq!(one.field("X-Key"), None);
        one.reply(401, "", "").await;
    }
    asked.acquire().await.unwrap().forget();
    open.add_permits(1);
    for _ in 0..CALLS {
        let again = script.next_is("tools/call").await;
        assert_eq!(again.field("X-Key"), Some("new"));
        again.answer(said("yes")).await;
    }
    for call in calls {
        assert_eq!(call.await.unwrap(), "yes");
    }
    assert_eq!(asked.available_permits(), 0);
}

#[tokio::test]
async fn a_call_that_ends_while_it_is_asked_for_leaves_the_next_one_to_ask() {
    let mut script = Script::start().await;
    let (client, Gate { asked, open }) = Gate::of(&mut script).await;
    let (done, ()) = tokio::join!(client.call_tool("t", ()).timeout(Duration::from_millis(50)), async {
        script.next_is("tools/call").await.reply(401, "", "").await;
        asked.acquire().await.unwrap().forget();
    });
    assert_eq!(done.unwrap_err().kind(), ErrorKind::Timeout);
    open.add_permits(1);
    let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
        // The server may hear first that the other one was given up.
        let mut next = script.next().await;
        while !next.is("tools/call") {
            next.reply(202, "", "").await;
            next = script.next().await;
        }
        next.reply(401, "", "").await;
        let again = script.next_is("tools/call").await;
        assert_eq!(again.field("X-Key"), Some("new"));
        again.answer(said("yes")).await;
    });
    assert_eq!(text(done), "yes");
    asked.acquire().await.unwrap().forget();
}

#[tokio::test]
async fn why_there_are_none_is_told() {
    let mut script = Script::start().await;
    let mut answers = vec![
        Ok(vec![("Accept".to_owned(), "x".to_owned())]),
        Err(Error::new(ErrorKind::Usage, "the refresh token has expired")),
    ];
    for why in ["the refresh token has expired", "the header \"Accept\" cannot be set"] {
        let answer = answers.pop().unwrap();
        let client = script
            .legacy_with(None, |http| {
                http.on_unauthorized(move |_| {
                    let answer = answer.clone();
                    async move { answer }
                })
            })
            .await;
        let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
            let asked = script.next_is("tools/call").await;
            asked.reply(401, "WWW-Authenticate: Bearer\r\n", "").await;
        });
        let error = done.unwrap_err();
        assert_eq!((error.kind(), error.http_status()), (ErrorKind::Response, Some(401)));
        assert_eq!(error.data(), Some(r#"{"status":401,"wwwAuthenticate":"Bearer"}"#));
        assert!(
            error
                .message()
                .starts_with("tools/call failed: the server denied access with status 401; ")
        );
        assert!(
            error.message().contains(&format!("; there are no others: {why}")),
            "{error}"
        );
    }
}

#[tokio::test]
async fn another_origin_is_asked_no_credentials_for() {
    let (mut script, mut other) = (Script::start().await, Script::start().await);
    let tokens = Tokens::of(&["1"]);
    let client = script
        .legacy_with(None, |http| {
            let policy = oxmcp::http::RedirectPolicy {
                other_origins: true,
                ..Default::default()
            };
            tokens.over(http.redirects(policy))
        })
        .await;
    let location = format!("Location: {}\r\n", other.url);
    let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
        script.next_is("tools/call").await.reply(307, &location, "").await;
        let asked = other.next_is("tools/call").await;
        assert_eq!(asked.field("Authorization"), None);
        asked.reply(401, "", "").await;
    });
    assert_eq!(done.unwrap_err().http_status(), Some(401));
    assert_eq!(tokens.asked(), []);
}
