#!/bin/sh
# A tour of brim, on what lies beside this file: counting and fitting, then the whole loop on a recorded session, inside a
# pretended Claude Code. It happens in a home of its own that is removed at the end; yours is not touched.
set -eu
cd "$(dirname "$0")"

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
trap 'exit 130' INT TERM
for name in $(env | sed -nE 's/^((BRIM|CLAUDE|CODEX|GEMINI)_?[A-Z_]*)=.*/\1/p'); do unset "$name"; done
mkdir -p "$place/home/.claude" "$place/shop/.git"
export HOME="$place/home"
python="$(dirname "$(command -v brim)")/python"
here=$PWD

step() { printf '\n\033[1m%s\033[0m\n' "$1" | if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then cat; else sed "s/$(printf '\033')\[[0-9]*m//g"; fi; }
typed() {
    printf '$'
    for word; do case $word in *" "*) printf ' "%s"' "$word" ;; *) printf ' %s' "$word" ;; esac; done
    printf '\n'
}
run() {
    typed "$@"
    "$@"
}
# The same, with the home as ~ and the project as ~/shop.
run_at_home() {
    typed "$@"
    status=0
    said=$("$@" 2>&1) || status=$?
    printf '%s\n' "$said" | sed -e "s|$HOME|~|g" -e "s|$place/shop|~/shop|g"
    return "$status"
}

step "1. How many tokens is this? Exactly, offline, in milliseconds."
run brim count "Hello world" --model gpt-4o

step "2. Several files; where the vocabulary is not public, the count says so, with an interval."
run brim count notes.md import.py messages.json --model claude-sonnet-4-5

step "3. What fills the window? A conversation with a tool, and a directive that always goes in."
run brim budget --model gpt-3.5-turbo --messages messages.json --tools tools.json --directive "Never restart the importer while lock.json exists."

step "4. What do models hold, and what do they charge?"
run brim models gpt-4o claude-sonnet-4-5 gemini-2.5-pro

step "5. Too long? What stays is valid for its provider, and at most the target."
run brim fit agent.json --model gpt-4o --target 120

step "6. Broken by an interrupted run? Every violation is listed, and the smallest change that mends it."
run brim check broken.json || true
run brim repair broken.json --dry-run || true

step "7. A working memory put together: what goes in, what was left out, and why."
run brim assemble --config memory.yaml

step "8. The same from Python."
cat tour.py
printf '\n'
"$python" tour.py

step "9. The loop begins: rules of other projects, a file of notes, and a correction of today."
cp "$here/learned.jsonl" "$here/rules.md" "$place/home"
cd ~
run brim import learned.jsonl --user --yes | sed -n '1p;$p'
run brim import-rules rules.md --user --yes
cd "$place/shop"
run_at_home brim learn --user --right "Run pytest with -x while you work on one failure." --wrong "ran all tests" --task testing

step "10. What would an agent be told now? It depends on the prompt, and never exceeds its budget."
run brim plan --prompt "add a test for the importer" --token-budget 80
run brim plan --prompt "add a test for the importer" --token-budget 20..120
run brim why run-pytest --prompt "add a test for the importer"

step "11. Into the agent: hooks and a status line in its own settings. Does it work?"
run_at_home brim init --agent claude
run_at_home brim doctor || true

step "12. A session with a limit of one dollar. Each of its hook calls runs as the agent would run it."
run brim spend limit shop 1.00
"$python" "$here/replay.py" "$place/shop"

step "13. What survived the compaction: human input, a dead end, changed files."
run brim scratch show
run brim scratch get 7

step "14. How full its window was, and what it cost, each request once."
cd "$here"
if [ -t 1 ]; then run brim watch recorded/session.jsonl --replay 16; else run brim watch recorded/session.jsonl --once; fi
run brim usage recorded/session.jsonl --by model
run brim spend status

step "15. Out again: the settings are as they were, what was learned stays."
run_at_home brim uninstall

step "16. In the end."
"$python" sum_up.py "$place/shop"
