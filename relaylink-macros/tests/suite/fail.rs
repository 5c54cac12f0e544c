/// Each program fails with just these sentences. After a deliberate change of one, write them
/// anew with `TRYBUILD=overwrite` and read them.
#[test]
fn mistakes_are_told_in_sentences() {
    trybuild::TestCases::new().compile_fail("../relaylink-core/tests/ui/fail/*.rs");
}
