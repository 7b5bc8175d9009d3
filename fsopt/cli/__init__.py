"""The command line: ``fsopt VERB ...``; exit 0 solved, 1 not solved, 2 bad input, 130 interrupted."""

from __future__ import annotations

import sys

from fsopt.errors import FsoptError


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit; a user's error is one line on stderr (an object on stdout with --json)."""
    import typer

    from fsopt.cli.app import app
    from fsopt.cli.output import report_error

    given = sys.argv[1:] if arguments is None else arguments
    try:
        code = app(given, standalone_mode=False)
    except FsoptError as error:
        code = report_error(error, as_json="--json" in given)
    except typer.TyperException as error:
        message = error.format_message().rstrip(".").replace("\n", " ")
        usage = FsoptError(message, "see 'fsopt --help' or 'fsopt VERB --help'")
        code = report_error(usage, as_json="--json" in given)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        code = 130
    sys.exit(code if isinstance(code, int) else 0)
