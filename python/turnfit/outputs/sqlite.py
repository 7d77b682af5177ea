"""Texts in a SQLite file: for threads and processes at once, and safe when one is killed."""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from turnfit.errors import TurnfitError
from turnfit.outputs.shelves import Bounds, Kept

__all__ = ["CorruptStoreError", "SqliteShelf"]

APPLICATION = 0x7466_6F75
"""What SQLite's header says of whose file it is: "tfou"."""

_SCHEMA = """
CREATE TABLE texts (key BLOB PRIMARY KEY, size INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE kept (
  space TEXT NOT NULL, key BLOB NOT NULL REFERENCES texts (key), meta TEXT NOT NULL,
  used REAL NOT NULL, PRIMARY KEY (space, key)
) WITHOUT ROWID;
CREATE INDEX kept_by_use ON kept (used);
CREATE INDEX kept_by_key ON kept (key);
CREATE TABLE facts (name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
INSERT INTO facts VALUES ('bytes', 0);
CREATE TRIGGER texts_in AFTER INSERT ON texts BEGIN
  UPDATE facts SET value = value + new.size WHERE name = 'bytes'; END;
CREATE TRIGGER texts_out AFTER DELETE ON texts BEGIN
  UPDATE facts SET value = value - old.size WHERE name = 'bytes'; END;
CREATE TRIGGER kept_out AFTER DELETE ON kept
WHEN NOT EXISTS (SELECT 1 FROM kept WHERE key = old.key) BEGIN
  DELETE FROM texts WHERE key = old.key; END;
"""

_FORGET_ONE = (
    "DELETE FROM kept WHERE (space, key) IN (SELECT space, key FROM kept ORDER BY used LIMIT 1)"
)
_CORRUPT = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_PAGE = 16_384
"""Bytes: texts are long, and a text over few pages is written and read the faster."""
_MOST_TOUCHED = 1_000
_PATIENCE = 60
"""Seconds to wait for another process's write."""


class CorruptStoreError(TurnfitError):
    """A store's file is damaged. It was set aside; opening again begins a new one.

    Attributes:
        path: the store's path.
        aside: where the damaged file is now.
    """

    def __init__(self, message: str, path: str, aside: str) -> None:
        super().__init__(message)
        self.path = path
        self.aside = aside

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.path, self.aside)


class SqliteShelf:
    """Texts in one SQLite file, in its write-ahead mode.

    A text is in the file when `put` returns: killing the process loses nothing of it. What
    a power cut may lose are the last moments, never the file
    (https://sqlite.org/pragma.html#pragma_synchronous, NORMAL).

    Args:
        path: the file; it is made if there is none.

    Raises:
        CorruptStoreError: if the file is damaged; it is set aside, not overwritten.
        ValueError: if it is a database of something else.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.path.abspath(os.fspath(path))
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._owner = 0
        # Uses wait for the next write: to note each at once would make of a reading one.
        self._touched: dict[tuple[str, bytes], float] = {}
        Path(self.path).parent.mkdir(parents=True, exist_ok=True)
        with self._connected():
            pass

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """The connection, one for this process; a fork gets its own."""
        with self._lock:
            try:
                if self._connection is None or self._owner != os.getpid():
                    self._connection = self._open()
                    self._owner = os.getpid()
                yield self._connection
            except sqlite3.DatabaseError as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _CORRUPT:
                    raise
                raise self._set_aside(error) from error

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
        )
        try:
            _prepare(connection, self.path)
        except BaseException:
            connection.close()
            raise
        return connection

    def _set_aside(self, error: Exception) -> CorruptStoreError:
        self._close()
        aside = f"{self.path}.corrupt-{time.strftime('%Y%m%dT%H%M%S')}-{secrets.token_hex(2)}"
        for ending in ("", "-wal", "-shm"):
            if os.path.exists(self.path + ending):
                os.replace(self.path + ending, aside + ending)
        told = f"{self.path}: damaged ({error}); set aside as {aside}; open it again for a new one"
        return CorruptStoreError(told, self.path, aside)

    def secret(self) -> bytes:
        """Made with the file."""
        with self._connected() as connection:
            [(value,)] = connection.execute("SELECT value FROM facts WHERE name = 'secret'")
            return bytes(value)

    def put(self, space: str, key: bytes, data: bytes, meta: dict[str, Any], now: float) -> None:
        """Keep a text."""
        said = json.dumps(meta, ensure_ascii=False)
        with self._connected() as connection, _transaction(connection):
            connection.execute(
                "INSERT INTO texts VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (key, len(data), data)
            )
            connection.execute(
                "INSERT INTO kept VALUES (?, ?, ?, ?) ON CONFLICT (space, key) "
                "DO UPDATE SET meta = excluded.meta, used = excluded.used",
                (space, key, said, now),
            )

    def get(self, space: str, key: bytes, now: float) -> tuple[bytes, dict[str, Any]] | None:
        """The text and what was said of it."""
        with self._connected() as connection:
            found = connection.execute(
                "SELECT data, meta FROM kept JOIN texts USING (key) WHERE space = ? AND key = ?",
                (space, key),
            ).fetchone()
            if found is None:
                return None
            self._touched[space, key] = now
            if len(self._touched) > _MOST_TOUCHED:
                self._note_uses(connection)
        return found[0], json.loads(found[1])

    def _note_uses(self, connection: sqlite3.Connection) -> None:
        """Write down what was used since the last write."""
        if self._touched:
            rows = [(used, *place) for place, used in self._touched.items()]
            self._touched.clear()
            with _transaction(connection):
                connection.executemany(
                    "UPDATE kept SET used = max(used, ?) WHERE space = ? AND key = ?", rows
                )

    def entries(self, space: str) -> Iterator[Kept]:
        """All texts of a space, the last used first."""
        with self._connected() as connection:
            self._note_uses(connection)
            rows = connection.execute(
                "SELECT key, size, meta, used FROM kept JOIN texts USING (key) "
                "WHERE space = ? ORDER BY used DESC",
                (space,),
            ).fetchall()
        return (Kept(key, size, json.loads(meta), used) for key, size, meta, used in rows)

    def evict(self, bounds: Bounds, now: float) -> int:
        """Remove what is out of bounds."""
        with self._connected() as connection:
            self._note_uses(connection)
            oldest = connection.execute("SELECT min(used) FROM kept").fetchone()[0]
            old = oldest is not None and oldest < now - bounds.max_age
            if not old and self._bytes(connection) <= bounds.max_bytes:
                return 0
            with _transaction(connection):
                gone = connection.execute(
                    "DELETE FROM kept WHERE used < ?", (now - bounds.max_age,)
                ).rowcount
                while self._bytes(connection) > bounds.max_bytes:
                    gone += connection.execute(_FORGET_ONE).rowcount
        return gone

    @staticmethod
    def _bytes(connection: sqlite3.Connection) -> int:
        [(value,)] = connection.execute("SELECT value FROM facts WHERE name = 'bytes'")
        return int(value)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._connection is not None and self._owner == os.getpid():
                with suppress(sqlite3.DatabaseError):
                    self._note_uses(self._connection)
            self._close()

    def _close(self) -> None:
        if self._connection is not None and self._owner == os.getpid():
            self._connection.close()
        self._connection = None


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _prepare(connection: sqlite3.Connection, path: str) -> None:
    """Make the tables where there are none; refuse a file of something else."""
    [(application,)] = connection.execute("PRAGMA application_id")
    if application != APPLICATION:
        _make(connection, path)
    _write_ahead(connection)
    connection.execute("PRAGMA synchronous = NORMAL")


def _write_ahead(connection: sqlite3.Connection) -> None:
    """The mode is the file's own. To change it SQLite doesn't wait for others by itself."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            if connection.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",):
                return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
        time.sleep(0.01)


def _make(connection: sqlite3.Connection, path: str) -> None:
    connection.execute(f"PRAGMA page_size = {_PAGE}")
    with _transaction(connection):
        # Another process may have made them meanwhile.
        [(application,)] = connection.execute("PRAGMA application_id")
        if application == APPLICATION:
            return
        [(tables,)] = connection.execute("SELECT count(*) FROM sqlite_schema")
        if application or tables:
            raise ValueError(f"{path} is a database of something else, not a store of turnfit")
        for statement in _statements(_SCHEMA):
            connection.execute(statement)
        connection.execute("INSERT INTO facts VALUES ('secret', ?)", (secrets.token_bytes(32),))
        connection.execute(f"PRAGMA application_id = {APPLICATION}")


def _statements(script: str) -> Iterator[str]:
    """One by one: `executescript` would end the transaction."""
    statement = ""
    for line in script.splitlines():
        statement += f"{line}\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
