use super::super::UriTemplate;
use super::super::pattern::Piece;
use super::template;

/// Literals and variables of a template.
fn units(template: &UriTemplate) -> usize {
    let pieces = &template.pattern.as_ref().unwrap().pieces;
    let slots = pieces.iter().map(|piece| match piece {
        Piece::Literal(_) => 1,
        Piece::Values(_, slots) => slots.len(),
        Piece::Members(members) => members.slots.len(),
    });
    slots.sum()
}

#[test]
fn the_work_is_bounded_by_length_times_variables_for_any_uri() {
    let templates = [
        "{a}{b}{c}{d}".to_owned(),
        "{a}{b}{c}{d}!".to_owned(),
        "{+a}{+b}{+c}{+d}{+e}{+f}#end".to_owned(),
        "{a*}{b*}{c*}{d*}".to_owned(),
        "{a:9}{b:99}{c:999}{d:9999}".to_owned(),
        "{/a*}{/b*}{/c*,d}".to_owned(),
        "{+a}{.b*}{.c*}{.d*}".to_owned(),
        "{+a}{?b,c*}{&d*}".to_owned(),
        "{+a}{?b,c*}!".to_owned(),
        "{+a}{;b,c*}!".to_owned(),
        "{a}{b*}{c:3}{.d,e*}!".to_owned(),
        "{+a}{&b,c*}x{&d*}".to_owned(),
        "{+a}{;b*}{+c}{;d*}".to_owned(),
        "{+a}aaaaaaaaaaaaaaaaaaaaaaab{+b}aaaaaaaaaaaaaaaaaaaaab".to_owned(),
        "{+x}".repeat(UriTemplate::MAX_EXPRESSIONS),
        format!("{{+a}}{{&k{}}}", ",k".repeat(UriTemplate::MAX_VARIABLES - 2)),
    ];
    let patterns = [
        "a",
        "a/",
        ".",
        "/",
        "&",
        "&b=",
        "&k",
        "?b=",
        "?",
        ";b",
        ";b=1",
        ",",
        "=",
        "%41",
        "é",
        "a?b&c;d.e,f/",
    ];
    for text in templates {
        let template = template(&text);
        for pattern in patterns {
            for length in [300, 3000] {
                let uri = pattern.repeat(length / pattern.len());
                for uri in [uri.clone(), format!("{}\u{7f}", &uri[..uri.len() - pattern.len()])] {
                    let mut steps = 0;
                    template.matches_counted(&uri, &mut steps);
                    // Two readings; in each, every unit sees the URI at most twice on the way there, and
                    // expressions with members twice more on the way back.
                    let most = 2 * (uri.len() + 2) * (4 * units(&template) + 1);
                    assert!(steps <= most, "{text} with {pattern}: {steps} steps, at most {most}");
                }
            }
        }
    }
}

#[test]
fn hostile_neighbours_still_find_their_values() {
    let uri = format!("{}b", "a".repeat(UriTemplate::MAX_URI_LENGTH - 1));
    let found = template("{a}{b}{c}{d}").matches(&uri).unwrap();
    let lengths: Vec<usize> = found
        .iter()
        .map(|(_, value)| match value {
            super::UriValue::Text(text) => text.len(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(lengths, [UriTemplate::MAX_URI_LENGTH - 3, 1, 1, 1]);
}

#[test]
fn a_uri_over_the_limit_matches_nothing_and_costs_nothing() {
    let template = template("{+a}");
    assert!(template.matches(&"a".repeat(UriTemplate::MAX_URI_LENGTH)).is_some());
    for length in [UriTemplate::MAX_URI_LENGTH + 1, 1 << 20] {
        let mut steps = 0;
        assert_eq!(template.matches_counted(&"a".repeat(length), &mut steps), None);
        assert_eq!(steps, 0);
    }
}

#[test]
fn a_uri_that_begins_differently_costs_no_search() {
    let mut steps = 0;
    let uri = format!("file:///{}", "a/".repeat(1000));
    assert_eq!(template("repo://{+path}").matches_counted(&uri, &mut steps), None);
    assert_eq!(steps, 0);
}
