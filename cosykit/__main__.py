"""Start the command line: as `cosykit`, or with `python -m cosykit`."""

from typing import NoReturn


def main() -> NoReturn:
    """Run the command line; Ctrl-C while it is imported ends it as quietly as later."""
    try:
        from cosykit.cli.main import main as run

        run()
    except KeyboardInterrupt:
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
