"""``python -m everytree`` is the ``everytree`` command."""

from everytree.cli import main

if __name__ == "__main__":
    main()
