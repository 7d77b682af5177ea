"""``python -m turnfit`` is ``turnfit``."""

from turnfit.cli import main

if __name__ == "__main__":
    main()
