"""Which language is a file in, and which does a sentence name?

``data/languages.tsv`` knows languages by the endings and names of files, and
``data/language_names.tsv`` by what else people call them.
"""

from __future__ import annotations

import re
from functools import cache

from brim.files import data_map, data_rows

_NEAR = (
    r"(?:code|files?|modules?|packages?|scripts?|tests?|services?|components?|programs?|sources?)"
)


def language_of(path: str) -> str | None:
    """Return the language of the file at *path*, or None if its name does not say.

    >>> language_of("src/app.py"), language_of("web/Card.TSX"), language_of("Dockerfile")
    ('python', 'typescript', 'docker')
    """
    name = path.replace("\\", "/").rsplit("/", 1)[-1].strip().lower()
    languages = data_map(__file__, "languages.tsv")
    language = languages.get(name)
    while language is None and "." in name[1:]:
        # The longest ending first: `Dockerfile.dev` is none, but `.d.ts` and `.tar.gz` are of one
        # kind each.
        name = name[name.index(".", 1) :]
        language = languages.get(name)
    return language


@cache
def all_languages() -> frozenset[str]:
    """Return the names of all languages that files can be in, as conditions call them."""
    return frozenset(data_map(__file__, "languages.tsv").values())


@cache
def names() -> dict[str, str]:
    """Return the names, in lower case, that always mean a language, with that language."""
    ambiguous = {name.lower() for name in cased_names()}
    plain = {language: language for language in all_languages() if language not in ambiguous}
    for how, name, language in data_rows(__file__, "language_names.tsv"):
        if how == "any":
            plain[name] = language
    return plain


@cache
def cased_names() -> dict[str, str]:
    """Return the names that are also words or letters, with their languages."""
    rows = data_rows(__file__, "language_names.tsv")
    return {name: language for how, name, language in rows if how == "cased"}


def named_languages(text: str) -> list[str]:
    """Return the languages that *text*, such as a prompt, names.

    >>> named_languages("Port the Rust parser to Go code; go on with C++")
    ['rust', 'cpp', 'go']
    """
    languages: list[str] = []
    plain = names()
    for word in text.lower().split():
        for part in word.strip("`'\"()[]<>,;:?!*.").split("/"):
            if part in plain:
                languages.append(plain[part])
    for name, language in cased_names().items():
        if name in text and re.search(rf"\b(?:in|to|from) {name}\b|\b{name} {_NEAR}\b", text):
            languages.append(language)
    return list(dict.fromkeys(languages))
