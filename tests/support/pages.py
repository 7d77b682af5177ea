"""A page of HTML taken apart, and opened in headless Chromium."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

__all__ = ["CHROMIUM", "Parsed", "opened", "parsed", "svgs"]

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
_VOID = {"meta", "col", "br"}


class Parsed(HTMLParser):
    """Elements with their attributes, texts by the element that they stand in, and faults."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.faults: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.faults.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data: str) -> None:
        self.texts.append((self._open[-1] if self._open else "", data))

    def values(self, attribute: str) -> list[str]:
        """The attribute's values, of all elements that have it."""
        return [value for _, attributes in self.elements if (value := attributes.get(attribute))]

    def close(self) -> None:
        super().close()
        self.faults += [f"<{tag}> isn't closed" for tag in self._open]


def parsed(page: str) -> Parsed:
    """A page taken apart."""
    parser = Parsed()
    parser.feed(page)
    parser.close()
    return parser


def svgs(page: str) -> list[ElementTree.Element]:
    """The charts, each parsed as XML."""
    charts = re.findall(r'<div class="plot[^"]*">(<svg.*?</svg>)</div>', page, flags=re.DOTALL)
    return [ElementTree.fromstring(chart) for chart in charts]


# What the page is asked, once it has been loaded; it writes the answer into itself.
_ASKED = """<script>
const faults = [];
addEventListener("error", (event) => faults.push(String(event.message)));
</script>"""
_ANSWER = """<script>
addEventListener("load", () => {
  const answer = (() => { %s })();
  const out = document.createElement("pre");
  out.id = "answer";
  out.textContent = btoa(encodeURIComponent(JSON.stringify({ ...answer, faults })));
  document.body.replaceChildren(out);
});
</script></body>"""


def opened(
    page: str, folder: Path, script: str, width: int = 900, dark: bool = False
) -> Mapping[str, Any]:
    """What a script returns in the page, in a window of so many pixels, and its faults.

    A frame gives the page its width: a window has a least width of its own.
    """
    asked = page.replace("<head>", f"<head>{_ASKED}", 1)
    head, _, tail = asked.rpartition("</body>")
    (folder / "page.html").write_text(head + _ANSWER % script + tail, "utf-8")
    frame = f'<iframe src="page.html" style="border:0;width:{width}px;height:900px"></iframe>'
    (folder / "frame.html").write_text(frame + _WAITS, "utf-8")
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", scheme]
    options += [f"--user-data-dir={folder / 'profile'}", "--allow-file-access-from-files"]
    options += ["--hide-scrollbars", "--virtual-time-budget=10000", "--dump-dom"]
    address = (folder / "frame.html").as_uri()
    done = subprocess.run(
        [CHROMIUM, *options, address], capture_output=True, text=True, timeout=120
    )
    found = re.search(r"answer:(\S+?):", done.stdout)
    assert found, done.stderr
    answer: dict[str, Any] = json.loads(unquote(base64.b64decode(found[1]).decode()))
    return answer


_WAITS = """<script>
const frame = document.querySelector("iframe");
frame.addEventListener("load", () => setTimeout(() => {
  const answer = frame.contentDocument.getElementById("answer").textContent;
  document.body.textContent = `answer:${answer}:`;
}, 50));
</script>"""
