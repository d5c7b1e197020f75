"""One file per command: ``HELP`` describes it, ``arguments`` says what it takes, ``run`` does it."""
