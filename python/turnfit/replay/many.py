"""Many files of recordings, one after the other or through a pool of processes."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from turnfit.errors import TurnfitError
from turnfit.replay.contenders import Contender
from turnfit.replay.prices import Prices
from turnfit.replay.reading import read_recordings
from turnfit.replay.recordings import Recording
from turnfit.replay.replayed import Replayed
from turnfit.replay.replaying import replay, share_of

__all__ = ["ReplayedFile", "recording_files", "replay_all", "replay_files"]

_SUFFIXES = frozenset((".json", ".jsonl", ".ndjson", ".traj", ".md"))


@dataclass(frozen=True)
class ReplayedFile:
    """What came of a file.

    Attributes:
        path: the file.
        replays: its recordings, replayed.
        errors: what was wrong with the file, or with single recordings of it.
        warnings: what was warned of, once each.
    """

    path: str
    replays: Sequence[Replayed]
    errors: Sequence[str] = ()
    warnings: Sequence[str] = ()


def recording_files(folder: str | os.PathLike[str]) -> list[Path]:
    """The files in a folder, and in those below it, that may hold recordings, in their order.

    They are told by their endings: ``.json``, ``.jsonl``, ``.ndjson``, ``.traj``, ``.md``.

    Raises:
        OSError: if the folder can't be read.
    """
    root = Path(folder)
    os.listdir(root)
    return sorted(path for path in root.rglob("*") if path.suffix in _SUFFIXES and path.is_file())


def replay_files(
    paths: Iterable[str | os.PathLike[str]],
    budget: int,
    *,
    window: int | None = None,
    model: str | None = None,
    policies: Sequence[Contender] = (),
    prices: Prices | None = None,
    seconds_per_step: float | None = None,
    steps: bool = False,
    jobs: int = 1,
    progress: Callable[[float], object] | None = None,
) -> Iterator[ReplayedFile]:
    """Files, replayed one by one: what comes does so in their order, however many `jobs`.

    A file that can't be read or holds no history stops nothing; what is wrong is told.

    Args:
        paths: the files.
        budget: as for `replay`, and so are those that follow.
        window: likewise.
        model: likewise.
        policies: likewise; with several jobs they must be such as can be pickled.
        prices: likewise.
        seconds_per_step: likewise.
        steps: likewise; many files' figures of each request take much memory.
        jobs: how many processes share the files.
        progress: told, as one process goes along, what share of the present file is done.
    """
    one = partial(
        _replay_file,
        budget=budget,
        window=window,
        model=model,
        policies=tuple(policies),
        prices=prices,
        seconds_per_step=seconds_per_step,
        steps=steps,
    )
    names = [os.fspath(path) for path in paths]
    with ExitStack() as stack:
        if min(jobs, len(names)) <= 1:
            yield from (one(name, progress=progress) for name in names)
            return
        # Started afresh: what this process runs besides can't be forked safely.
        context = get_context("spawn")
        workers = min(jobs, len(names))
        pool = stack.enter_context(ProcessPoolExecutor(workers, mp_context=context))
        stack.callback(pool.shutdown, cancel_futures=True)
        yield from pool.map(one, names)


def _replay_file(path: str, **options: Any) -> ReplayedFile:
    try:
        recordings = read_recordings(Path(path).read_bytes(), path)
    except OSError as error:
        return ReplayedFile(path, (), [f"{path}: {error.strerror}"])
    except TurnfitError as error:
        return ReplayedFile(path, (), [str(error)])
    return replay_all(path, recordings, **options)


def replay_all(
    path: str,
    recordings: Sequence[Recording],
    *,
    progress: Callable[[float], object] | None = None,
    **options: Any,
) -> ReplayedFile:
    """Recordings of one file, replayed; those that can't be are told. Options as for `replay`."""
    replays, errors, warned = [], list[str](), dict[str, None]()
    for number, recording in enumerate(recordings):
        told = share_of(progress, number, len(recordings))
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                replays.append(replay(recording, **options, progress=told))
            warned |= dict.fromkeys(str(one.message) for one in caught)
        except RecursionError:
            errors.append(f"{recording.name}: a message is nested too deeply")
        except TurnfitError as error:
            what = str(error)
            is_named = what.startswith(recording.name)
            errors.append(what if is_named else f"{recording.name}: {what}")
    return ReplayedFile(path, replays, errors, list(warned))
