"""Run the command line with `python -m cosykit`."""

from cosykit.cli.main import main

if __name__ == "__main__":
    main()
