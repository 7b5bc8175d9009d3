"""The page of the command line: the help of every verb, as the command itself prints it."""

from __future__ import annotations

import os
import subprocess
import sys

HEAD = """# Command line

Every verb of `fsopt`, as its `--help` prints it: what it does, its options, an example. `--json` gives one object on
the standard output. Exit codes: 0 solved, 1 not solved (infeasible, or no point within the time limit), 2 bad input or
an answer that could not be saved or printed, 130 interrupted.

```console
fsopt fit fsv --data wdbc -o fit.json
fsopt check fit.json --data wdbc
```
"""


def shown(*words: str) -> str:
    """Return the help of a verb, 80 columns wide."""
    done = subprocess.run(
        [sys.executable, "-m", "fsopt", *words, "--help"],
        env={**os.environ, "COLUMNS": "80", "TERM": "dumb", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.replace("python -m fsopt", "fsopt").strip()


def page() -> str:
    """Return the page."""
    import typer.main

    from fsopt.cli.app import app

    group = typer.main.get_command(app)
    parts = [HEAD]
    for name, verb in group.commands.items():
        texts = [shown(name), *(shown(name, inner) for inner in getattr(verb, "commands", {}))]
        blocks = "\n\n".join(f"```text\n{text}\n```" for text in texts)
        parts.append(f"## fsopt {name}\n\n{blocks}\n")
    return "\n".join(parts)
