"""From evidence to what it means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from turnfit.rejections.advice import ADVICE, PAGES
from turnfit.rejections.deciding import Verdict, decide
from turnfit.rejections.delays import delay_in
from turnfit.rejections.evidence import Evidence
from turnfit.rejections.figures import Figures, read_figures
from turnfit.rejections.gather import gather
from turnfit.rejections.persons import person_message
from turnfit.rejections.rejection import Rejection, Retry
from turnfit.rejections.rules.limits import SMALLER_HELPS, WAITING_HELPS
from turnfit.rejections.rules.rule import compiled
from turnfit.tokens.usage import input_tokens, output_tokens

__all__ = ["classify_rejection", "silent_overflow"]

_RETRIES: dict[str, Retry] = {
    "context_overflow": "smaller",
    "payload_too_large": "smaller",
    "rate_limit": "later",
    "server": "later",
}


def classify_rejection(error: object, usage: object = None, *, locale: str = "en") -> Rejection:
    """What a provider's refusal means, and what to do.

    Never raises: what can't be read is ``unknown``, and so is doubt.

    Args:
        error: an exception of openai, anthropic, google-genai, boto3, mistralai, cohere, httpx,
            litellm or another client (told by its shape; its causes are looked at as well), a
            response, an event of a stream, a parsed body, a mapping
            ``{"status": ..., "body": ...}`` (with ``"headers"``, if you have them), bytes, or a
            string.
        usage: the tokens of the refused request as you know them: a number, such as
            `Fitted.tokens`, or what the provider reported; `Rejection.used` where the refusal of
            an overflow names none.
        locale: the person's language, such as ``"pt-BR"``; English where there is no message in it.

    >>> rejection = classify_rejection(
    ...     {"status": 429, "headers": {"retry-after": "7"}, "body": {"message": "Slow down"}}
    ... )
    >>> rejection.kind, rejection.retry, rejection.delay
    ('rate_limit', 'later', 7.0)
    >>> classify_rejection({"status": 400, "body": None}).kind
    'unknown'
    >>> print(classify_rejection("context_length_exceeded", locale="es").person_message)
    Esta conversación ya es demasiado larga para que el modelo la lea de una vez. Empieza una \
nueva para el siguiente paso. Lo que ya está hecho se conserva.
    """
    evidence = gather(error)
    verdict = decide(evidence)
    texts = [text for one in verdict.source.walk() for text in one.texts]
    told = {name: value for one in verdict.source.walk() for name, value in one.figures.items()}
    figures = read_figures(verdict.kind, texts, told)
    if verdict.kind == "context_overflow" and figures.used is None and figures.over is None:
        figures.used = _reported(input_tokens, usage) or None
    verdict, figures = _answer_alone(verdict, figures)
    return _rejection(evidence, verdict, figures, texts, locale)


def _answer_alone(verdict: Verdict, figures: Figures) -> tuple[Verdict, Figures]:
    """Where the answer asked for fills the window by itself, no shorter input helps.

    Only of refusals that blame the answer: vLLM says that max_tokens is too large in both cases.
    """
    output, limit = figures.output, figures.limit
    if verdict.rule != "answer-and-input" or not output or not limit or output < limit:
        return verdict, figures
    cap = Figures(limit=limit - (figures.input or 0), used=output)
    return verdict._replace(kind="output_limit"), cap


def _rejection(
    evidence: Evidence, verdict: Verdict, figures: Figures, texts: list[str], locale: str
) -> Rejection:
    retry = _retry(verdict, figures, texts)
    return Rejection(
        kind=verdict.kind,
        retry=retry,
        person_message=person_message(verdict.kind, retry, locale),
        advice=ADVICE[verdict.kind],
        page_operator=verdict.kind in PAGES,
        limit=figures.limit,
        used=figures.used,
        used_is_lower_bound=figures.at_least,
        over_by=figures.over,
        input_tokens=figures.input,
        output_tokens=figures.output,
        input_alone_fits=_input_alone_fits(figures),
        delay=_delay(evidence) if retry == "later" else None,
        status=_status(evidence),
        rule=verdict.rule,
    )


def _retry(verdict: Verdict, figures: Figures, texts: list[str]) -> Retry:
    """Waiting never helps a request that is larger than the limit itself."""
    if verdict.kind in ("rate_limit", "billing"):
        too_large = figures.used and figures.limit and figures.used > figures.limit
        if too_large or any(_asks_for_less(text) for text in texts):
            return "smaller"
    return _RETRIES.get(verdict.kind, "never")


def _asks_for_less(text: str) -> bool:
    return bool(compiled(SMALLER_HELPS).search(text) and not compiled(WAITING_HELPS).search(text))


def _input_alone_fits(figures: Figures) -> bool | None:
    if figures.input is None or figures.output is None or figures.limit is None:
        return None
    return figures.input < figures.limit


def _status(evidence: Evidence) -> int | None:
    """The HTTP layer's, else one that a body tells."""
    http = [one.status for one in evidence.walk() if one.status]
    told = [one.told_status for one in evidence.walk() if one.told_status]
    return next(iter(http + told), None)


def _delay(evidence: Evidence) -> float | None:
    delays = [one.delay for one in evidence.walk() if one.delay is not None]
    told = (delay_in(text) for one in evidence.walk() for text in one.texts)
    return next(iter(delays), None) if delays else next(filter(None, told), None)


def _reported(read: Callable[[Any], int | None], usage: Any) -> int | None:
    """What a usage tells; None where it can't be read: a refusal must be told all the same."""
    try:
        return read(usage)
    except Exception:
        return None


def silent_overflow(usage: Any, window: int, *, locale: str = "en") -> Rejection | None:
    """The overflow that no error tells: an answer that is empty, or came from a cut request.

    Some servers cut what doesn't fit and answer with nothing, or answer all the same; only the
    reported usage shows it. It is one where more went in than the window holds, or where nothing
    came out and the window is full (99 % of it, since servers leave a few tokens of room).

    Args:
        usage: what the response reported, as the provider's object or mapping.
        window: the tokens that the model reads at once.
        locale: as in `classify_rejection`.

    Raises:
        ValueError: for a window below 1.

    >>> silent_overflow({"prompt_tokens": 131_072, "completion_tokens": 0}, 131_072).kind
    'context_overflow'
    >>> silent_overflow({"prompt_tokens": 900, "completion_tokens": 0}, 131_072) is None
    True
    """
    if window < 1:
        raise ValueError("window must be at least 1")
    used = _reported(input_tokens, usage) or 0
    is_empty = used >= window * 0.99 and _reported(output_tokens, usage) == 0
    if not is_empty and used <= window:
        return None
    verdict = Verdict("context_overflow", "silent", True, Evidence())
    figures = Figures(limit=window, used=used)
    return _rejection(Evidence(), verdict, figures, [], locale)
