"""LiteLLM: callbacks for the proxy and for the SDK; the extra ``litellm``.

Hooks: https://docs.litellm.ai/docs/proxy/call_hooks. The proxy calls ``async_pre_call_hook``
before it picks a deployment, so that its own check of windows sees the fitted request.
``async_pre_call_deployment_hook`` runs in the SDK and its router, for each attempt and each
fallback, with the model that is called.

Requests of chat completions, of OpenAI's Responses, of Anthropic's messages and of Gemini
are fitted, each in its wire format; what else passes through LiteLLM stays as it is.

A request that can't be fitted is refused in LiteLLM's own words, so that the proxy answers
with 400 and a router may fall back to a model with a larger window: turnfit's error is the
cause (``__cause__``) of a ``ContextWindowExceededError`` or ``BadRequestError``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from turnfit.errors import BudgetError, FormatError
from turnfit.fitting.fitted import Fitted
from turnfit.integrations.fitter import Choice, Fitter
from turnfit.integrations.missing import extra
from turnfit.messages.requests import read_request

with extra("turnfit.integrations.litellm", "litellm", "litellm"):
    from litellm.exceptions import BadRequestError, ContextWindowExceededError
    from litellm.integrations.custom_logger import CustomLogger

__all__ = ["FitCalls", "FitProxy"]

_ROUTES = {
    "completion": "messages",
    "anthropic_messages": "messages",
    "responses": "input",
    "generate_content": "contents",
    "generate_content_stream": "contents",
}
"""Under which key a call has its messages, by its name; an async one has an ``a`` before."""


class _Fit(CustomLogger):
    """What both callbacks are made of."""

    def __init__(
        self,
        policy: Choice,
        *,
        on_fitted: Callable[[Fitted], object] | None = None,
        repair: bool = False,
    ) -> None:
        super().__init__()
        self._fitter = Fitter("litellm", policy, on_fitted=on_fitted, repair=repair)

    def _fitted(self, body: Mapping[str, Any], call: str) -> dict[str, Any]:
        """The body with fitted messages, in a copy."""
        key = _ROUTES.get(call) or _ROUTES.get(call.removeprefix("a"), "")
        messages = body.get(key)
        if not isinstance(messages, list):
            return dict(body)
        request = read_request(body)
        fitted = self._fitter.fit(
            request.messages,
            model=body.get("model"),
            system=request.system,
            tools=request.tools,
            format=request.format,
        )
        return {**body, key: fitted.messages}


class FitProxy(_Fit):
    """Fits each request that comes to the proxy, before a deployment is picked.

    Args:
        policy: how to fit; or a function from the model's name, as the client sends it, to
            the policy.
        on_fitted: called with each `turnfit.Fitted`.
        repair: as in `turnfit.fit`.

    >>> import turnfit as tf
    >>> fit_requests = FitProxy(tf.Policy(budget=100_000))
    """

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: str
    ) -> dict[str, Any]:
        """The request with fitted messages; the proxy calls this."""
        with _in_litellms_words(data.get("model")):
            return self._fitted(data, call_type)


class FitCalls(_Fit):
    """Fits each request of the SDK and of its router; for ``litellm.callbacks``.

    LiteLLM runs it for async calls alone. A sync call goes through `request`.

    Args:
        policy: how to fit; or a function from the model's name to the policy.
        on_fitted: called with each `turnfit.Fitted`, before the model is.
        repair: as in `turnfit.fit`.

    >>> import litellm
    >>> import turnfit as tf
    >>> calls = FitCalls(tf.Policy(budget=100_000))
    >>> request = calls.request(
    ...     model="gpt-5.1", messages=[{"role": "user", "content": "Go on."}], mock_response="Done."
    ... )
    >>> litellm.completion(**request).choices[0].message.content
    'Done.'
    """

    async def async_pre_call_deployment_hook(
        self, kwargs: dict[str, Any], call_type: Any
    ) -> dict[str, Any]:
        """The call with fitted messages; LiteLLM calls this."""
        with _in_litellms_words(kwargs.get("model")):
            return self._fitted(kwargs, getattr(call_type, "value", call_type) or "")

    def request(self, **call: Any) -> dict[str, Any]:
        """The arguments of a call, with fitted messages; the caller's stay as they are.

        Args:
            call: what ``litellm.completion``, ``responses`` or ``anthropic_messages`` takes.

        Raises:
            BudgetError: if nothing of the history can be sent.
        """
        names = (name for name, key in _ROUTES.items() if key in call)
        return self._fitted(call, next(names, ""))


@contextmanager
def _in_litellms_words(model: Any) -> Iterator[None]:
    """What the client may have asked is no failure of the server."""
    try:
        yield
    except BudgetError as error:
        raise ContextWindowExceededError(str(error), str(model or ""), "turnfit") from error
    except FormatError as error:
        raise BadRequestError(str(error), str(model or ""), "turnfit") from error
