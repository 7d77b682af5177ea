"""Making profiles out of counted texts."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import turnfit as tf
from click.testing import CliRunner
from turnfit.cli.commands import commands
from turnfit.tokens.profiles import profile_of
from turnfit.tokens.weights import LENGTH, LETTER_PAIRS, STEP

pytest.importorskip("scipy", reason="the extra `calibrate` brings it")

from turnfit.tokens.calibration import calibrate, corpus_samples, counted_samples

ROOT = Path(__file__).parents[1]
CORPUS = ROOT.parent / "shared" / "corpus"


def count_words(text: str) -> int:
    """A tokenizer of words, in pieces of at most six letters, numbers, and signs."""
    return len(re.findall(r"[^\W\d_]{1,6}|\d{1,3}|[^\w\s]|_|\s{2,}", text))


def own_texts() -> dict[str, str]:
    paths = [*ROOT.glob("docs/*.md"), *ROOT.glob("python/turnfit/*/*.py")]
    return {f"{path.suffix[1:]}/{path.name}": path.read_text("utf-8") for path in paths}


def test_a_tokenizer_is_learnt_from_texts() -> None:
    made = calibrate(counted_samples(own_texts(), count_words), "words")
    errors = made.errors()
    assert set(errors) == {"md", "py", "whole"}
    assert errors["whole"]["median"] < 4
    text = "Something that none of these texts has said: 12 parrots, 7 of them asleep."
    assert made.profile.estimate(text) == pytest.approx(count_words(text), rel=0.25)
    assert made.profile.upper(text) >= count_words(text)


def test_a_profile_is_read_as_it_was_written() -> None:
    made = calibrate(counted_samples(own_texts(), count_words), "words", version=3)
    read = profile_of(json.loads(made.to_json({"inputs": "texts"})))
    assert (str(read), read.margin, read.bound) == (
        "words@3",
        made.profile.margin,
        made.profile.bound,
    )
    assert read.weights == made.profile.weights
    assert read.provenance["inputs"] == "texts"


def test_too_few_sources_are_told() -> None:
    with pytest.raises(ValueError, match="at least 8 sources"):
        calibrate(counted_samples({"a.txt": "some text " * 99}, count_words), "words")


def test_the_command_makes_a_profile_of_a_folder(tmp_path: Path) -> None:
    for name, text in own_texts().items():
        target = tmp_path / "texts" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
    out = tmp_path / "words.json"
    arguments = ["calibrate", str(tmp_path / "texts"), "--tokenizer", f"{__name__}:count_words"]
    result = CliRunner().invoke(commands, [*arguments, "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert "errors in % on sources left out of the fit" in result.output
    assert profile_of(json.loads(out.read_text("utf-8"))).name == "count_words"


def test_the_script_of_a_piece_is_that_of_most_of_its_letters() -> None:
    texts = {
        "a/en": "plain words " * 30,
        "a/ru": "слова words " * 30,
        "a/ja": "日本語のテキスト " * 30,
        "a/quote": "plain words and more of them, naïve " * 10,
    }
    samples = counted_samples(texts, count_words)
    scripts = {
        (source, script)
        for source, script in zip(samples.sources.tolist(), samples.scripts.tolist(), strict=True)
    }
    assert scripts == {
        ("a/en", "ASCII"),
        ("a/ru", "Cyrillic"),
        ("a/ja", "CJK punctuation, kana"),
        ("a/quote", "ASCII"),
    }


class TestTheReport:
    @pytest.fixture
    def arguments(self, tmp_path: Path) -> list[str]:
        for number in range(12):
            for kind, words in ("ru", "слово и дело "), ("en", "words and numbers 12 "):
                target = tmp_path / kind / f"{number}.txt"
                target.parent.mkdir(exist_ok=True)
                target.write_text(words * (60 + number) * 4, "utf-8")
        return ["calibrate", str(tmp_path), "--tokenizer", f"{__name__}:count_words"]

    def test_it_draws_the_errors_of_each_kind_and_script(self, arguments: list[str]) -> None:
        result = CliRunner().invoke(commands, arguments)
        drawn = result.output.partition("95th percentile")[2].splitlines()
        names = {line.rpartition("  ")[2] for line in drawn[2:]}
        assert names == {"ru, Cyrillic", "en, ASCII"}

    def test_it_is_drawn_of_ascii_where_the_terminal_has_no_more(
        self, arguments: list[str]
    ) -> None:
        result = CliRunner(charset="ascii").invoke(commands, arguments)
        assert result.exit_code == 0
        assert "median ### and 95th percentile ---" in result.output

    def test_json_has_the_same_figures(self, arguments: list[str]) -> None:
        result = CliRunner().invoke(commands, [*arguments, "--json"])
        by_script = json.loads(result.stdout)["by script"]
        assert set(by_script) == {"en", "ru"}
        assert by_script["ru"]["Cyrillic"]["pieces"] > 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "give either --column"),
        (["--tokenizer", "nowhere:count"], "there is no tokenizer 'nowhere:count'"),
        (["--tokenizer", "json:nothing"], "there is no tokenizer 'json:nothing'"),
    ],
)
def test_what_cannot_be_calibrated_is_told(tmp_path: Path, arguments: list[str], told: str) -> None:
    (tmp_path / "a.txt").write_text("text")
    result = CliRunner().invoke(commands, ["calibrate", str(tmp_path), *arguments])
    assert result.exit_code != 0
    assert told in result.output


@pytest.mark.skipif(not CORPUS.exists(), reason="the corpus is not there")
class TestTheCorpus:
    def test_a_column_that_there_is_not_is_told(self) -> None:
        with pytest.raises(ValueError, match="has no column 'gpt', only o200k_base"):
            corpus_samples(CORPUS / "counts.tsv", "gpt")

    def test_a_shipped_profile_comes_out_again(self) -> None:
        made = calibrate(corpus_samples(CORPUS / "counts.tsv", "cl100k_base"), "cl100k_base")
        shipped = tf.profile("cl100k_base")
        off = np.subtract(made.profile.weights, shipped.weights)
        pairs = np.isin(np.arange(LENGTH), LETTER_PAIRS)
        assert np.abs(off[~pairs]).max() <= 1
        assert np.abs(off[pairs]).max() <= STEP
        assert made.profile.margin == shipped.margin
        assert dict(made.profile.bound.factors) == pytest.approx(
            dict(shipped.bound.factors), abs=0.002
        )
