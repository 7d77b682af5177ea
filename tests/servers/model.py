"""A model behind an API: it counts, caches, checks and refuses as providers do.

    with model_server(script) as server:
        openai.OpenAI(base_url=f"{server.url}/v1", api_key="k")      # chat completions
        anthropic.Anthropic(base_url=server.url, api_key="k")        # messages

What the model says comes from a script, a function of what stands in the request. The rest is
done for true: tokens are counted by a tokenizer (o200k_base whatever the model: Claude's isn't
public), what is longer than the window is refused in the provider's words, a prefix cache of
the model's provider tells what was read from it, and thinking is signed and checked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

from servers.counting import count_block
from servers.prefix_cache import CacheUse, PrefixCache, cache_for
from servers.requests import RefusedError, blocks
from servers.thinking import Checker, checker_for
from servers.wires import WIRES, Answer, Body, Seen, Wire

Script = Callable[[Seen], Answer]


@dataclass(frozen=True)
class Served:
    """A request that came, and what became of it.

    Attributes:
        task: the first thing that the user said in it.
        instructions: what the model was told beside the messages.
        status: the HTTP status of the answer.
        tokens: the true tokens of the request.
        use: where they came from; None where it was refused.
        digest: of the body, by which a request that is sent again is told.
        dropped: how many thinking blocks were dropped.
    """

    task: str
    instructions: str
    status: int
    tokens: int
    use: CacheUse | None
    digest: str
    dropped: int = 0


@dataclass
class Model:
    """The state of a server; give it a script of another kind at any time."""

    script: Script
    window: int
    url: str = ""
    served: list[Served] = field(default_factory=list)
    _caches: dict[str, PrefixCache] = field(default_factory=dict)
    _checkers: dict[str, Checker] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    @property
    def refused(self) -> list[Served]:
        """The requests that were refused."""
        return [one for one in self.served if one.status >= 400]

    @property
    def accepted(self) -> list[Served]:
        """The requests that were answered."""
        return [one for one in self.served if one.status < 400]

    def answer(self, wire: Wire, raw: bytes) -> tuple[int, Body]:
        """The status and the body for a request."""
        body: Body = json.loads(raw)
        seen = wire.seen(body)
        task = next((entry.text for entry in seen.of("user")), "")
        served = partial(Served, task, seen.instructions, digest=sha256(raw).hexdigest())
        with self._lock:
            tokens = sum(count_block(block.value) for block in blocks(body))
            try:
                if tokens > self.window:
                    raise RefusedError("too long", wire.too_long(tokens, self.window))
                answer, use, dropped = self._answered(wire, body, seen)
            except RefusedError as refused:
                self.served.append(served(refused.status, tokens, None))
                return refused.status, refused.body
            self.served.append(served(200, tokens, use, dropped=dropped))
            return 200, answer

    def _answered(self, wire: Wire, body: Body, seen: Seen) -> tuple[Body, CacheUse, int]:
        model = body["model"]
        cache = self._caches.setdefault(model, cache_for(model, count_block))
        dropped: list[Any] = []
        content = wire.content(self.script(seen), body)
        if "thinking" in body:
            checker = self._checkers.setdefault(model, checker_for(model))
            dropped = checker.receive(body)
            content = checker.sign(body, content)
        use = cache.read(body)
        output = sum(map(count_block, content))
        return wire.answered(body, content, use, output), use, len(dropped)


@contextmanager
def model_server(script: Script, window: int = 1_000_000) -> Iterator[Model]:
    """A server on a free port of this machine, for as long as it is used."""
    model = Model(script, window)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(model))
    model.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(model: Model) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["content-length"]))
            status, body = model.answer(WIRES[self.path], raw)
            sent = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_: object) -> None:
            """A test's output is for what fails."""

    return Handler
