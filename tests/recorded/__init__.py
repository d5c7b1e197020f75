"""What brim answered when these recordings were made, and the test that it still does.

``data/answers`` was recorded once, with an installed wheel: ``python -m tests.recorded FOLDER``
plays every scenario with the brim of the interpreter that runs it. Recordings aren't made again to
let a test pass. A meant difference is listed in ``differences.py`` with its reason.
"""
