"""What `import turnfit` costs."""

from __future__ import annotations

import subprocess
import sys


def test_importing_turnfit_imports_nothing_but_the_standard_library() -> None:
    script = (
        "import sys; before = set(sys.modules); import turnfit; "
        "new = {name.split('.')[0] for name in set(sys.modules) - before}; "
        "print(sorted(new - set(sys.stdlib_module_names) - {'turnfit'}))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_importing_compaction_loads_neither_a_parser_nor_a_database() -> None:
    script = (
        "import sys; import turnfit; before = set(sys.modules); import turnfit.compaction; "
        "new = {name.split('.')[0] for name in set(sys.modules) - before}; "
        "print(sorted(new - {'turnfit'} - set(sys.stdlib_module_names) | new & {'sqlite3'}))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr
