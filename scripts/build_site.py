"""Builds the documentation site from docs/: python scripts/build_site.py [FOLDER]

The pages are those of docs/, as GitHub shows them, a few files of the root, and what the program
itself says: the help of every command, and the Python API. A link to a file that isn't a page
becomes plain text. The site fetches nothing from elsewhere: no fonts, no scripts, no pictures. A
warning of Zensical, such as a link that leads nowhere, fails it.
"""

from __future__ import annotations

import ast
import enum
import inspect
import os
import re
import shutil
import subprocess
import sys
from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from brim import __version__, cli
from brim.config.settings import SETTINGS, Setting
from brim.record import PlainData

ROOT = Path(__file__).parent.parent
FROM_ROOT = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "NOTICE.md")
LINK = re.compile(r"(?<!!)\[([^\[\]]+)\]\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)")
CELL_CODE = re.compile(r"`[^`\n]*\\\|[^`\n]*`")
ANNOTATION = re.compile(r""": (?:ForwardRef\()?(?:'([^']*)'|"([^"]*)")\)?""")
"""How ``inspect`` writes a type that stands in the code as text."""
WIDTH = 88
GUIDES = {
    "config": "config.md",
    "guard": "builders.md",
    "messages": "messages.md",
    "models": "models.md",
    "money": "ledgers.md",
    "rules": "activation.md",
    "memory": "memory.md",
    "sessions": "context.md",
    "tokens": "tokens.md",
}
"""The packages that people import, and the page that explains each."""
DATA_TABLES = {
    "context.md": {"The keys of the JSON object": "context_json.tsv"},
    "report.md": {"The keys of the JSON object": "report_json.tsv"},
    "usage.md": {"The keys of the JSON object": "usage_json.tsv"},
    "message_rules.md": {
        "Checked": "history_rules.tsv",
        "Not checked": "history_not_checked.tsv",
    },
}
"""The pages of the site to which tables are added: too long to read on the page itself."""


def stage(folder: Path) -> None:
    """Write everything that Zensical reads into *folder*: its settings, and docs/ with all
    pages."""
    shutil.copytree(ROOT / "docs", folder / "docs")
    shutil.copy(ROOT / "zensical.toml", folder)
    for page in (ROOT / "docs").rglob("*.md"):
        (folder / page.relative_to(ROOT)).write_text(
            relinked(page, page.relative_to(ROOT / "docs")), "utf-8"
        )
    for name in FROM_ROOT:
        (folder / "docs" / name).write_text(relinked(ROOT / name, Path(name)), "utf-8")
    (folder / "docs" / "README.md").write_text(home_page(), "utf-8")
    name_version(folder / "zensical.toml")
    (folder / "docs" / "llms.txt").write_text(index_for_models(), "utf-8")
    for page_name, tables in DATA_TABLES.items():
        with_tables = folder / "docs" / page_name
        with_tables.write_text(with_tables.read_text("utf-8") + data_tables(tables), "utf-8")
    for place, text in reference_pages().items():
        (folder / "docs" / place).parent.mkdir(exist_ok=True)
        (folder / "docs" / place).write_text(text, "utf-8")


def home_page() -> str:
    """Return the first screen of README.md, and below it the list of all pages."""
    readme = relinked(ROOT / "README.md", Path("README.md")).replace("](docs/", "](")
    first_screen = readme.partition("\n## ")[0]
    pages = relinked(ROOT / "docs" / "README.md", Path("README.md"))
    _, _, lists = pages.partition("\n## ")
    return f"{first_screen}\n\n## {lists}"


def name_version(settings: Path) -> None:
    """Show the version beside the name, on every page."""
    text = settings.read_text("utf-8")
    settings.write_text(text.replace('site_name = "brim"', f'site_name = "brim {__version__}"'))


def index_for_models() -> str:
    """Return what a model reads instead of the navigation: each page, and what it covers."""
    pages = (ROOT / "docs" / "README.md").read_text("utf-8")
    promise = (ROOT / "README.md").read_text("utf-8").split("\n")[2]
    lines = ["# brim", "", f"> {promise}", ""]
    for links, subject in re.findall(r"(?m)^\| (\[.*?) \| (.*?) \|", pages):
        for title, target, _ in LINK.findall(links):
            page = os.path.normpath(Path("docs", target)).removeprefix("docs/")
            address = page.replace("README.md", "index.md").removesuffix(".md") + ".html"
            lines.append(f"- [{title}]({address}): {subject}".removesuffix(": "))
    return "\n".join([*lines, ""])


def relinked(page: Path, place: Path) -> str:
    """Return the text of *page* with links as they are in the site, where it's at *place*."""

    def link(found: re.Match[str]) -> str:
        text, target, anchor = found.groups()
        path = Path(os.path.normpath(page.parent / target)).relative_to(ROOT)
        if path.is_relative_to("docs"):
            path = path.relative_to("docs")
            path = path / "README.md" if (ROOT / "docs" / path).is_dir() else path
        elif str(path) not in FROM_ROOT:
            return text
        return f"[{text}]({os.path.relpath(path, place.parent)}{anchor or ''})"

    # In a table GitHub wants a bar inside of code escaped; Python-Markdown shows the backslash.
    return CELL_CODE.sub(
        lambda code: code[0].replace("\\|", "|"), LINK.sub(link, page.read_text("utf-8"))
    )


def build(folder: Path) -> Path:
    """Build the site in *folder*, which must be new or empty, and return where it is."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SystemExit(f"{folder}: is not empty; name a new folder, or none")
    folder.mkdir(parents=True, exist_ok=True)
    stage(folder)
    zensical = Path(sys.executable).with_name("zensical")
    ended = subprocess.run(
        [zensical, "build", "--strict"], cwd=folder, capture_output=True, text=True, check=False
    )
    if ended.returncode != 0:
        said = re.sub(r"\x1b\[[0-9;]*m", "", ended.stdout + ended.stderr).partition("Traceback")[0]
        raise SystemExit(f"The documentation can't be built:\n{said}")
    return folder / "site"


# What the program says ----------------------------------------------------------------------------


def reference_pages() -> dict[str, str]:
    """Return the generated pages, by their path in the site."""
    pages = {f"api/{name}.md": package_page(name) for name in GUIDES}
    return {
        "commands.md": commands_page(),
        "settings.md": settings_page(),
        "api/README.md": api_page(),
        "api/adapters.md": adapters_page(),
        **pages,
    }


def commands_page() -> str:
    """Return the help of every command, as ``brim COMMAND --help`` prints it."""
    groups = {
        "commands": list(cli.LISTED),
        "brim rules": [
            f"rules {name}" for name in cli.RULES if cli.RULES[name] != cli.COMMANDS["rules"]
        ],
        "brim dev": [f"dev {name}" for name in cli.DEV],
        "commands that agents and shells call": [
            name for name in cli.UNLISTED if name not in (*cli.DEV, "upgrade")
        ],
    }
    os.environ["COLUMNS"] = "80"
    text = "# Every command\n\nWhat `brim COMMAND --help` prints. [Command line](cli.md) says what all commands share.\n"
    for group, names in groups.items():
        text += f"\n## {group.capitalize()}\n"
        for name in names:
            text += (
                f"\n### brim {name}\n\n```text\n{cli.parser_of(name).format_help().rstrip()}\n```\n"
            )
    return text


def settings_page() -> str:
    """Return every setting, as the program declares it."""
    text = "# Every setting\n\n[Settings](config.md) says where values come from.\n\n"
    text += "| key | default | variable | meaning |\n|---|---|---|---|\n"
    for setting in SETTINGS:
        text += setting_row(setting)
    return text


def setting_row(setting: Setting) -> str:
    default = setting.shown(setting.default) or "-"
    variables = ", ".join(f"`{variable}`" for variable in setting.variables) or "-"
    return f"| `{setting.key}` | {default} | {variables} | {setting.help} |\n"


def data_tables(names: dict[str, str]) -> str:
    """Return tables of ``docs/data``, each below its title."""
    text = ""
    for title, name in names.items():
        lines = (ROOT / "docs" / "data" / name).read_text("utf-8").splitlines()
        header, *rows = ["| " + line.replace("\t", " | ") + " |\n" for line in lines]
        rule = "|" + "---|" * (lines[0].count("\t") + 1) + "\n"
        text += f"\n## {title}\n\n{header}{rule}{''.join(rows)}"
    return text


def public_names(package: str) -> dict[str, str]:
    """Return the names that ``brim.PACKAGE`` exports (``import x as x``), each with its module."""
    suffix = "py" if package else "pyi"
    path = ROOT / "src" / "brim" / package / f"__init__.{suffix}"
    tree = ast.parse(path.read_text("utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {
        alias.name: node.module
        for node in imports
        for alias in node.names
        if alias.asname == alias.name and node.module is not None and node.module != "brim"
    }


def api_page() -> str:
    """Return the page of ``brim`` itself: what is only there, and where the rest is explained."""
    places = {
        (module, name): package
        for package in GUIDES
        for name, module in public_names(package).items()
    }
    listed, told = [], []
    for name, module in sorted(public_names("").items(), key=lambda item: item[0].lower()):
        package = places.get((module, name))
        place = f"{package}.md" if package else ""
        listed.append(
            f"| [`brim.{name}`]({place}#{name.lower()}) | {first_line(import_module(module), name)} |"
        )
        if package is None:
            told.append(described(import_module(module), name))
    packages = [
        f"| [`brim.{name}`]({name}.md) | {question(name)} |"
        for name in sorted((*GUIDES, "adapters"))
    ]
    return (
        "# Python API\n\nEvery public name, from its docstring. [For people who build agents](../builders.md) is the "
        "place to start.\n\n| name | what it is |\n|---|---|\n"
        + "\n".join(listed)
        + "\n\n## Packages\n\n"
        "| package | the question it answers |\n|---|---|\n"
        + "\n".join(packages)
        + "\n\n## Only in `brim`\n\n"
    ) + "\n".join(told)


def package_page(package: str) -> str:
    """Return the page of ``brim.PACKAGE``."""
    text = f"# brim.{package}\n\n{question(package)} The guide: [{GUIDES[package][:-3]}](../{GUIDES[package]}).\n\n"
    names = sorted(public_names(package).items(), key=lambda item: item[0].lower())
    return text + "\n".join(described(import_module(module), name) for name, module in names)


def takes_settings(arguments: ast.arguments) -> bool:
    return arguments.kwarg is not None and arguments.kwarg.arg == "settings"


def adapters_page() -> str:
    """Return the page of ``brim.adapters``: what takes a guard's settings, read without importing
    the frameworks."""
    guide = "[builders](../builders.md#in-the-framework-that-you-use)"
    text = f"# brim.adapters\n\n{question('adapters')} *settings* are the arguments of `brim.Guard`. The guide: {guide}.\n"
    for path in sorted((ROOT / "src" / "brim" / "adapters").glob("*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            inside = node.body if isinstance(node, ast.ClassDef) else [node]
            made = [
                each
                for each in inside
                if isinstance(each, ast.FunctionDef) and takes_settings(each.args)
            ]
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name[0] != "_" and made:
                arguments = (
                    ast.unparse(made[0].args).removeprefix("self, ").replace("=", " = ").split(", ")
                )
                text += f"\n### {path.stem}.{node.name}\n\n{code(call(node.name, arguments))}\n"
                text += markdown(ast.get_docstring(node))
    return text


def question(package: str) -> str:
    return (import_module(f"brim.{package}").__doc__ or "").partition("\n")[0]


def first_line(module: object, name: str) -> str:
    return (inspect.getdoc(getattr(module, name)) or "").partition("\n")[0]


def described(module: ModuleType, name: str) -> str:
    """Return the section about *name* of *module*."""
    value = getattr(module, name)
    if inspect.isclass(value) and value.__name__ == name:
        return f"### {name}\n\n{class_text(value)}"
    if inspect.isroutine(inspect.unwrap(value)):
        return f"### {name}\n\n{code(signature(name, value))}\n{markdown(inspect.getdoc(value))}"
    said, about = assigned(ast.parse(inspect.getsource(module)).body)[name]
    return f"### {name}\n\n{code(f'{name} = {said}')}\n{markdown(about)}"


def class_text(kind: type) -> str:
    """Return the text about a class: how to make one, its fields, its properties and methods."""
    if issubclass(kind, enum.Enum):
        members = "".join(
            f"- `{kind.__name__}.{member.name}`: `{member.value!r}`\n" for member in kind
        )
        return f"{markdown(inspect.getdoc(kind))}\n{members}"
    is_protocol = getattr(kind, "_is_protocol", False)
    text = code(
        f"class {kind.__name__}(Protocol)"
        if is_protocol
        else signature(f"class {kind.__name__}", kind)
    )
    text += f"\n{markdown(inspect.getdoc(kind))}"
    tree = ast.parse(inspect.getsource(sys.modules[kind.__module__])).body
    body = next(
        (
            node.body
            for node in tree
            if isinstance(node, ast.ClassDef) and node.name == kind.__name__
        ),
        [],
    )
    fields = {
        name: about for name, (_, about) in assigned(body).items() if about and name[0] != "_"
    }
    rows = [f"| `{name}` | {' '.join(about.split())} |\n" for name, about in fields.items()]
    text += "\n| field | meaning |\n|---|---|\n" + "".join(rows) if rows else ""
    for name, value in vars(kind).items():
        about = (
            inspect.getdoc(value)
            if isinstance(value, property | classmethod | FunctionType)
            else None
        )
        if name[0] != "_" and about:
            full = f"{kind.__name__}.{name}"
            call = full if isinstance(value, property) else signature(full, getattr(kind, name))
            text += f"\n{code(call)}\n{markdown(about)}"
    return text


def assigned(body: list[ast.stmt]) -> dict[str, tuple[str, str]]:
    """Return the names that a class or module assigns, each with its value or type and the
    docstring below it."""
    found = {}
    for node, after in zip_longest(body, body[1:]):
        about = (
            after.value.value
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            else ""
        )
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = (ast.unparse(node.value or node.annotation), str(about))
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = (ast.unparse(node.value), str(about))
    return found


def signature(name: str, value: Any) -> str:
    """Return how *value* is called, one argument on each line if they are many."""
    try:
        found = inspect.signature(value)
    except ValueError:
        return name
    is_record = (
        inspect.isclass(value)
        and issubclass(value, PlainData)
        and value.__init__ is PlainData.__init__
    )
    taken = fields_of(value) if is_record else found.parameters.values()
    given = [each for each in taken if each.name != "self"]
    arguments, kinds = [argument(each) for each in given], [each.kind for each in given]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        arguments.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    answer = str(found.return_annotation).strip("'\"")
    end = (
        ""
        if name.startswith("class ") or found.return_annotation is found.empty
        else f" -> {answer}"
    )
    return call(name, arguments, end)


def call(name: str, arguments: list[str], end: str = "") -> str:
    line = f"{name}({', '.join(arguments)}){end}"
    return (
        line if len(line) <= WIDTH else f"{name}(\n    " + ",\n    ".join(arguments) + f",\n){end}"
    )


def fields_of(kind: Any) -> list[inspect.Parameter]:
    """Return the fields of a record as parameters."""
    hints = {
        name: hint
        for base in reversed(kind.__mro__)
        for name, hint in vars(base).get("__annotations__", {}).items()
    }
    named, empty = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.empty
    return [
        inspect.Parameter(name, named, default=getattr(kind, name, empty), annotation=hints[name])
        for name in kind.__match_args__
    ]


def argument(parameter: inspect.Parameter) -> str:
    """Return a parameter as code has it: types without quotes, no addresses of objects."""
    text = ANNOTATION.sub(r": \1\2", str(parameter))
    return re.sub(r"= <.*>$", "= ...", re.sub(r"= <(\w+\.\w+): .*>$", r"= \1", text))


def code(text: str) -> str:
    return f"```python\n{text}\n```\n"


def markdown(text: str | None) -> str:
    """Return a docstring as Markdown: its examples become blocks of code."""
    parts = (text or "").strip().split("\n\n")
    return (
        "\n\n".join(
            f"```python\n{part}\n```" if part.startswith(">>> ") else part for part in parts
        )
        + "\n"
    )


if __name__ == "__main__":
    usual = ROOT / "build" / "docs"
    if not sys.argv[1:]:
        shutil.rmtree(usual, ignore_errors=True)
    site = build(Path(sys.argv[1]).absolute() if sys.argv[1:] else usual)
    print(
        f"Open {site / 'index.html'}. To search too: python -m http.server --bind 127.0.0.1 --directory {site}"
    )
