"""Images: sizes out of headers, and the price by each provider's rule."""

from __future__ import annotations

import base64
import os
import zlib
from dataclasses import replace
from typing import Any

import pytest
import turnfit as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from turnfit.tokens import image_size, image_tokens, unsized_image_tokens
from turnfit.tokens.images import MEDIUM, medium_tokens

EXAMPLES = settings(max_examples=int(os.environ.get("TURNFIT_EXAMPLES", "200")), deadline=None)

Size = tuple[int, int]


def png(width: int, height: int) -> bytes:
    chunk = b"IHDR" + width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\x02\0\0\0"
    return b"\x89PNG\r\n\x1a\n\0\0\0\x0d" + chunk + zlib.crc32(chunk).to_bytes(4, "big")


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + width.to_bytes(2, "little") + height.to_bytes(2, "little") + b"\xf7\0\0"


def jpeg(width: int, height: int, before: bytes = b"", marker: int = 0xC0) -> bytes:
    sides = height.to_bytes(2, "big") + width.to_bytes(2, "big")
    frame = bytes((0xFF, marker)) + b"\0\x11\x08" + sides + b"\x03\x01\x22\0\x02\x11\x01"
    return b"\xff\xd8" + before + frame + b"\xff\xda\0\x0c"


def segment(marker: int, length: int) -> bytes:
    """A segment whose content looks like frame headers."""
    body = (b"\xff\xc0\x01" * length)[:length]
    return bytes((0xFF, marker)) + (length + 2).to_bytes(2, "big") + body


def webp(kind: bytes, body: bytes) -> bytes:
    return b"RIFF\x24\0\0\0WEBP" + kind + len(body).to_bytes(4, "little") + body


def webp_lossy(width: int, height: int) -> bytes:
    sides = width.to_bytes(2, "little") + height.to_bytes(2, "little")
    return webp(b"VP8 ", b"\x30\x01\0\x9d\x01\x2a" + sides + b"\0" * 8)


def webp_lossless(width: int, height: int) -> bytes:
    bits = width - 1 | (height - 1) << 14 | 1 << 28
    return webp(b"VP8L", b"\x2f" + bits.to_bytes(4, "little") + b"\0" * 8)


def webp_extended(width: int, height: int) -> bytes:
    sides = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return webp(b"VP8X", b"\x10\0\0\0" + sides + b"\0" * 8)


WRITERS = {
    "png": png,
    "gif": gif,
    "jpeg": jpeg,
    "webp lossy": webp_lossy,
    "webp lossless": webp_lossless,
    "webp extended": webp_extended,
}
PNG_HEAD = png(1, 1)[:16]
sides = st.integers(1, 16_383)


class TestSizes:
    @EXAMPLES
    @given(st.sampled_from(sorted(WRITERS)), sides, sides, st.binary(max_size=40))
    def test_it_is_read_from_bytes_and_base64_alike(
        self, kind: str, width: int, height: int, rest: bytes
    ) -> None:
        data = WRITERS[kind](width, height) + rest
        plain, safe = base64.b64encode(data).decode(), base64.urlsafe_b64encode(data).decode()
        lines = base64.encodebytes(data).decode()
        url = f"data:image/{kind.partition(' ')[0]};base64,{plain}"
        forms: list[Any] = [data, bytearray(data), memoryview(data), plain, safe, lines, url]
        assert {image_size(form) for form in forms} == {(width, height)}

    @EXAMPLES
    @given(
        st.lists(
            st.tuples(st.sampled_from([0xE0, 0xE1, 0xDB, 0xC4, 0xFE]), st.integers(0, 65_533))
        ),
        st.sampled_from([0xC0, 0xC1, 0xC2, 0xC3, 0xC9, 0xCF]),
        sides,
        sides,
    )
    def test_a_jpegs_size_is_found_behind_whatever_stands_before_it(
        self, before: list[tuple[int, int]], marker: int, width: int, height: int
    ) -> None:
        segments = b"".join(segment(*each) for each in before)
        data = jpeg(width, height, segments + b"\xff", marker)
        assert image_size(data) == (width, height)
        assert image_size(base64.b64encode(data).decode()) == (width, height)

    @EXAMPLES
    @given(st.sampled_from(sorted(WRITERS)), st.integers(0, 29))
    def test_a_header_that_breaks_off_has_no_size(self, kind: str, end: int) -> None:
        data = WRITERS[kind](640, 480)
        cut = data[: min(end, 20 if kind == "jpeg" else end)]
        assert image_size(cut) in (None, (640, 480))
        if end < 10:
            assert image_size(cut) is None

    @EXAMPLES
    @given(st.binary(max_size=200), st.sampled_from([b"", b"\xff\xd8\xff", b"GIF89a", PNG_HEAD]))
    def test_any_bytes_are_a_size_or_none(self, data: bytes, before: bytes) -> None:
        size = image_size(before + data)
        assert size is None or (min(size) >= 1 and len(size) == 2)

    @EXAMPLES
    @given(st.text(max_size=200))
    def test_any_text_is_a_size_or_none(self, text: str) -> None:
        size = image_size(text)
        assert size is None or min(size) >= 1

    @pytest.mark.parametrize("kind", ["png", "gif", "jpeg", "webp lossy"])
    def test_a_side_of_nothing_is_no_size(self, kind: str) -> None:
        assert image_size(WRITERS[kind](0, 5)) is None

    def test_only_the_head_of_base64_is_decoded(self) -> None:
        broken_behind = base64.b64encode(png(800, 600)).decode() + "!" * 1_000_000
        assert image_size(broken_behind) == (800, 600)

    @pytest.mark.parametrize("data", [5, None, ["a"]])
    def test_what_holds_no_bytes_is_told(self, data: Any) -> None:
        with pytest.raises(TypeError):
            image_size(data)


# What the providers' pages give as examples, and what users measured.
PUBLISHED = [
    ("claude-sonnet-4-5", None, (200, 200), 64),
    ("claude-sonnet-4-5", None, (1000, 1000), 1296),
    ("claude-sonnet-4-5", None, (1092, 1092), 1521),
    ("claude-sonnet-4-5", None, (1920, 1080), 1560),
    ("claude-opus-4-7", None, (1000, 1000), 1296),
    ("claude-opus-4-7", None, (1092, 1092), 1521),
    ("claude-opus-5", None, (1920, 1080), 2691),
    ("claude-opus-5", None, (3840, 2160), 4784),
    ("claude-opus-5", None, (3024, 1964), 4760),
    ("us.anthropic.claude-opus-5", None, (4032, 3024), 4740),
    ("gpt-4o", "high", (1024, 1024), 765),
    ("gpt-4o", "high", (2048, 4096), 1105),
    ("gpt-4o", "low", (4096, 8192), 85),
    ("gpt-4o", None, (150, 150), 255),
    ("gpt-5", None, (1024, 1024), 630),
    ("o1", None, (1024, 1024), 675),
    ("gpt-5.2", "high", (1024, 1024), 1024),
    ("gpt-5.2", "high", (1800, 2400), 1452),
    ("gpt-5.4-mini", "high", (1024, 1024), 1659),
    ("o4-mini", None, (1800, 2400), 2498),
    ("gpt-5.6-sol", None, (6400, 3200), 20_000),
    ("gpt-5.6-sol", "low", (6400, 3200), 128),
    ("gpt-5.5", None, (3200, 3200), 10_000),
    ("gpt-5.4", None, (3200, 3200), 2_500),
    ("gemini-2.5-flash", None, (384, 384), 258),
    ("gemini-2.5-flash", None, (960, 540), 1548),
    ("gemini-3-pro-preview", None, (10, 10), 1120),
    ("gemini-3-flash-preview", "MEDIA_RESOLUTION_LOW", (5000, 5000), 280),
    ("models/gemini-3.5-flash", "ultra_high", (5000, 5000), 2240),
    ("azure/gpt-4o", "auto", (1024, 1024), 765),
]
UNPUBLISHED = {"", "no-such-model", "claude-2.1", "gpt-4o-mini"}
MODELS = sorted({model for model, *_ in PUBLISHED} | UNPUBLISHED)
DETAILS = [None, "low", "high", "auto", "original", "medium", "MEDIA_RESOLUTION_HIGH"]


class TestPrices:
    @pytest.mark.parametrize(("model", "detail", "size", "tokens"), PUBLISHED)
    def test_the_published_examples(
        self, model: str, detail: str | None, size: Size, tokens: int
    ) -> None:
        assert image_tokens(*size, model, detail) == tokens

    @EXAMPLES
    @given(
        st.integers(1, 9_000),
        st.integers(1, 9_000),
        st.sampled_from(MODELS),
        st.sampled_from(DETAILS),
    )
    def test_a_turned_image_costs_the_same(
        self, width: int, height: int, model: str, detail: str | None
    ) -> None:
        turned = image_tokens(height, width, model, detail)
        assert image_tokens(width, height, model, detail) == turned

    @EXAMPLES
    @given(st.integers(1, 100_000), st.integers(1, 100_000))
    def test_no_image_is_free_or_beyond_its_models_limit(self, width: int, height: int) -> None:
        limits = {
            "claude-sonnet-4-5": 1_568,
            "claude-opus-5": 4_784,
            "gpt-5.2": 1_536,
            "gpt-5-mini": 2_489,
            "gpt-5.4": 2_500,
            "gpt-5.5": 10_000,
            "gpt-4o": 85 + 170 * 8,
            "no-such-model": 4_784,
        }
        for model, most in limits.items():
            assert 1 <= image_tokens(width, height, model) <= most

    @EXAMPLES
    @given(st.integers(1, 1_000), st.integers(1, 1_000), st.integers(0, 92), st.integers(0, 92))
    def test_below_all_limits_a_larger_image_is_no_cheaper(
        self, width: int, height: int, wider: int, higher: int
    ) -> None:
        for model in ("claude-sonnet-4-5", "claude-opus-5", "gpt-5.2", "gpt-5.6-sol"):
            larger = image_tokens(width + wider, height + higher, model)
            assert image_tokens(width, height, model) <= larger

    @pytest.mark.parametrize("model", MODELS)
    def test_an_image_of_unknown_size_is_a_large_one(self, model: str) -> None:
        assert unsized_image_tokens(model) >= image_tokens(512, 512, model)

    def test_an_unknown_model_is_not_cheap(self) -> None:
        for size in ((300, 200), (1920, 1080), (4000, 3000)):
            assert image_tokens(*size, "no-such-model") == image_tokens(*size, "claude-opus-5")

    @pytest.mark.parametrize(("width", "height"), [(0, 1), (1, -1), (1.5, 1), (True, 1), ("1", 1)])
    def test_what_is_no_size_is_told(self, width: Any, height: Any) -> None:
        with pytest.raises(ValueError, match="must be an int of at least 1"):
            image_tokens(width, height, "gpt-4o")

    @pytest.mark.parametrize("model", MODELS)
    def test_a_size_beyond_all_images_is_told_and_the_largest_is_priced(self, model: str) -> None:
        assert image_tokens(2**31 - 1, 1, model) > 0
        with pytest.raises(ValueError, match="height must be at most 2,147,483,647"):
            image_tokens(1, 10**400, model)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.filterwarnings("ignore:no profile is known")
def test_a_header_that_tells_of_more_than_any_image_has_is_not_believed(model: str) -> None:
    source = {"type": "base64", "data": base64_of(png(2**32 - 1, 2**32 - 1))}
    assert 0 < medium_tokens(model, source) < 10_000
    message = {"role": "user", "content": [{"type": "image", "source": source}] * 2_000}
    tokens = tf.estimate_message(message, format="anthropic", model=model)
    assert 0 < tokens < 2_000 * 10_000 + 10


def base64_of(data: bytes) -> str:
    return base64.b64encode(data).decode()


def url_of(data: bytes) -> str:
    return f"data:image/png;base64,{base64_of(data)}"


def source_of(data: bytes) -> dict[str, str]:
    return {"type": "base64", "media_type": "image/png", "data": base64_of(data)}


WIRES: dict[str, Any] = {
    "openai-chat": lambda data: user({"type": "image_url", "image_url": {"url": url_of(data)}}),
    "openai-responses": lambda data: user({"type": "input_image", "image_url": url_of(data)}),
    "anthropic": lambda data: user({"type": "image", "source": source_of(data)}),
    "anthropic in a result": lambda data: user(
        {
            "type": "tool_result",
            "tool_use_id": "",
            "content": [{"type": "image", "source": source_of(data)}],
        }
    ),
    "gemini": lambda data: {
        "role": "user",
        "parts": [{"inlineData": {"mimeType": "image/png", "data": base64_of(data)}}],
    },
    "gemini in a response": lambda data: {
        "role": "user",
        "parts": [
            {
                "functionResponse": {
                    "name": "",
                    "parts": [{"inline_data": {"mime_type": "image/png", "data": data}}],
                }
            }
        ],
    },
    "bedrock-converse": lambda data: user({"image": {"format": "png", "source": {"bytes": data}}}),
    "turnfit": lambda data: tf.Message("user", tf.Media("image/png", data)),
    "turnfit in a result": lambda data: tf.Message(
        "tool", tf.Result("", (tf.Media("image/png", base64_of(data)),))
    ),
    "a side list": lambda data: {"role": "user", "content": "", "files": [url_of(data)]},
}


def user(part: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": [part]}


def price(wire: str, data: bytes, model: str | None) -> int:
    """What a message costs with an image and without anything else."""
    return tf.estimate_message(WIRES[wire](data), format=wire_format(wire), model=model)


def wire_format(wire: str) -> str:
    return "openai-chat" if wire == "a side list" else wire.partition(" ")[0]


class TestInMessages:
    @EXAMPLES
    @given(
        st.sampled_from(sorted(WIRES)),
        st.sampled_from(sorted(WRITERS)),
        st.sampled_from(["claude-sonnet-4-5", "claude-opus-5", "gpt-4o", "gpt-5.4-mini"]),
        st.tuples(sides, sides),
        st.tuples(sides, sides),
    )
    def test_its_price_is_its_models_in_every_format(
        self, wire: str, kind: str, model: str, size: Size, other: Size
    ) -> None:
        cost, than = (price(wire, WRITERS[kind](*each), model) for each in (size, other))
        assert cost - than == image_tokens(*size, model) - image_tokens(*other, model)

    @pytest.mark.parametrize("wire", sorted(WIRES))
    def test_without_a_model_it_is_the_constant_whatever_its_size(self, wire: str) -> None:
        assert price(wire, png(10, 10), None) == price(wire, png(4_000, 4_000), None)
        assert price(wire, png(10, 10), None) >= MEDIUM

    @pytest.mark.parametrize("wire", sorted(WIRES))
    def test_a_size_that_cant_be_read_is_the_constant(self, wire: str) -> None:
        known = price(wire, png(28, 28), "claude-opus-5")
        assert price(wire, b"no image at all", "claude-opus-5") == known - 1 + MEDIUM

    @pytest.mark.parametrize("detail", ["low", "high"])
    def test_its_detail_is_heeded_where_it_stands(self, detail: str) -> None:
        url = url_of(png(1024, 1024))
        inside = user({"type": "image_url", "image_url": {"url": url, "detail": detail}})
        beside = user({"type": "input_image", "image_url": url, "detail": detail})
        frame = tf.profile_for("gpt-4o").frames.message
        for message in (inside, beside):
            cost = tf.estimate_message(message, model="gpt-4o")
            assert cost == frame + image_tokens(1024, 1024, "gpt-4o", detail)

    def test_geminis_resolution_is_heeded(self) -> None:
        part = {
            "fileData": {"mimeType": "image/png", "fileUri": "files/1"},
            "mediaResolution": {"level": "MEDIA_RESOLUTION_LOW"},
        }
        message = {"role": "user", "parts": [part]}
        frame = tf.profile_for("gemini-3-pro-preview").frames.message
        assert tf.estimate_message(message, model="gemini-3-pro-preview") == frame + 280

    @pytest.mark.parametrize(
        "part",
        [
            {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
            {"type": "file", "file": {"file_data": "data:application/pdf;base64,JVBERi0xLjc="}},
            {"type": "document", "source": {**source_of(b"%PDF-1.7"), "media_type": "text/pdf"}},
        ],
    )
    def test_a_sound_or_a_file_is_the_constant(self, part: dict[str, Any]) -> None:
        for model in ("gemini-3-pro-preview", "gpt-4o", "claude-opus-5"):
            frame = tf.profile_for(model).frames.message
            assert tf.estimate_message(user(part), model=model) == frame + MEDIUM

    def test_fitting_counts_as_estimating_does(self) -> None:
        history = [user({"type": "image", "source": source_of(png(1920, 1080))})]
        policy = tf.Policy(budget=100_000, model="claude-opus-5")
        wanted = tf.estimate_request(history, model="claude-opus-5")
        assert tf.fit(history, policy).tokens == wanted
        assert wanted == 2_691 + sum(
            getattr(tf.profile_for("claude-opus-5").frames, name) for name in ("message", "request")
        )

    @pytest.mark.parametrize("media", [lambda medium: "many", lambda medium: -1])
    def test_a_price_that_is_none_is_told(self, media: Any) -> None:
        profile = replace(tf.profile("o200k_base"), media=media)
        message = WIRES["openai-chat"](png(1, 1))
        with pytest.raises(tf.FormatError, match="the price of a medium must give a number"):
            tf.estimate_message(message, profile=profile)
