"""Writing files so that a crash leaves either the old one or the new one."""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path

__all__ = ["write_file"]


def write_file(path: str, data: bytes) -> None:
    """Write a file whole or not at all, so that it may be the one that was read.

    Raises:
        OSError: with the file named; what stood there before still does.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        # A device or a pipe: renaming a file over it would do away with it.
        target.write_bytes(data)
        return
    beside = target.with_name(f".turnfit-{secrets.token_hex(8)}")
    try:
        _replace(target, beside, data)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None
    finally:
        beside.unlink(missing_ok=True)


def _replace(target: Path, beside: Path, data: bytes) -> None:
    with open(beside, "xb") as file:
        file.write(data)
        # Else the name may be on the disk before what it names.
        file.flush()
        os.fsync(file.fileno())
    if target.exists():
        shutil.copymode(target, beside)
    os.replace(beside, target)
