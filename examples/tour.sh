#!/bin/sh
# The demo: a recorded Claude Code session played through brim's installed hooks, then counting and fitting from the
# command line. It runs in a temporary home; yours isn't touched.
set -eu
cd "$(dirname "$0")"

place=$(cd "$(mktemp -d)" && pwd -P) # macOS reaches it through a link, and brim prints where that leads
trap 'rm -rf "$place"' EXIT
trap 'exit 130' INT TERM
for name in $(env | sed -nE 's/^((BRIM|CLAUDE|CODEX|GEMINI)_?[A-Z_]*)=.*/\1/p'); do unset "$name"; done
mkdir -p "$place/home/.claude" "$place/shop/.git"
export HOME="$place/home"
python="$(dirname "$(command -v brim)")/python"
here=$PWD

step() {
    if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then printf '\n\033[1m%s\033[0m\n' "$1"; else printf '\n%s\n' "$1"; fi
}
# Prints a command as you would type it, then runs it; paths of the temporary home are shown as ~.
run() {
    printf '$'
    for word; do case $word in *" "*) printf ' "%s"' "$word" ;; *) printf ' %s' "$word" ;; esac; done
    printf '\n'
    status=0
    said=$("$@" 2>&1) || status=$?
    printf '%s\n' "$said" | sed -e "s|$place/shop|~/shop|g" -e "s|$HOME|~|g"
    return "$status"
}

step "Add brim to Claude Code, teach it a rule, and set a limit of one dollar."
mkdir -p "$HOME/.brim"
cp learned.toml "$HOME/.brim/rules.toml" # 23 rules, as `brim learn` writes them
cp rules.md "$HOME"
(cd ~ && brim rules import rules.md --user --yes) >/dev/null 2>&1
cd "$place/shop"
run brim init --agent claude
run brim learn --user --block "pip install" "Use uv, not pip."
run brim limit 1

step "A session, played through the hooks that were just installed."
"$python" "$here/replay.py" "$place/shop"

step "What you have afterwards: what the compaction dropped, and what the session cost."
run brim memory lost
(cd "$here" && run brim usage recorded/session.jsonl --by model)

cd "$here"
step "For people who build agents: count, fit, and go around each call."
run brim dev count notes.md messages.json --model claude-sonnet-4-5
printf '$ brim dev fit agent.json --model gpt-4o --tokens 120 > fitted.json
'
brim dev fit agent.json --model gpt-4o --tokens 120 2>&1 >/dev/null | sed -n '1,3p'
printf '$ python agent_loop.py\n'
"$python" agent_loop.py

step "In that session, brim"
"$python" sum_up.py "$place/shop"
