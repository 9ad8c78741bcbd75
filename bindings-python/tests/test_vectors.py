"""The transcripts that every language runs, through the native session."""

import pytest
from transcripts import FOLDER, Difference, Runner, decode, matches

PATHS = sorted(FOLDER.glob("*.jsonl"))


def test_there_are_transcripts() -> None:
    assert PATHS


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_transcript(path) -> None:  # type: ignore[no-untyped-def]
    # As it comes, byte by byte, in small chunks, and with what can be joined.
    for cut in (None, 1, 7, 0):
        Runner(path, cut).run()


def test_a_transcript_that_does_not_hold_fails(tmp_path) -> None:  # type: ignore[no-untyped-def]
    header = '{"name":"n","about":"a","role":"server"}\n'
    receive = '{"receive":{"id":1,"method":"ping"}}\n'
    for steps in (
        '{"expect":{"id":1.0,"result":{}}}\n',
        '{"expect":{"id":1,"result":{"a":1}}}\n',
        '{"silence":true}\n',
        '{"expect":{"id":1,"result":{}}}\n{"closed":true}\n',
        '{"expect":{"id":1,"result":{}},"misspelt":1}\n',
        '{"misspelt":true}\n',
        "",
    ):
        path = tmp_path / "wrong.jsonl"
        path.write_text(header + receive + steps)
        with pytest.raises(Difference):
            Runner(path, None).run()


def test_numbers_are_compared_as_text() -> None:
    for wanted, found in (("1", "1.0"), ("1", "true"), ("0", "false"), ('"1"', "1"), ("9007199254740993", "9007199254740992")):
        assert not matches(decode(wanted), decode(found)), (wanted, found)
    assert matches(decode('{"a":1,"b":{"$contains":"x"}}'), decode('{"b":"axb","a":1}'))
