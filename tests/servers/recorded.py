"""A server that answers every request with what it was given."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


@dataclass
class Recorded:
    """What is answered: a status, headers and a body, which is JSON unless it is bytes."""

    url: str
    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def answer(self, status: int, body: Any, headers: Mapping[str, str] | None = None) -> None:
        self.status, self.body, self.headers = status, body, headers or {}

    def answer_events(self, *events: str) -> None:
        """A stream of server-sent events that begins well."""
        stream = "".join(f"{event}\n\n" for event in events).encode()
        self.answer(200, stream, {"content-type": "text/event-stream"})


@contextmanager
def recorded() -> Iterator[Recorded]:
    """A server on a free port of this machine, for as long as it is used."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    state = Recorded(f"http://127.0.0.1:{server.server_address[1]}")
    server.RequestHandlerClass = _handler(state)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(state: Recorded) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            body = b"" if state.body is None else _encoded(state.body)
            self.send_response(state.status)
            headers = {"content-type": "application/json", **state.headers}
            for name, value in {**headers, "content-length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """A test's output is for what fails."""

    return Handler


def _encoded(body: Any) -> bytes:
    return body if isinstance(body, bytes) else json.dumps(body).encode()
