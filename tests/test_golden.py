"""What is sent is a contract: golden requests of twenty histories in every format."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest
from support import golden
from support.shapes import SHAPES
from write_goldens import FORMATS, key_of

HERE = [
    pytest.param(
        name,
        marks=pytest.mark.skipif(
            name == "langchain" and not find_spec("langchain_core"),
            reason="langchain-core is not installed: the extra `sdks` brings it",
        ),
    )
    for name in FORMATS
]


def compare(name: str, now: list[dict[str, Any]]) -> None:
    made = {key_of(line): line for line in now}
    lines = golden.read(name)
    assert lines, f"there are no golden lines of {name}: run `python tests/write_goldens.py`"
    for line in lines:
        key = key_of(line)
        assert key in made, f"{key} has gone, but what was golden once stays: put it back"
        how = golden.differs(line, made[key])
        if how is not None:
            what = " ".join(str(part) for part in (name, *key) if part is not None)
            versions = line.get("versions", line.get("what"))
            pytest.fail(golden.BROKEN.format(what=what, how=how, versions=versions), pytrace=False)
    missing = made.keys() - {key_of(line) for line in lines}
    assert not missing, f"{missing} have no golden lines yet: run `python tests/write_goldens.py`"


@pytest.mark.parametrize("format", HERE)
def test_what_is_sent_stays_as_it_is_byte_for_byte(format: str) -> None:
    compare(format, list(golden.requests(format)))


def test_what_versions_say_and_cost_stays_as_it_is() -> None:
    compare("promises", list(golden.promises()))


@pytest.mark.parametrize("format", FORMATS)
def test_twenty_histories_go_through_every_step(format: str) -> None:
    lines = golden.read(format)
    assert len(SHAPES) == len({line["shape"] for line in lines}) == 20
    assert {line["step"] for line in lines} == {"whole", "results", "turns", "rounds"}
    assert any(isinstance(piece, dict) for line in lines for piece in line["sent"])


def test_a_broken_contract_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = golden.read("anthropic")
    changed = [{**line, "tokens": line["tokens"] + 1} for line in lines]
    with pytest.raises(pytest.fail.Exception) as told:
        compare("anthropic", changed)
    text = str(told.value)
    for piece in ("A CONTRACT IS BROKEN: anthropic", "make a new version", "'rules': 1", "tokens"):
        assert piece in text
