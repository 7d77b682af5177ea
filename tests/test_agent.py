"""The agent of the examples stays inside the window: real clients, true tokens, refusals.

`pip install '.[sdks]'` brings the clients, and with litellm the tokenizer's ranks.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import turnfit as tf
from servers.counting import text_counter
from servers.model import model_server
from servers.wires import Answer, Seen
from support.loop import BUDGET, MODELS, WINDOW, Tool, agent, folder_tools, policy, schema
from support.loop_page import PAGE, tables
from support.reader import SAVING, STOPS_AFTER
from support.scenarios import CLIENTS, POLICIES, Scenarios

# What the clients deprecate or leave open is theirs to mend.
pytestmark = pytest.mark.filterwarnings("ignore")
each_client = pytest.mark.parametrize("client", CLIENTS)
OVERFLOW = tf.classify_rejection("context_length_exceeded").person_message


@pytest.fixture(scope="module")
def loop(tmp_path_factory: pytest.TempPathFactory) -> Scenarios:
    for client in CLIENTS:
        pytest.importorskip(client)
    text_counter()
    return Scenarios(tmp_path_factory.mktemp("library"))


@pytest.fixture
def tools(tmp_path: Path) -> dict[str, Tool]:
    (tmp_path / "a.txt").write_text("one\ntwo\n", "utf-8")
    (tmp_path / "long.txt").write_text("a line of a long file\n" * 2_000, "utf-8")
    return {tool.__name__: tool for tool in folder_tools(tmp_path, page=1_000)}


def test_the_tools_do_what_they_say(tools: dict[str, Tool]) -> None:
    assert tools["list"]() == "a.txt\nlong.txt"
    assert tools["read"](path="a.txt") == "one\ntwo\n"
    assert tools["search"](pattern="^t", among="a.*") == "a.txt:2: two"
    assert tools["run"](command="cat a.txt; exit 3") == "one\ntwo\n\nexit status 3"
    with pytest.raises(ValueError, match="outside the folder"):
        tools["read"](path="../secret")


def test_a_long_file_comes_page_by_page_to_its_end(tools: dict[str, Tool]) -> None:
    page = tools["read"](path="long.txt")
    assert tf.estimate(page) <= 1_000
    lines = page.count("of a long file")
    while cursor := re.search(r'cursor="([^"]+)"', page):
        page = tools["read"](path="long.txt", cursor=cursor[1])
        lines += page.count("of a long file")
    assert lines == 2_000


def test_a_tools_schema_says_what_it_must_be_given(tools: dict[str, Tool]) -> None:
    assert schema(tools["read"])["required"] == ["path"]
    assert set(schema(tools["read"])["properties"]) == {"path", "cursor"}
    assert schema(tools["list"])["required"] == []


@each_client
def test_a_call_that_fails_is_told_to_the_model_and_the_work_goes_on(
    loop: Scenarios, client: str
) -> None:
    calls = [("read", {"path": "../secret"}), ("fly", {}), ("list", {"pattern": "*-9/*-001*"})]

    def script(seen: Seen) -> Answer:
        told = seen.of("result")
        return Answer(" | ".join(one.text for one in told), () if told else calls)

    answer = loop.told(client, script).answer
    assert answer == (
        "ValueError: ../secret is outside the folder | KeyError: 'fly' | volume-9/chapter-001.txt"
    )


@each_client
def test_the_command_line_prints_the_answer(
    client: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip(client)
    text_counter()
    with model_server(lambda seen: Answer(f"You said: {seen.of('user')[0].text}")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        for key in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
            monkeypatch.setenv(key, "k")
        monkeypatch.setattr(
            "sys.argv", ["agent.py", str(tmp_path), "Hi.", "--model", MODELS[client]]
        )
        agent.main()
    assert capsys.readouterr().out == "You said: Hi.\n"


@each_client
def test_eight_subagents_all_read_past_the_window_and_finish(loop: Scenarios, client: str) -> None:
    run = loop.eight(client)
    assert len(run.subagents) == 8
    assert run.server.refused == []
    assert run.answer.count("read 19 chapters, to the end.") == 8
    assert run.largest <= BUDGET


def test_without_fitting_each_of_the_eight_is_refused(loop: Scenarios) -> None:
    run = loop.eight_unfitted("openai")
    assert len(run.stopped) == len(run.server.refused) == 8
    assert min(one.tokens for one in run.server.refused) > WINDOW
    assert run.answer.split("\n") == [OVERFLOW] * 8


@each_client
def test_a_subagent_told_of_its_safety_net_reads_all_forty_chapters(
    loop: Scenarios, client: str
) -> None:
    run = loop.forty(client)
    assert run.answer == "Volume 9: read 40 chapters, to the end."
    assert all("do not stop early" in one.instructions for one in run.server.served)
    # A budget is of estimates: this volume is Hindi, and costs 8 % more than the profile says.
    assert BUDGET * 0.9 < run.largest < BUDGET * 1.06


@each_client
def test_without_being_told_the_scripted_model_stops_at_two(loop: Scenarios, client: str) -> None:
    run = loop.forty_untold(client)
    assert run.answer == f"Volume 9: read {STOPS_AFTER} chapters. {SAVING}"


@each_client
def test_a_refusal_in_spite_of_all_is_refitted_once_to_the_limit_that_it_told(
    loop: Scenarios, client: str
) -> None:
    run = loop.wrong_by_half(client)
    [refused] = run.server.refused
    after = run.server.served[run.server.served.index(refused) + 1 :]
    assert refused.tokens > WINDOW
    assert after
    assert all(one.tokens <= WINDOW for one in after)
    assert run.sent_again == []
    assert run.answer == "Volume 1: read 19 chapters, to the end."
    assert run.pages == []


@each_client
def test_a_hopeless_one_ends_in_the_persons_message_and_pages_no_one(
    loop: Scenarios, client: str
) -> None:
    run = loop.hopeless(client)
    assert run.answer == OVERFLOW
    assert [one.status for one in run.server.served] == [400]
    assert run.pages == []


@each_client
def test_what_is_the_operators_to_resolve_pages_the_operator(loop: Scenarios, client: str) -> None:
    run = loop.no_key(client)
    assert [page.kind for page in run.pages] == ["auth"]
    assert len(run.server.served) == 1


@pytest.mark.parametrize("name", ["eight", "forty", "wrong_by_half", "hopeless"])
@each_client
def test_nothing_that_was_refused_is_sent_again(loop: Scenarios, client: str, name: str) -> None:
    assert getattr(loop, name)(client).sent_again == []


@each_client
def test_the_start_that_holds_still_is_read_from_the_prefix_cache(
    loop: Scenarios, client: str
) -> None:
    runs = {name: loop.cached(client, name) for name in POLICIES}
    assert {run.answer for run in runs.values()} == {"Volume 10: read 80 chapters, to the end."}
    best = runs.pop("default")
    assert best.read_share > 0.8
    # Boundaries lie on the grid, so that with it the batch hardly matters.
    on_grid = runs.pop("`clear_batch=1`")
    assert abs(best.read_share - on_grid.read_share) < 0.02
    for run in runs.values():
        assert best.read_share > run.read_share
        assert best.cost < run.cost


def test_thinking_that_is_not_verified_any_more_is_dropped_where_that_is_asked_for(
    loop: Scenarios,
) -> None:
    binding = {"prefix_mismatch_behavior": "drop_block"}
    run = loop.thinking(thinking={"type": "adaptive", "block_binding": binding})
    assert run.server.refused == []
    assert run.answer == "Volume 9: read 40 chapters, to the end."


def test_thinking_stays_valid_for_a_model_that_refuses_what_it_cannot_verify(
    loop: Scenarios,
) -> None:
    by = policy(model="claude-opus-5-5")
    run = loop.thinking(thinking={"type": "adaptive"}, by=by)
    assert run.server.refused == []
    assert [one.dropped for one in run.server.accepted if one.dropped] == []
    assert run.answer == "Volume 9: read 40 chapters, to the end."


def test_the_page_shows_what_came_out(loop: Scenarios) -> None:
    page = PAGE.read_text("utf-8")
    assert [table for table in tables(loop) if table not in page] == []
