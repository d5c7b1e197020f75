"""opencode: its plugin is a file of brim's own, which sends Claude Code's events."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Brim
from tests.cli.stored import behavior, remember
from tests.install.installed import alone, let_hooks_wait, tree
from tests.waiting import PATIENCE

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="launchers are shell scripts here")

PLUGIN = ".config/opencode/plugin/brim.js"
RULE = "Never commit the files under dist/."

PLAY = """
const brim = (await import(process.argv[1])).default
const shown = []
const client = { tui: { showToast: async ({ body }) => shown.push(body.message) } }
const hooks = await brim.server({ client, directory: process.argv[2] })
const parts = [{ id: "prt_1", type: "text", text: "Please commit it." }]
await hooks["chat.message"]({ sessionID: "ses_1", model: { modelID: "m" } }, { message: { id: "msg_1" }, parts })
const call = async (command) => {
  const about = { tool: "bash", sessionID: "ses_1", callID: command }
  const output = { output: "done" }
  try {
    await hooks["tool.execute.before"](about, { args: { command } })
  } catch (error) {
    return `refused: ${error.message}`
  }
  await hooks["tool.execute.after"]({ ...about, args: { command } }, output)
  return output.output
}
const step = { id: "prt_2", sessionID: "ses_1", type: "step-finish", tokens: { input: 10, output: 5 }, cost: 3.5 }
const results = [await call("npm install x"), await call("echo hi")]
await hooks.event({ event: { type: "message.part.updated", properties: { part: step } } })
results.push(await call("echo one"), await call("echo two"))
await hooks.event({ event: { type: "session.idle", properties: { sessionID: "ses_1" } } })
console.log(JSON.stringify({ parts, results, shown }))
"""

PLAY_SECOND = """
const brim = (await import(process.argv[1])).default
const hooks = {}
const domain = (name) => ({ hook: async (event, act) => (hooks[`${name}.${event}`] = act) })
const steps = [
  { type: "session.step.ended", data: { sessionID: "ses_1", assistantMessageID: "msg_1", cost: 3.5, tokens: { input: 10, output: 5 } } },
]
const noSuchHook = { hook: async () => { throw new Error("there is no such hook") } }
await brim.setup({ location: { directory: process.argv[2] }, session: noSuchHook, tool: domain("tool") })
const left = Object.keys(hooks)
let followed
const ended = new Promise((resolve) => (followed = resolve))
const event = { async *subscribe() { yield* steps; followed() } }
await brim.setup({ location: { directory: process.argv[2] }, session: domain("session"), tool: domain("tool"), event })
await ended
const prompt = { text: "Please commit it." }
const session = { sessionID: "ses_1" }
let refused = ""
await hooks["session.prompt"]({ ...session, prompt }).catch((error) => (refused = error.message))
const results = []
for (const command of ["npm install x", "echo hi"]) {
  const about = { ...session, id: command, tool: "shell", input: { command } }
  try {
    await hooks["tool.execute.before"](about)
    const after = { ...about, status: "completed", result: { content: [{ type: "text", text: "done" }] } }
    await hooks["tool.execute.after"](after)
    results.push(after.result.content.map((part) => part.text).join("|"))
  } catch (error) {
    results.push(`refused: ${error.message}`)
  }
}
console.log(JSON.stringify({ id: brim.id, left, prompt, refused, results }))
"""


def use(brim: Brim) -> Path:
    (brim.home / ".config/opencode").mkdir(parents=True)
    return brim.home / PLUGIN


def test_it_comes_and_goes_whole(brim: Brim) -> None:
    path = use(brim)
    before = tree(brim.home)
    assert [each["file"] for each in alone(brim, "init", "--json").json["agents"]] == [str(path)]
    assert f"{brim.home}/.brim/bin/hook" in path.read_text()
    assert not any(each["changed"] for each in alone(brim, "init", "--json").json["agents"])
    let_hooks_wait(brim)
    found = {
        each["what"]: each["state"] for each in alone(brim, "doctor", "--json").json["findings"]
    }
    assert (found["opencode"], found["hook"]) == ("ok", "ok")
    path.write_text(path.read_text().replace("PATIENCE = 2000", "PATIENCE = 1"))
    assert "differ" in alone(brim, "doctor").out
    alone(brim, "doctor", "--fix")
    assert "PATIENCE = 2000" in path.read_text()
    alone(brim, "uninstall")
    assert [
        name for name in tree(brim.home) if name not in before and not name.startswith(".brim")
    ] == []


def test_a_plugin_of_somebody_else_with_that_name_stays(brim: Brim) -> None:
    path = use(brim)
    path.parent.mkdir()
    path.write_text("export const Mine = async () => ({})\n")
    ran = alone(brim, "init")
    assert (ran.code, "is not brim's" in ran.err) == (2, True)
    alone(brim, "uninstall")
    assert path.read_text() == "export const Mine = async () => ({})\n"


def play(brim: Brim, script: str) -> dict[str, Any]:
    """Run *script* with the plugin, as opencode does; return what it prints."""
    path = brim.home / PLUGIN
    module = path.with_suffix(".mjs")  # node takes it for a module, as opencode does
    plugin = path.read_text(encoding="utf-8")
    assert "PATIENCE = 2000" in plugin
    module.write_text(plugin.replace("PATIENCE = 2000", f"PATIENCE = {PATIENCE * 1000}"))
    let_hooks_wait(brim)
    ran = subprocess.run(
        ["node", "--input-type=module", "--eval", script, str(module), str(brim.cwd)],
        capture_output=True,
        text=True,
        env=brim.environ
        | {"PATH": "/usr/bin:/bin:" + str(Path(shutil.which("node") or "").parent)},
        check=True,
        timeout=300,
    )
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_rules_are_told_blocks_refuse_and_a_limit_holds(brim: Brim) -> None:
    use(brim)
    alone(brim, "init")
    remember(brim, behavior("b-0000000001", "constraint", RULE))
    assert brim("learn", "--user", "--block", "npm install", "Use pnpm").code == 0
    assert brim("limit", "--all", "3/day").code == 0
    found = play(brim, PLAY)
    assert RULE in found["parts"][1]["text"]
    assert found["parts"][1]["synthetic"] is True
    refused, fine, _, held = found["results"]
    assert "Use pnpm" in refused
    assert fine.startswith("done")
    assert held.startswith("refused: Stopped by your user's limit"), held
    assert any("limit" in each for each in found["shown"]), "the person is told"


COMMITTING = """
const { default: brim } = await import(process.argv[1])
const client = { tui: { showToast: async () => {} } }
const hooks = await brim.server({ client, directory: process.argv[2] })
let number = 0
const call = async (tool, args, exit = 0) => {
  const about = { tool, sessionID: "ses_1", callID: `call_${number++}` }
  const output = { output: "done", metadata: { exit } }
  try {
    await hooks["tool.execute.before"](about, { args })
  } catch (error) {
    return error.message
  }
  await hooks["tool.execute.after"]({ ...about, args }, output)
  return "ran"
}
const edit = { filePath: process.argv[2] + "/a.py", oldString: "secret one", newString: "secret two" }
const commit = { command: "git commit -m x" }
const results = []
results.push(await call("bash", commit))
await call("edit", edit)
await call("bash", { command: "make test" }, 2)
results.push(await call("bash", commit), await call("bash", { command: "make test" }))
results.push(await call("bash", { command: "git commit -m y" }))
console.log(JSON.stringify(results))
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="opencode's plugins run in Node")
def test_a_commit_waits_for_what_must_run_before_it(brim: Brim) -> None:
    path = use(brim)
    alone(brim, "init")
    let_hooks_wait(brim)
    alone(brim, "learn", "--user", "Run make test before you commit.")
    module = path.with_suffix(".mjs")
    module.write_text(path.read_text().replace("PATIENCE = 2000", f"PATIENCE = {PATIENCE * 1000}"))
    ran = subprocess.run(
        ["node", "--input-type=module", "--eval", COMMITTING, str(module), str(brim.cwd)],
        capture_output=True,
        text=True,
        env=brim.environ
        | {"PATH": "/usr/bin:/bin:" + str(Path(shutil.which("node") or "").parent)},
        check=True,
        timeout=300,
    )
    first, early, tests, late = json.loads(ran.stdout)
    assert (first, tests, late) == ("ran", "ran", "ran")
    assert "this has to run first: make test" in early
    (file,) = (brim.home / ".brim" / "opencode").iterdir()
    assert "secret" not in file.read_text()


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_what_opencode_2_would_call_tells_refuses_and_counts(brim: Brim) -> None:
    """opencode 2 itself can't be had: this is its interface as its sources describe it."""
    use(brim)
    alone(brim, "init")
    remember(brim, behavior("b-0000000001", "constraint", RULE))
    assert brim("learn", "--user", "--block", "npm install", "Use pnpm").code == 0
    found = play(brim, PLAY_SECOND)
    assert found["id"] == "brim"
    assert found["left"] == ["tool.execute.before", "tool.execute.after"], "others still work"
    assert RULE in found["prompt"]["text"]
    refused, fine = found["results"]
    assert "Use pnpm" in refused
    assert fine.startswith("done")
    total = json.loads(brim("usage", "--json").out)["total"]
    assert (total["requests"], total["cost"]) == (1, 3_500_000)
    assert brim("limit", "--all", "3/day").code == 0
    assert "Your prompt wasn't sent" in play(brim, PLAY_SECOND)["refused"]
