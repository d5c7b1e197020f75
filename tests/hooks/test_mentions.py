"""Which calls a constraint speaks against, by its own words."""

from __future__ import annotations

from typing import Any

import pytest

from brim.agents import agent_named
from brim.agents.call import HookCall
from brim.hooks.mentions import Doing, mention
from tests.hooks.injected import tool_call


def found(text: str, tool: str, given: dict[str, Any], when: str = "") -> str:
    call = HookCall(
        agent=agent_named("claude"),
        event="before_tool",
        tool=tool_call(tool, given),
    )
    patterns = [when] if when else []
    return mention(text, patterns, Doing.of(call))


COMMANDS = {
    "Never run npm install; use pnpm.": (
        [
            "npm install",
            "cd web && npm install left-pad",
            "sudo npm install -g x",
            "FOO=1 npm install",
        ],
        [
            "pnpm install",
            "npm run build",
            'grep -rn "npm install" docs',
            "npm test",
            "npm installer",
        ],
    ),
    "Use uv, never pip.": (
        ["pip install requests", "pip list"],
        ["uv run pytest", "uv pip install x", "pipx run x"],
    ),
    "Use pnpm instead of npm": (["npm ci", "npm run build"], ["pnpm build"]),
    "Don't use `yarn`, we're on npm.": (["yarn add x"], ["npm install x"]),
    "Never push to main.": (
        ["git push", "git push origin main", "git push -u origin HEAD"],
        ["git push origin feature/x", "git status", "git pull"],
    ),
    "Never push tags.": (
        ["git push --tags", "git push origin refs/tags/v1"],
        ["git push", "git push origin x"],
    ),
    "Never use `rm -r` outside build/.": (
        ["rm -rf src", "rm -r build src"],
        ["rm -rf build", "rm -r build/a build/b"],
    ),
    "Never force-push.": (["git push --force", "git push -f origin x"], ["git push"]),
    "Never use git push --force.": (["git push origin main --force"], ["git push", "git status"]),
    "Never commit to main directly": (["git commit -m x"], ["git log", "git add ."]),
    "Never commit without running `make lint`.": (["git commit -am x"], ["make lint", "make test"]),
    "Never skip hooks with --no-verify": (
        ["git commit --no-verify -m x"],
        ["git commit -m x --verbose"],
    ),
    "Never run `rm -rf`.": (["rm -rf build", "rm -fr build"], ["rm build/x", "ls -rf"]),
    "Never run terraform apply yourself": (["terraform apply -auto-approve"], ["terraform plan"]),
    "Never make changes to the API without asking": ([], ["make test", "make"]),
    "Never log secrets": ([], ["git log", "docker logs x"]),
    "Never commit a plain Secret manifest.": ([], ["git commit -m x"]),
    "Don't use `Test` as a prefix of classes": ([], ["./scripts/test", "test -f x"]),
    "Never test in production": ([], ["npm test", "test -f x", "go test ./..."]),
    "Never add dependencies without asking": ([], ["git add ."]),
    "Never run npm run deploy": (["npm run deploy"], ["npm run build"]),
    "Never commit dist/.": (
        ["git add dist/app.js", "git commit -m x"],
        ["ls dist/", "cat dist/app.js"],
    ),
    "Never edit files in migrations/.": (
        [
            "rm migrations/0001.sql",
            "sed -i s/a/b/ migrations/0001.sql",
            "echo x > migrations/2.sql",
        ],
        [
            "ls migrations/",
            "cat migrations/0001.sql",
            "git diff migrations/",
            "cp migrations/0001.sql /tmp/a.sql",
        ],
    ),
    "`docker compose down -v` is forbidden.": (
        ["docker compose down -v"],
        ["docker compose down", "docker ps"],
    ),
    "Never run `php artisan migrate:fresh`.": (
        ["php artisan migrate:fresh"],
        ["php artisan migrate", "php -l a.php"],
    ),
    "Niemals `npm publish` ausführen.": (["npm publish"], ["npm pack"]),
}
EDITS = {
    "Never edit files in migrations/.": (
        ["migrations/0001.sql", "app/migrations/2.py"],
        ["app/models.py"],
    ),
    "vendor/ is off limits.": (["vendor/lib.c"], ["src/vendor.c"]),
    "Never touch package-lock.json by hand": (
        ["package-lock.json", "web/package-lock.json"],
        ["package.json"],
    ),
    "Never commit .env": ([], [".env"]),
    "Do not modify `src/generated`.": (["src/generated/api.ts"], ["src/general.ts"]),
    "Never import from src/internal": ([], ["src/internal/x.ts"]),
}
WRITTEN = {
    "Never use os.path in Python, use pathlib.": (
        ["a = os.path.join(b)"],
        ["from pathlib import Path", "os.pathsep"],
    ),
    "Never use `any` in TypeScript.": (
        ["let a: any = 1", "b as any", "Array<any>"],
        ["// any of them", "many: string"],
    ),
    "Never call setState in build()": (
        ["build() { setState(f) }"],
        ["add() { setState(f) }", "build() {}"],
    ),
    "Don't use console.log": (["console.log(a)"], ["logger.info(a)"]),
    "Never use print() for logging": (["print(a)"], ["pprint(a)", "blueprint", "print more"]),
    "Don't use std::endl, it flushes.": (["cout << std::endl;"], ["std::endless"]),
}


@pytest.mark.parametrize("text", COMMANDS)
def test_commands(text: str) -> None:
    about, others = COMMANDS[text]
    assert {each: bool(found(text, "Bash", {"command": each})) for each in (*about, *others)} == {
        **dict.fromkeys(about, True),
        **dict.fromkeys(others, False),
    }


@pytest.mark.parametrize("text", EDITS)
def test_edits(text: str) -> None:
    about, others = EDITS[text]
    given = {"old_string": "a", "new_string": "b"}
    assert {
        each: bool(found(text, "Edit", {"file_path": f"/p/{each}", **given}))
        for each in (*about, *others)
    } == {
        **dict.fromkeys(about, True),
        **dict.fromkeys(others, False),
    }


@pytest.mark.parametrize("text", WRITTEN)
def test_what_is_written(text: str) -> None:
    about, others = WRITTEN[text]
    for each in (*about, *others):
        given = {"file_path": "/p/src/a.py", "old_string": "", "new_string": each}
        assert bool(found(text, "Edit", given)) is (each in about), each
        assert not found(text, "Edit", {**given, "old_string": each}), "it was there before"
        assert not found(text, "Edit", {**given, "file_path": "/p/notes.md"}), "prose isn't code"


def test_a_declared_file_is_enough_but_an_ending_is_not() -> None:
    given = {"file_path": "/p/gen/api.py", "old_string": "a", "new_string": "b"}
    assert found("Regenerate it.", "Edit", given, when="gen/**") == "/p/gen/api.py"
    for pattern in ("*.py", "**/*.py", "**"):
        assert not found("Regenerate it.", "Edit", given, when=pattern)


def test_every_client_s_calls_are_read() -> None:
    text = "Never use os.path."
    patch = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-b\n+import os.path\n*** End Patch\n"
    assert found(text, "apply_patch", {"command": patch})
    assert found(text, "write_file", {"file_path": "/p/a.py", "content": "os.path.join(a)"})
    assert found(
        text,
        "replace",
        {"file_path": "/p/a.py", "old_string": "b", "new_string": "os.path.join(a)"},
    )
    edits = [{"old_string": "a", "new_string": "os.path.join(a)"}]
    assert found(text, "MultiEdit", {"file_path": "/p/a.py", "edits": edits})
    assert found("Never run npm install.", "shell", {"command": ["bash", "-lc", "npm install"]})
    assert found("Never run npm install.", "run_shell_command", {"command": "npm install"})


@pytest.mark.parametrize(
    "given", [{}, {"command": 3}, {"command": ""}, {"command": "'"}, {"command": "\0$(("}]
)
def test_nothing_that_a_call_may_hold_raises(given: dict[str, Any]) -> None:
    assert not found("Never run npm install.", "Bash", given)
