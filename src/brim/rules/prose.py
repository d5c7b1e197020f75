"""Conditions that the words of a rule say: *In Python files, …*, *never edit dist/*.

Nothing is scored. A condition stands in one of a few constructions, and each has a place for one
topic: a scope (*In Go code, …*), a subject (*Shell scripts start with …*), a label (*Python: …*),
the object of a trigger (*when you touch src/api/ …*), a moment (*before committing*), a command
(*before `npm publish`*), or what is forbidden (*never edit dist/*). Only what stands in that place
counts: "when you touch src/api/ update openapi.yaml" is about ``src/api/``, and a *for example*
says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from brim.rules.prose_words import COMMAND, commands_in, folders_in, leading_paths, paths_in
from brim.rules.topics import Topic, leading_topic
from brim.rules.when import ALWAYS, BRANCH, LANGUAGE, PATH, RUN, TASK, Clause, Condition, any_of

# Patterns are compiled when the first sentence needs them: all of them would take a hook longer
# than everything else, and a look at the words shows that most can't fit.
_EXAMPLE = (
    r"(?i)^(?:for example|e\.g\.|for instance|such as|note:|par exemple|zum Beispiel|z\. ?B\.)"
)
_SENTENCE_END = r"(?<=[.!?])\s+(?=[A-Z`*])|\s?;\s"
_OPENING_WORDS = 2
"""Words of a sentence that only opens a rule: *Be careful.*"""
_EMPHASIS = r"(?<![\w/`*])(\*\*|__)(?=[^\s*])(.+?)(?<=\S)\1(?![\w/`])"
_LABEL_END = r"(?: (?:rules|style|conventions|guidelines|standards))?(?::| -| –| —)\s"
_WORDY_LABEL = r"^[\w /&()'-]{2,40}(?::| -| –| —)\s+(?=[A-Z`])"

_SCOPE = r"^(?i:in|inside|within|under|for|dans|en|em|im|unter|pour|para|für|bei)\s+"
_SCOPE_WORDS = (
    r"^(?i:in|for|within|inside|under)\s+(?P<scope>(?:\([^)]*\)|[^,:.(]|\.(?=\w|/|\*))*?)(?:,|:)\s"
)
_MUST = (
    r"\s+(?i:must|should|may|can|cannot|can['’]t|need|needs|shall|never|always|"
    r"(?:is|are) (?:generated|read-only|append|vendored|frozen|off-limits|auto))\b"
)
_NO_VERB = (
    r"\s+(?i:and|or|in|of|from|for|with|that|which|to|as|by|on|at|when|if|und|oder|et|ou|y|e|o|mit"
    r"|ohne|für|avec|sans|pour|con|sin|para|com|sem)\b"
)
_VERB = r"\s+[^\W\d_]+"
_TESTS_EXIST = (
    r"(?i)\btests? (?:must|should|need to|have to) (?:\w+ )?(?:cover|exist|pass|accompany|run"
    r"|be (?:added|written|included|green|run))"
)

_TRIGGER = (
    r"(?i)\b(?:when(?:ever)?|if|after|before|once|while|(?:any|every|each) time|wenn|falls|bevor"
    r"|nachdem|sobald|quand|lorsque|si|après|avant de|cuando|antes de|después de|al|quando|se"
    r"|depois de|ao)\s+"
    r"(?:(?:you|you['’]ve|you have|you['’]re|we|are|have|ever|also|du|ihr|Sie|man|tu|vous|on|você"
    r"|tú)\s+)*"
)
_EDITING = (
    r"(?:touch|edit|chang|modify|modifi|updat|alter|add|creat|writ|mov|renam|delet|remov|touchez"
    r"|toqu|toc|cambi|edit|mud|mex|escrib|escrev|écri)\w*"
    r"|work(?:ing)? (?:in|on|with|under)|making changes (?:to|in)|make changes (?:to|in)"
)
_OBJECT_START = (
    r"(?i)^(?:(?:the|an?|any|all|new|existing|a file|files?|code|anything|something|in|under"
    r"|inside|within|of|to|or|en|em|dans|un|une|le|la|les|o|os|el|los)\s+)*"
)
_VERB_AT_END = r"\s+(?i:änder|bearbeit|anfass|editier|berühr|anpass)\w*"
_CHANGES_TO = (
    r"(?i)(?:(?:^|[.;:(]\s*|\bif )(?:any |a |an |all )?changes? (?:to|in|under)"
    r"|\b(?:after|with|on|for) (?:any|every|each|all) changes? (?:to|in|of|under)"
    r"|\bbei (?:jeder |allen )?Änderung(?:en)? (?:an|in|unter))\s+"
)
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

_RUN_VERB = (
    r"(?i:(?:run|runn|execut|invok|us|call|lanc|ejecut|rod|hac|faz|fair|eseguir|d['’]exécut)\w*)\s+"
)
_COMMANDS = rf"(?P<commands>{COMMAND}(?:(?:,| or| and|, or|/| oder| ou| o) {COMMAND})*)"
_AROUND = (
    r"(?i)\b(?:before|after|when(?:ever)?|if|while|prior to|vor|nach|avant|après|antes de"
    r"|después de|depois de|prima di)\s+(?:(?:you|we|every|each|any|a|the|jedem|dem|einem|de"
    r"|chaque|cada|ogni)\s+)*"
)
_AROUND_RUN = rf"{_AROUND}{_RUN_VERB}(?:(?:any|the)\s+)*{_COMMANDS}(?=[\s,.;:)]|$)"
_AROUND_COMMAND = rf"{_AROUND}{_COMMANDS}(?=[\s,.;:)]|$)"
_DONE_WITH = (
    rf"(?i)\b(?:before|after|when(?:ever)?|if|while) (?:you |we )?[a-z-]+(?: [a-z]+){{0,3}}"
    r" (?:with|by running|using|via)"
    rf" {_COMMANDS}"
)
_ALL_COMMANDS = rf"(?i)\b(?:all|any|every|each) {_COMMANDS} (?:commands?|calls?|invocations?)\b"
_COMMAND_IS = (
    rf"^(?:(?:The|Any) )?{_COMMANDS}\s+(?i:must|should|may|needs?|requires?|is (?:not |never )?"
    r"(?:allowed|forbidden|banned|prohibited|off)|takes|deletes)\b"
)
_NOT = r"(?:never|do not|don['’]t|must not|may not|cannot|can['’]t|should not|shouldn['’]t|avoid)"
_NEVER_RUN = (
    rf"(?i)\b{_NOT}\s+(?:ever |directly |manually )?(?P<verb>us|run|invok|call|execut)\w*\s+"
    rf"(?:the |raw |plain |bare )?{_COMMANDS}"
)
_NEVER_COMMAND = rf"^(?i:never|no|kein|keine|nunca|jamais|nie)\s+{_COMMANDS}"
_NEVER_EDIT = (
    rf"(?i)^(?:please |you )?{_NOT}\s+(?:ever |directly |manually |hand-)?"
    r"(?:chang|edit|modify|touch|delet|updat|creat|remov|mov|renam)\w*\s+"
    r"(?:any |the |or \w+ |(?:\w+ )?files? (?:in|under|inside) |anything (?:in|under|inside) )*"
)
_MOMENTS = (
    (r"commit(?:s|ting)?(?! (?:messages?|to the|hooks?))", "git commit"),
    (r"push(?:es|ing)?", "git push"),
    (r"rebas(?:e|ing)", "git rebase"),
    (
        r"(?:open|creat|submit|submitt|rais)(?:s|e|es|ing)? (?:an? |the |any |your )?"
        r"(?:PRs?|pull requests?|merge requests?)",
        "gh pr create",
    ),
)
"""What is done at a moment, and the command that does it."""
_BRANCH = (
    r"(?i)(?:^on|\b(?:if|when|while)(?: you(?:['’]re| are)?)? on) (?:the |an? |any )?"
    r"(?:[a-z]+ branch(?:es)? \()?`?(?P<branch>main|master|develop|trunk|[\w-]+/[\w*-]+)`?"
    r"(?= branch|[,)])"
)

_ENDING = r"(?i)(?P<before>[\w.']+)\s+(?:in|inside|within|for|dans|en|em)\s+"
_PHRASE_END = r"\s*(?:\([^)]*\))?\s*[.;:!)]|\s*$"
_NO_SCOPE_AFTER = (
    " as like see than defined described documented listed found lives explained written e.g. done"
)
_PUTS = r"(?i)\b(?:put|place|live|store|belong|go|goes|add|create|save|define|keep|write|look)s?\b"
_WRITES = (
    r"^(?i:write|keep|prefix|format|start|end|begin|use|phrase|make)\s+(?:(?:all|your|the)\s+)*"
)

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


def _clauses(text: str, heading: str) -> list[Clause]:
    plain = re.sub(r"\s+", " ", re.sub(_EMPHASIS, r"\2", text)).strip()
    if re.match(_EXAMPLE, plain):
        return []
    label, body = _label(plain)
    clauses = _read_sentences(body)
    if clauses:
        return clauses  # a sentence that names its own moment is more exact than what is above it
    if label is not None:
        return [label]
    return list(_read_heading(re.sub(r"[*`#]", "", heading).strip()))


def _read_sentences(body: str) -> list[Clause]:
    """Return what the first sentence says, and what the others add to it. If the first one is
    always true, the rule is: "Change it only through X. Never run Y." is about more than Y."""
    clauses: list[Clause] = []
    for sentence in re.split(_SENTENCE_END, body):
        if re.match(_EXAMPLE, sentence):
            continue
        own = _read_sentence(sentence)
        is_opening = len(sentence.split()) <= _OPENING_WORDS
        if not own and not clauses and not is_opening:
            return []
        clauses += own
    return clauses


def _read_sentence(sentence: str) -> list[Clause]:
    if re.match(r"(?i)only\b", sentence):
        return []  # "only push after running X" is about pushing
    clauses: list[Clause] = []
    for reader in _READERS:
        clauses += reader(sentence)
    return clauses


def _label(text: str) -> tuple[Clause | None, str]:
    """Return what a label such as *Python:* says, and the text without its label."""
    topic = leading_topic(text)
    if topic is not None:
        end = re.match(_LABEL_END, text[topic.end :])
        if end is not None:
            return topic.clause, text[topic.end + end.end() :]
    return None, re.sub(_WORDY_LABEL, "", text)


def _read_heading(heading: str) -> Iterator[Clause]:
    for pattern, command in _MOMENT_OF_HEADING:
        if re.fullmatch(pattern, heading, re.IGNORECASE):
            yield Clause(RUN, (command,))
            yield Clause(TASK, (command.split()[1],))


# Where a topic stands in a sentence ---------------------------------------------------------------


def _read_scope(sentence: str) -> Iterator[Clause]:
    """Read *In Python files, …* and *In src/api/ all names …*."""
    start = re.match(_SCOPE, sentence)
    if start is None:
        return
    after = sentence[start.end() :]
    topic = leading_topic(after)
    if topic is not None:
        following = after[topic.end :]
        if _ends_scope(topic, following):
            yield topic.clause
        return
    scope = re.match(_SCOPE_WORDS, sentence)
    if scope is not None:
        paths = paths_in(scope["scope"]) or folders_in(scope["scope"])
        if paths:
            yield Clause(PATH, tuple(paths))


def _ends_scope(topic: Topic, following: str) -> bool:
    """Whether nothing else belongs to the scope."""
    if topic.is_bare:
        return following[:1] in (",", ":")
    return re.match(r"\s*(?:\([^)]*\))?\s*(?:,|:|\s)", following) is not None and not re.match(
        r"\s+(?i:and|or|und|oder|et|ou|y|e)\s", following
    )


def _read_subject(sentence: str) -> Iterator[Clause]:
    """Read the subject of *Shell scripts start with …* and *Files under dist/ are …*."""
    topic = leading_topic(sentence)
    if topic is None or topic.is_bare:
        return
    if re.search(_TESTS_EXIST, sentence):
        return  # "Tests must pass" holds for the code that they test
    if _precedes_verb(topic, sentence[topic.end :]):
        yield topic.clause


def _precedes_verb(topic: Topic, following: str) -> bool:
    """Whether a verb is next, so that *topic* is a subject."""
    if topic.is_plain_path:
        return re.match(_MUST, following) is not None
    if re.match(_NO_VERB, following):
        return False
    return re.match(_VERB, following) is not None


def _read_trigger(sentence: str) -> Iterator[Clause]:
    """Read *when you touch src/api/\\*\\** and *before committing*."""
    for trigger in re.finditer(_TRIGGER, sentence):
        if re.search(r"(?i)(?:for example|e\.g\.|such as),?\s*$", sentence[: trigger.start()]):
            continue
        target = sentence[trigger.end() :]
        yield from _read_moment(target)
        verb = re.match(rf"(?i)(?:{_EDITING})\s+", target)
        if verb is not None:
            yield from _read_object(target[verb.end() :])
            continue
        topic = leading_topic(target)
        if topic is not None and re.match(_VERB_AT_END, target[topic.end :]):
            yield topic.clause


def _read_object(target: str) -> Iterator[Clause]:
    topic = leading_topic(target) or leading_topic(re.sub(_OBJECT_START, "", target))
    if topic is not None:
        is_whole = not (topic.is_bare and re.match(r"\s+\w", target[topic.end :]))
        if topic.clause.key != LANGUAGE or is_whole:
            yield topic.clause
        return
    folders = folders_in(re.split(r"[,;:]", target)[0])
    if folders:
        yield Clause(PATH, tuple(folders))


def _read_moment(target: str) -> Iterator[Clause]:
    determiners = r"(?:(?:a|an|the|each|every|any|your|chaque|cada|jedem|dem)\s+)?"
    for pattern, command in _MOMENTS:
        if re.match(rf"(?i){determiners}(?:{pattern})(?![\w-])", target):
            yield Clause(RUN, (command,))


def _read_changes(sentence: str) -> Iterator[Clause]:
    """Read *after changes to X* and *whenever X changes*."""
    for start in re.finditer(_CHANGES_TO, sentence):
        yield from _read_object(sentence[start.end() :])
    for start in re.finditer(_CHANGED_IN, sentence):
        yield from _path_clause(leading_paths(sentence[start.end() :]))
    for start in re.finditer(_SUBJECT, sentence):
        target = sentence[start.end() :]
        paths = leading_paths(target)
        if paths and re.match(_IS_CHANGED, target[len(paths) :]):
            yield from _path_clause(paths)


def _read_ending(sentence: str) -> Iterator[Clause]:
    """Read *Never sleep in tests.* and *Use pathlib in Python files.*"""
    is_forbidden = re.match(rf"(?i)(?:{_NOT}|no)\b", sentence) is not None
    if not is_forbidden and re.match(_PUTS, sentence):
        return
    for start in re.finditer(_ENDING, sentence):
        if start["before"].lower() in _NO_SCOPE_AFTER.split():
            continue
        phrase = sentence[start.end() :]
        topic = leading_topic(phrase)
        if topic is None or topic.is_bare or not re.match(_PHRASE_END, phrase[topic.end :]):
            continue
        is_other_part = re.search(r"[:–—]\s", sentence[: start.start()]) is not None
        may_be_place = is_forbidden and not is_other_part
        if may_be_place or topic.clause.key != PATH or _is_named(phrase):
            yield topic.clause


def _is_named(text: str) -> bool:
    """Whether *text* begins with a topic that has a name of its own, rather than with a path."""
    return not re.match(r"(?:\w+ ){0,4}[`*./]|(?:\w+ ){0,4}\S*/", text)


def _read_writing(sentence: str) -> Iterator[Clause]:
    """Read *Write commit messages in English.*"""
    start = re.match(_WRITES, sentence)
    if start is None:
        return
    topic = leading_topic(sentence[start.end() :])
    if topic is None or topic.clause.key != RUN:
        return
    if not re.match(r"(?:,| and| or)\s", sentence[start.end() + topic.end :]):
        yield topic.clause


def _read_branch(sentence: str) -> Iterator[Clause]:
    branch = re.search(_BRANCH, sentence)
    if branch is not None:
        yield Clause(BRANCH, (branch["branch"],))


# Commands and what is forbidden -------------------------------------------------------------------


def _read_commands(sentence: str) -> Iterator[Clause]:
    if "`" not in sentence:
        return
    for pattern in (_AROUND_RUN, _DONE_WITH, _ALL_COMMANDS):
        for match in re.finditer(pattern, sentence):
            yield from _command_clause(match["commands"], is_run=True)
    for pattern in (_AROUND_COMMAND, _COMMAND_IS):
        for match in re.finditer(pattern, sentence):
            yield from _command_clause(match["commands"])


def _read_prohibition(sentence: str) -> Iterator[Clause]:
    if "`" in sentence:
        for match in re.finditer(_NEVER_RUN, sentence):
            is_run = not match["verb"].lower().startswith("us")
            yield from _command_clause(match["commands"], is_run=is_run)
        for match in re.finditer(_NEVER_COMMAND, sentence):
            yield from _command_clause(match["commands"])
    for start in re.finditer(_NEVER_EDIT, sentence):
        yield from _path_clause(leading_paths(sentence[start.end() :]))


def _command_clause(words: str, *, is_run: bool = False) -> Iterator[Clause]:
    commands = commands_in(words, is_run=is_run)
    if commands:
        yield Clause(RUN, tuple(commands))


def _path_clause(words: str) -> Iterator[Clause]:
    paths = paths_in(words)
    if words and not paths:
        paths = folders_in(f"{words} folder")
    if paths:
        yield Clause(PATH, tuple(paths))


_READERS: tuple[Callable[[str], Iterator[Clause]], ...] = (
    _read_scope,
    _read_prohibition,
    _read_subject,
    _read_trigger,
    _read_changes,
    _read_ending,
    _read_writing,
    _read_branch,
    _read_commands,
)
