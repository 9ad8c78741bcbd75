use super::*;

const EXPIRES: u64 = 1_800_000_000_000;
const BOUND: Bound<'_> = Bound {
    principal: "ada",
    request: r#"{"method":"tools/call","params":{"name":"book"}}"#,
};

fn key(letter: u8) -> SealKey {
    SealKey::from_bytes(&[letter; 32]).unwrap()
}

fn ring() -> Keyring {
    Keyring::new(key(b'a'))
}

#[test]
fn what_was_sealed_opens() {
    for payload in [&b""[..], b"x", b"exactly sixteen!", &[7; MAX_PAYLOAD]] {
        let text = ring().seal(&BOUND, EXPIRES, payload).unwrap();
        assert!(
            text.bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
        );
        assert_eq!(ring().open(&BOUND, 0, &text).as_deref(), Ok(payload));
    }
}

#[test]
fn any_flipped_bit_is_refused() {
    let text = ring().seal(&BOUND, EXPIRES, b"payload").unwrap();
    let bytes = URL_SAFE_NO_PAD.decode(&text).unwrap();
    for bit in 0..bytes.len() * 8 {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        let want = if bit < 8 {
            Refusal::Malformed
        } else {
            Refusal::WrongKeyOrRequest
        };
        assert_eq!(
            ring().open(&BOUND, 0, &URL_SAFE_NO_PAD.encode(changed)),
            Err(want),
            "bit {bit}"
        );
    }
}

#[test]
fn any_changed_character_is_refused() {
    let text = ring().seal(&BOUND, EXPIRES, b"payload.").unwrap();
    for at in 0..text.len() {
        for other in ["A", "_", "=", "+"] {
            let mut changed = text.clone();
            changed.replace_range(at..=at, other);
            assert!(
                changed == text || ring().open(&BOUND, 0, &changed).is_err(),
                "{other} at {at}"
            );
        }
    }
}

#[test]
fn another_principal_or_request_is_refused() {
    let text = ring().seal(&BOUND, EXPIRES, b"payload").unwrap();
    let moved = format!("a{}", BOUND.request);
    for bound in [
        Bound {
            principal: "eve",
            ..BOUND
        },
        Bound { principal: "", ..BOUND },
        Bound { request: "{}", ..BOUND },
        // The same bytes, cut elsewhere.
        Bound {
            principal: "ad",
            request: &moved,
        },
    ] {
        assert_eq!(
            ring().open(&bound, 0, &text),
            Err(Refusal::WrongKeyOrRequest),
            "{bound:?}"
        );
    }
}

#[test]
fn it_expires_exactly_at_its_time() {
    let text = ring().seal(&BOUND, EXPIRES, b"payload").unwrap();
    assert_eq!(ring().open(&BOUND, EXPIRES - 1, &text), Ok(b"payload".to_vec()));
    assert_eq!(ring().open(&BOUND, EXPIRES, &text), Err(Refusal::Expired));
    assert_eq!(ring().open(&BOUND, u64::MAX, &text), Err(Refusal::Expired));
}

#[test]
fn an_old_key_opens_until_it_is_dropped_and_never_seals() {
    let text = ring().seal(&BOUND, EXPIRES, b"payload").unwrap();
    let both = Keyring::new(key(b'b')).with_old(key(b'a'));
    let only_new = Keyring::new(key(b'b'));
    assert_eq!(both.open(&BOUND, 0, &text), Ok(b"payload".to_vec()));
    assert_eq!(only_new.open(&BOUND, 0, &text), Err(Refusal::WrongKeyOrRequest));

    let newer = both.seal(&BOUND, EXPIRES, b"payload").unwrap();
    assert_eq!(only_new.open(&BOUND, 0, &newer), Ok(b"payload".to_vec()));
    assert_eq!(ring().open(&BOUND, 0, &newer), Err(Refusal::WrongKeyOrRequest));
}

#[test]
fn keys_whose_hints_are_the_same_are_both_tried() {
    let mut other = key(b'b');
    other.hint = key(b'a').hint;
    let text = ring().seal(&BOUND, EXPIRES, b"payload").unwrap();
    let both = Keyring::new(other).with_old(key(b'a'));
    assert_eq!(both.open(&BOUND, 0, &text), Ok(b"payload".to_vec()));
}

#[test]
fn the_same_input_gives_the_same_text_and_another_input_another() {
    let text = |ring: &Keyring, expires, payload: &[u8]| ring.seal(&BOUND, expires, payload).unwrap();
    let first = text(&ring(), EXPIRES, b"payload");
    assert_eq!(first, text(&ring(), EXPIRES, b"payload"));
    let others = [
        text(&ring(), EXPIRES + 1, b"payload"),
        text(&ring(), EXPIRES, b"payloae"),
        text(&Keyring::new(key(b'b')), EXPIRES, b"payload"),
    ];
    assert!(!others.contains(&first));
}

/// States outlive a server's version: this text must open for ever.
#[test]
fn the_format_does_not_change() {
    let text = ring().seal(&BOUND, EXPIRES, b"payload").unwrap();
    assert_eq!(text, "AWuahj4oBAfQj7PA0iHuyliXFs_6dYZgPi7HjVPI66IlNa_d");
}

#[test]
fn texts_of_the_wrong_shape_are_malformed() {
    let text = ring().seal(&BOUND, EXPIRES, b"payload").unwrap();
    let padded = format!("{text}=");
    let other_version = format!("Ag{}", &text[2..]);
    let long = "A".repeat(MAX_TEXT + 1);
    for text in [
        "",
        "AQ",
        "not base64!",
        &padded,
        &other_version,
        &long,
        "é",
        &text[..32],
    ] {
        let short = &text[..text.len().min(40)];
        assert_eq!(ring().open(&BOUND, 0, text), Err(Refusal::Malformed), "{short}");
    }
}

#[test]
fn a_payload_that_could_not_be_opened_is_not_sealed() {
    let payload = vec![0; MAX_PAYLOAD + 1];
    let refused = ring().seal(&BOUND, EXPIRES, &payload).unwrap_err();
    assert_eq!(
        refused.to_string(),
        format!(
            "the state to be kept between the rounds of a call has {} bytes, and at most {MAX_PAYLOAD} are possible",
            MAX_PAYLOAD + 1
        )
    );
}

#[test]
fn key_material_of_any_length_from_32_bytes_on_makes_a_key() {
    assert_eq!(
        SealKey::from_bytes(&[1; 31]).unwrap_err().to_string(),
        "a key is made of at least 32 secret bytes, and these are 31"
    );
    let secrets: Vec<_> = [32, 33, 64, 65, 1000]
        .map(|length| SealKey::from_bytes(&vec![1; length]).unwrap().secret)
        .into();
    for (index, secret) in secrets.iter().enumerate() {
        assert!(!secrets[..index].contains(secret));
        assert!(!secret.starts_with(&[1; 8]));
    }
}

#[test]
fn debug_shows_no_secret() {
    let shown = format!("{:?} {:?}", key(b'a'), ring());
    assert_eq!(shown, "SealKey(..) Keyring { keys: 1, .. }");
}

proptest::proptest! {
    #[test]
    fn no_text_opens_or_panics(text in "\\PC*|[A-Za-z0-9_-]*|AQ[A-Za-z0-9_-]{40,80}") {
        proptest::prop_assert!(ring().open(&BOUND, 0, &text).is_err());
    }

    #[test]
    fn any_payload_comes_back(payload in proptest::collection::vec(proptest::num::u8::ANY, 0..200), principal in "\\PC*") {
        let bound = Bound { principal: &principal, ..BOUND };
        let text = ring().seal(&bound, EXPIRES, &payload).unwrap();
        proptest::prop_assert_eq!(ring().open(&bound, 0, &text), Ok(payload));
    }
}
