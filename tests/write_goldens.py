"""Write the golden requests that aren't there yet: ``python tests/write_goldens.py``.

Lines that are there are a contract and stay; where turnfit no longer keeps one, this says so,
writes nothing and fails.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from support.golden import FOLDER, as_line, differs, promises, read, requests
from support.shapes import SHAPES

FORMATS = (
    "openai-chat",
    "openai-responses",
    "anthropic",
    "gemini",
    "bedrock-converse",
    "langchain",
    "turnfit",
)


def main() -> None:
    """All files, or none if a contract is broken."""
    made = {"promises": list(promises())}
    for format in FORMATS:
        try:
            made[format] = list(requests(format))
        except ModuleNotFoundError as error:
            print(f"{format} is left as it is: {error}")
    if broken := [name for name, lines in made.items() if is_broken(name, lines)]:
        sys.exit(f"nothing was written; see what pytest says of {', '.join(broken)}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, lines in made.items():
        text = "".join(f"{as_line(line)}\n" for line in lines)
        (FOLDER / f"{name}.jsonl").write_text(text, "utf-8", "backslashreplace")
    print(f"{len(SHAPES)} shapes in {len(made) - 1} formats: {FOLDER}")


def is_broken(name: str, lines: Iterable[dict[str, Any]]) -> bool:
    now = {key_of(line): line for line in lines}
    golden = read(name)
    return any(key_of(line) not in now or differs(line, now[key_of(line)]) for line in golden)


def key_of(line: dict[str, Any]) -> tuple[Any, ...]:
    """What a line is the golden one of."""
    return tuple(line.get(key) for key in ("what", "shape", "policy", "share"))


if __name__ == "__main__":
    main()
