"""What must agents know, when are they told, and what do rules refuse?

Rules are text. ``paragraphs`` finds each rule in a file and changes it without touching the others,
``rule`` is the value, ``reading`` reads and checks one and ``writing`` words one; ``file`` changes
whole files. ``native`` reads files such as CLAUDE.md where they stand. ``accepted`` decides what of
a project's file applies.

``when`` has the conditions and ``situation`` what they are compared with; ``prose`` reads
conditions from the words of a rule. ``compiled`` keeps all of that in an index for hooks.
``delivery`` decides what is told now, ``plan`` is the answer, with a reason for every rule, and
``session`` what a window was told before. ``blocks`` are what a rule refuses; ``shell`` reads the
commands that they are compared with, and ``programs`` knows which program one runs.
"""
