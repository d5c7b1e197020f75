#!/bin/sh
# A first tour of brim, on the text and messages beside this file.
set -eu
cd "$(dirname "$0")"

step() { printf '\n\033[1m%s\033[0m\n' "$1" | if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then cat; else sed 's/\x1b\[[0-9]*m//g'; fi; }
run() {
    printf '$'
    for word; do case $word in *" "*) printf ' "%s"' "$word" ;; *) printf ' %s' "$word" ;; esac; done
    printf '\n'
    "$@"
}

step "1. How many tokens is this? Exactly, offline, in milliseconds."
run brim count "Hello world" --model gpt-4o

step "2. Several files, as a share of the model's window."
run brim count notes.md import.py messages.json --model gpt-4o

step "3. Where the vocabulary is not public, the count says so, with an interval."
run brim count notes.md --model claude-sonnet-4-5

step "4. What fills the window? A conversation with a tool, and a directive that always goes in."
run brim budget --model gpt-3.5-turbo --messages messages.json --tools tools.json --directive "Never restart the importer while lock.json exists."

step "5. What do models hold, and what do they charge?"
run brim models gpt-4o claude-sonnet-4-5 gemini-2.5-pro

step "6. Too long? What stays is valid for its provider, and at most the target."
run brim fit agent.json --model gpt-4o --target 120

step "7. Broken by an interrupted run? Every violation is listed, and the smallest change that mends it."
run brim check broken.json || true
run brim repair broken.json --dry-run || true

step "8. A working memory put together: what goes in, what was left out, and why."
run brim assemble --config memory.yaml

step "9. What was corrected once comes back when it matters, within its budget."
shop=$(mktemp -d)
trap 'rm -r "$shop"' EXIT
mkdir -p "$shop/shop/.git"
cp rules.md "$shop/shop/CLAUDE.md"
(
    export BRIM_HOME="$shop/home"
    cd "$shop/shop"
    run brim import-rules CLAUDE.md --yes
    run brim learn --right "Run pytest with -x while you work on one failure." --wrong "ran all tests" --task testing
    run brim plan --prompt "add a test for the importer" --token-budget 60
    run brim plan --prompt "add a test for the importer" --token-budget 20..120
    run brim activate --session s1 --prompt "add a test for the importer"
    run brim why run-pytest --prompt "add a test for the importer"
)

step "10. How full is the window? A recorded session, from its start past the warning to its compaction."
speed=16
[ -t 1 ] || speed=500
run brim watch recorded/session.jsonl --replay "$speed"

step "11. What survives the compaction: human input, dead ends, changed files."
run brim scratch rebuild recorded/session.jsonl --worktree "$shop/shop"
run brim scratch show --worktree "$shop/shop"
run brim scratch get 6 --worktree "$shop/shop"

step "12. What it cost, each request once, and what may be spent."
(
    export BRIM_HOME="$shop/home"
    run brim usage recorded/session.jsonl --by model
    run brim spend limit shop 2.00
    run brim spend reserve shop/job-7 1.27 --request-id r1
    run brim spend settle r1 1.269612
    run brim spend reserve shop/job-8 0.90 --request-id r2 || true
    run brim spend status
)

step "13. The same from Python."
cat tour.py
printf '\n'
"$(dirname "$(command -v brim)")/python" tour.py
