"""Conditions that the words of a rule say: *In Python files, …*, *never edit dist/*.

Nothing is scored: a pattern fits or it doesn't, and a pattern that was wrong on more than a tenth
of real rules isn't here (*before committing* was). Only the object of the verb counts: "when you
touch src/api/** update openapi.yaml" is about ``src/api/**``. A *for example* says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from brim.rules.prose_words import (
    COMMAND,
    FOLDER_NAME,
    commands_in,
    folders_in,
    leading_paths,
    paths_in,
    split_languages,
)
from brim.rules.when import ALWAYS, BRANCH, LANGUAGE, PATH, RUN, TASK, Clause, Condition, any_of

_CODE = (
    r"(?:source |test |unit test )?(?:files?|code|modules?|scripts?|components?|sources?|packages?"
    r"|classes|changes|tests?)"
)
_EDITING = (
    r"(?:touch|edit|chang|modify|modifi|updat|alter|add|creat|writ|work on|mov|renam|delet|remov)"
    r"\w*"
)
_NOT = r"(?:never|do not|don['’]t|must not|may not|cannot|can['’]t|should not|shouldn['’]t|avoid)"
# Patterns are compiled when the first sentence needs them: all of them would take a hook longer
# than everything else, and a look at the words shows that most can't fit.
_EXAMPLE = r"(?i)^(?:for example|e\.g\.|for instance|such as)\b"
_SENTENCE_END = r"(?<=[.!?])\s+(?=[A-Z`*])"
_LABEL = r"^[\w /&()'-]{2,40}(?::| -)\s+(?=[A-Z])"
_EMPHASIS = r"\*\*|__"

_SCOPE = (
    r"^(?i:in|for|within|inside|under)\s+(?P<scope>(?:\([^)]*\)|[^,:.(]|\.(?=\w|/|\*))*?)(?:,|:)\s"
)
_SCOPE_START = r"^(?:(?i:all|any|new|existing|the)\s+)*"
_WHEN_EDITING = (
    r"(?i)\b(?:when(?:ever)?|if|after|before|once|any time|every time|each time|while)\s+"
    r"(?:(?:you|you've|you have|we|are|have|ever)\s+)*"
    rf"{_EDITING}\s+"
)
_OBJECT_START = (
    r"(?i)^(?:(?:the|an?|any|all|new|existing|files?|code|anything|something|in|under|inside|within"
    r"|of|to|or)\s+)*"
)
_LANGUAGE_START = r"^(?:(?i:the|an?|any|all|new|existing)\s+)*"
_CHANGES_TO = (
    r"(?i)(?:^|[.;:(]\s*|\bif )(?:any |a |an |all )?changes? (?:to|in|under)\s+"
    r"(?:the |any |files? (?:in|under) )*"
)
_AFTER_CHANGES = (
    r"(?i)\b(?:after|with|on|for) (?:any|every|each|all) changes? (?:to|in|of) (?:the )?"
)
_MUST = r"(?i)\s(?:must|require|need|should|are|have|has|is|use|may|can|shall)\b"
_FILES_UNDER = (
    r"(?i)\b(?:all |any |every |new )?(?:files?|code|modules?|components?|pages|tests?) "
    r"(?:under|in|inside|within|below|matching)\s+(?:the )?"
)
_NEVER_EDIT = (
    rf"(?i)\b{_NOT}\s+(?:ever |directly |manually |hand-)?"
    r"(?:chang|edit|modify|touch|delet|updat|creat|remov|mov|renam)\w*\s+"
    r"(?:any |the |or \w+ |(?:\w+ )?files? (?:in|under|inside) |anything (?:in|under|inside) )*"
)
_NEVER_RUN = (
    rf"(?i)\b{_NOT}\s+(?:ever |directly |manually )?(?:us|run|invok|call|execut)\w*\s+"
    rf"(?:the |raw |plain |bare )?(?P<commands>{COMMAND}(?:(?:,| or| and|, or|/) {COMMAND})*)"
)
_BEFORE_RUNNING = (
    r"(?i)\b(?:before|when(?:ever)?|if|while|prior to) (?:you |we )?"
    r"(?:run|runn|execut|invok|us|call)(?:ning|ing|e)?\s+(?:any |the )*"
    rf"(?P<commands>{COMMAND}(?:(?:,| or| and|/) {COMMAND})*)"
)
_ALL_COMMANDS = (
    rf"(?i)\b(?:all|any|every|each) (?P<commands>{COMMAND}(?:(?:,| or| and|/) {COMMAND})*) "
    r"(?:commands?|calls?|invocations?)\b"
)
_PLACE = (
    r"^(?i:in|inside|within|under|dans|en|em|im|unter)\s+"
    r"(?:(?i:the|all|any|new|every|existing|les?|la|los|as|os|den|der|dem|allen?|fichiers|archivos"
    r"|arquivos|Dateien|dossiers?|carpetas?|pastas?|Ordner|Verzeichnis)\s+)*"
)
_THING_THERE = rf" (?:folder|directory|{_CODE})"
_IS_CHANGED = (
    r" (?:changes?\b|(?:is|are|was|were|has|have)(?: been)? "
    r"(?:changed|edited|modified|touched|updated|added|moved|renamed|deleted|removed))"
)
_SUBJECT = r"(?i)\b(?:when(?:ever)?|if|after|once|each time|every time) (?:the |an? |any )?"
_CHANGED_IN = (
    r"(?i)\b(?:when(?:ever)?|if|after|once|each time|every time) [^,;:.`]{1,60}? "
    r"(?:is|are|was|were) "
    r"(?:changed|edited|modified|touched|updated|added|created|moved|renamed|deleted|removed) "
    r"(?:in|under|inside|within|to|from) (?:the )?"
)
_EDITING_ELSEWHERE = (
    r"(?i)\b(?:bei (?:jeder |allen )?Änderung(?:en)? (?:an|in|unter)(?: der| dem| den)?"
    r"|cuando (?:edites|modifiques|cambies|toques)"
    r"|(?:quand|lorsque|si) (?:tu modifies|vous modifiez|tu changes|vous changez)"
    r"|quando (?:você )?(?:editar|alterar|modificar|mudar|modifichi|cambi)) "
)
"""In German, Spanish, French, Portuguese and Italian."""
_BEFORE_COMMAND = (
    rf"(?i)\b(?:before|after|vor|nach|avant|après|antes de|después de|depois de|prima di) "
    r"(?:(?:every|each|any|a|the|jedem|dem|einem|de lancer|d['’]exécuter|chaque|cada"
    r"|faire|hacer|fazer|ejecutar|executar|rodar|eseguire|ogni) )*"
    rf"(?P<commands>{COMMAND}(?:(?:,| or| and|/| oder| ou| o) {COMMAND})*)(?=[\s,.;:)]|$)"
)
_BRANCH = (
    r"(?i)(?:^on|\b(?:if|when|while)(?: you(?:['’]re| are)?)? on) (?:the |an? |any )?"
    r"(?:[a-z]+ branch(?:es)? \()?`?(?P<branch>main|master|develop|trunk|[\w-]+/[\w*-]+)`?"
    r"(?= branch|[,)])"
)
_IN_TESTS = (
    r"(?i)^(?:in (?:unit |integration |e2e )?tests?[,:]"
    r"|(?:unit |integration |e2e )?tests? (?:should|must|do not|don['’]t|never|may not)\b)"
)
_TESTS_EXIST = (
    r"(?i)\btests? (?:must|should) (?:\w+ )?(?:cover|exist|pass|accompany|run|be (?:added|written|"
    r"included|green|run))"
)

TEST_FILES = (
    "tests/**",
    "test/**",
    "__tests__/**",
    "spec/**",
    "test_*",
    "*_test.*",
    "*.test.*",
    "*.spec.*",
    "*Test.*",
    "*_spec.*",
)
"""Where tests are, in most projects."""

_MOMENT_OF_HEADING = (
    (r"(?:git )?commits?(?: messages?| titles?| style| guidelines| conventions)?", "git commit"),
    (
        r"(?:PRs?|pull requests?)(?: (?:titles?|descriptions?|guidelines|conventions))?",
        "gh pr create",
    ),
    (r"push(?:es|ing)?", "git push"),
)
"""Headings that are a moment, and the command that is run then."""


def inferred_condition(text: str, heading: str = "") -> Condition:
    """Return the condition that *text* says, under its *heading*; always if it says none.

    >>> str(inferred_condition("In Python files, use pathlib instead of os.path"))
    'python'
    >>> str(inferred_condition("When you touch `src/api/**` update openapi.yaml"))
    'src/api/**'
    >>> str(inferred_condition("Prefer small functions"))
    'always'
    """
    clauses = list(dict.fromkeys(_clauses(text, heading)))
    if clauses:
        return any_of(*clauses)
    return ALWAYS


def _clauses(text: str, heading: str) -> Iterator[Clause]:
    plain = re.sub(r"\s+", " ", re.sub(_EMPHASIS, "", text)).strip()
    yield from _of_label(plain)
    body = re.sub(_LABEL, "", plain)
    sentences = re.split(_SENTENCE_END, body)
    # "Change it only through X. Never run Y." is about more than running Y.
    yield from _of_prohibition(sentences[0])
    for sentence in sentences:
        if re.match(_EXAMPLE, sentence):
            continue
        for reader in _READERS:
            yield from reader(sentence)
    yield from _of_heading(re.sub(r"[*`#]", "", heading).strip())


def _of_label(text: str) -> Iterator[Clause]:
    if ": " not in text:
        return
    languages, after = split_languages(text)
    if languages and re.match(rf"(?: {_CODE})?:\s", after):
        yield Clause(LANGUAGE, tuple(languages))
    paths = leading_paths(text)
    if paths and text[len(paths) :].startswith(": "):
        yield from _path_clause(paths)


def _of_heading(heading: str) -> Iterator[Clause]:
    for pattern, command in _MOMENT_OF_HEADING:
        if re.fullmatch(pattern, heading, re.IGNORECASE):
            yield Clause(RUN, (command,))
            yield Clause(TASK, (command.split()[1],))


def _of_scope(sentence: str) -> Iterator[Clause]:
    scope = re.match(_SCOPE, sentence)
    if scope is None:
        return
    words = scope["scope"].strip()
    languages, after = split_languages(re.sub(_SCOPE_START, "", words))
    if languages and re.fullmatch(rf"(?: {_CODE})?", after):
        yield Clause(LANGUAGE, tuple(languages))
        return
    paths = paths_in(words) or folders_in(words)
    if paths:
        yield Clause(PATH, tuple(paths))


def _of_place(sentence: str) -> Iterator[Clause]:
    """Read *In src/api/ all names …*, without a comma."""
    start = re.match(_PLACE, sentence)
    if start is None:
        return
    target = sentence[start.end() :]
    paths = leading_paths(target)
    if paths:
        yield from _path_clause(paths)
        return
    languages, after = split_languages(target)
    if languages and re.match(_THING_THERE, after):
        yield Clause(LANGUAGE, tuple(languages))


def _of_branch(sentence: str) -> Iterator[Clause]:
    branch = re.search(_BRANCH, sentence)
    if branch is not None:
        yield Clause(BRANCH, (branch["branch"],))


def _of_editing(sentence: str) -> Iterator[Clause]:
    moment = re.search(_WHEN_EDITING, sentence)
    if moment is None or re.search(r"(?i)for example,?\s*$", sentence[: moment.start()]):
        return
    target = sentence[moment.end() :]
    paths = leading_paths(re.sub(_OBJECT_START, "", target))
    if paths:
        yield from _path_clause(paths)
        return
    languages, after = split_languages(re.sub(_LANGUAGE_START, "", target))
    if languages and re.match(f" {_CODE}", after):
        yield Clause(LANGUAGE, tuple(languages))
        return
    folders = folders_in(re.split(r"[,;:]", target)[0])
    if folders:
        yield Clause(PATH, tuple(folders))


def _of_changes(sentence: str) -> Iterator[Clause]:
    after_changes = re.search(_AFTER_CHANGES, sentence)
    if after_changes is not None:
        languages, _ = split_languages(sentence[after_changes.end() :])
        if languages:
            yield Clause(LANGUAGE, tuple(languages))
    for pattern in (_CHANGES_TO, _CHANGED_IN, _EDITING_ELSEWHERE):
        yield from _path_clause(_paths_after(pattern, sentence))
    yield from _path_clause(_changed_paths(sentence))
    if re.search(_MUST, sentence):
        yield from _path_clause(_files_under(sentence))


def _changed_paths(sentence: str) -> str:
    """Return the paths that are the subject of a change: *whenever package.json changes*."""
    for start in re.finditer(_SUBJECT, sentence):
        target = sentence[start.end() :]
        paths = leading_paths(target)
        if paths and re.match(_IS_CHANGED, target[len(paths) :]):
            return paths
    return ""


def _files_under(sentence: str) -> str:
    """Return the paths of which *sentence* says what files under them must be."""
    for start in re.finditer(_FILES_UNDER, sentence):
        target = sentence[start.end() :]
        paths = leading_paths(target)
        folder = re.match(FOLDER_NAME, target)
        if not paths and folder is not None:
            paths = folder[0]
        after = target[len(paths) :].removeprefix(" folder").removeprefix(" directory")
        if paths and re.match(_MUST, after):
            return paths
    return ""


def _paths_after(pattern: str, text: str) -> str:
    """Return the list of paths that follows the first *pattern* in *text* that is followed by
    one."""
    for start in re.finditer(pattern, text):
        paths = leading_paths(text[start.end() :])
        if paths:
            return paths
    return ""


def _of_prohibition(sentence: str) -> Iterator[Clause]:
    if not re.search(rf"(?i)\b{_NOT}\s", sentence):
        return
    yield from _path_clause(_paths_after(_NEVER_EDIT, sentence))
    if "`" not in sentence:
        return
    for match in re.finditer(_NEVER_RUN, sentence):
        yield from _command_clause(match["commands"])


def _of_commands(sentence: str) -> Iterator[Clause]:
    if "`" not in sentence:
        return
    for pattern in (_BEFORE_RUNNING, _BEFORE_COMMAND, _ALL_COMMANDS):
        for match in re.finditer(pattern, sentence):
            yield from _command_clause(match["commands"])


def _command_clause(words: str) -> Iterator[Clause]:
    commands = commands_in(words)
    if commands:
        yield Clause(RUN, tuple(commands))


def _of_tests(sentence: str) -> Iterator[Clause]:
    if re.match(_IN_TESTS, sentence) and not re.search(_TESTS_EXIST, sentence):
        yield Clause(PATH, TEST_FILES)


def _path_clause(words: str) -> Iterator[Clause]:
    paths = paths_in(words)
    if words and not paths:
        paths = folders_in(f"{words} folder")
    if paths:
        yield Clause(PATH, tuple(paths))


_READERS: tuple[Callable[[str], Iterator[Clause]], ...] = (
    _of_scope,
    _of_place,
    _of_branch,
    _of_editing,
    _of_changes,
    _of_commands,
    _of_tests,
)
