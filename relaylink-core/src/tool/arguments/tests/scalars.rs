//! Numbers and flags, as they come.

use std::str::FromStr;

use super::*;

#[test]
fn a_number_may_come_as_a_text_and_with_a_point() {
    for five in [json!(5), json!("5"), json!(5.0), json!("5.0"), json!(" 5 "), json!(5e0)] {
        assert_eq!(draft(json!({ "limit": five })).limit, Some(5), "{five}");
        assert_eq!(draft(json!({ "counts": [five] })).counts, [5], "{five}");
        assert_eq!(draft(json!({ "share": five })).share, Some(5.0), "{five}");
    }
    assert_eq!(draft(json!({ "small": "-3" })).small, Some(-3));
    assert_eq!(draft(json!({ "small": -3.0 })).small, Some(-3));
    assert_eq!(draft(json!({ "share": "0.25" })).share, Some(0.25));
    assert_eq!(draft(json!({ "counts": [u64::MAX, u64::MAX.to_string()] })).counts, [u64::MAX; 2]);
}

#[test]
fn what_is_no_whole_number_is_refused_with_field_and_value() {
    for (bad, shown) in [
        (json!("abc"), "\"abc\""),
        (json!(5.5), "5.5"),
        (json!("1e309"), "\"1e309\""),
        (json!("NaN"), "\"NaN\""),
        (json!("inf"), "\"inf\""),
        (json!(1e300), "1e300"),
        (json!(true), "true"),
        (json!([5]), "a list"),
        (json!({ "n": 5 }), "an object"),
        (json!("18446744073709551616"), "\"18446744073709551616\""),
    ] {
        let (field, message) = refused::<Draft>(json!({ "limit": bad }));
        assert_eq!(field, "limit");
        let start = "draft: `limit` must be a whole number, not ";
        assert!(
            message.starts_with(start) && message[start.len()..].replace('+', "").contains(shown),
            "{message}"
        );
    }
    let long = "9".repeat(10_000);
    assert!(refused::<Draft>(json!({ "limit": long })).1.len() < 200);
}

#[test]
fn a_number_out_of_bounds_is_refused_with_the_bounds() {
    for bad in [json!(-1), json!("-1"), json!(4_294_967_296_u64), json!("4294967296"), json!(u64::MAX)] {
        assert_eq!(
            refused::<Draft>(json!({ "limit": bad })),
            (
                "limit".to_owned(),
                "draft: `limit` is not valid: expected a whole number from 0 to 4294967295.".to_owned()
            )
        );
    }
    assert_eq!(refused::<Draft>(json!({ "people": [{ "name": "Ana", "age": 256 }] })).0, "people[0].age");
    assert_eq!(refused::<Draft>(json!({ "small": -129 })).0, "small");
}

#[test]
fn a_flag_may_come_as_a_text() {
    assert_eq!(draft(json!({ "urgent": "true" })).urgent, Some(true));
    assert_eq!(draft(json!({ "urgent": "false" })).urgent, Some(false));
    for bad in [json!("yes"), json!(1), json!("True"), json!(0)] {
        let (field, message) = refused::<Draft>(json!({ "urgent": bad }));
        assert_eq!(field, "urgent");
        assert!(message.starts_with("draft: `urgent` must be true or false, not "), "{message}");
    }
}

#[test]
fn numbers_as_a_wire_parser_makes_them() {
    let wire = |text: &str| Json::from_str(text).unwrap();
    assert_eq!(draft(wire(r#"{"limit":5.0,"share":5.00,"free":{"n":1.50}}"#)).share, Some(5.0));
    assert_eq!(draft(wire(r#"{"limit":5.00e0}"#)).limit, Some(5));
    assert_eq!(draft(wire(r#"{"limit":-0.0}"#)).limit, Some(0));
    let page = given::<Listed>(wire(r#"{"query":"x","limit":5.00}"#)).unwrap();
    assert_eq!(page.pages.limit, Some(5));
    // Without `arbitrary_precision` the parser itself refuses this number.
    if let Ok(arguments) = Json::from_str(r#"{"limit":1e309}"#) {
        assert_eq!(refused::<Draft>(arguments).0, "limit");
    }
}
