"""Conditions that the words of a rule say: right nearly always, or not at all."""

from __future__ import annotations

import pytest

from brim.rules.prose import inferred_condition

RIGHT = [
    ("In Python files, use pathlib instead of os.path", "", "python"),
    ("In Go code, wrap errors with %w.", "", "go"),
    ("For TypeScript and Vue components, use script setup.", "", "typescript, vue"),
    ("In `src/api/`, every handler is async.", "", "src/api/**"),
    ("Under packages/ui/, use the design tokens.", "", "packages/ui/**"),
    ("In the `web` folder, use pnpm.", "", "web/**"),
    ("For `*.proto` files, keep field numbers stable.", "", "*.proto"),
    ("Python: type every public function.", "", "python"),
    ("TS: no default exports.", "", "typescript"),
    ("Rust code: no unwrap outside of tests.", "", "rust"),
    ("When you touch `src/api/**` update openapi.yaml", "", "src/api/**"),
    ("When you edit migrations/, run `make db-check`.", "", "migrations/**"),
    ("After changing `schema.prisma`, run `npx prisma generate`.", "", "schema.prisma"),
    ("Whenever you modify Dockerfile or docker-compose.yml, rebuild the image.", "", None),
    ("If you change proto/*.proto, regenerate the clients.", "", "proto/**/*.proto"),
    ("When writing Rust code, prefer iterators.", "", "rust"),
    ("Before editing files in `infra/`, read infra/README.md.", "", "infra/**"),
    ("Never edit `dist/`: change src/ and run make build.", "", "dist/**"),
    ("Do not modify generated files in src/gen/.", "", None),
    ("Don't touch `package-lock.json` by hand.", "", None),
    ("Do not edit `CHANGELOG.md` directly.", "", "CHANGELOG.md"),
    ("Changes to `.github/workflows/` need a review by ops.", "", ".github/workflows/**"),
    ("All files under src/legacy/ must keep the old header.", "", "src/legacy/**"),
    ("Never run `terraform apply` yourself.", "", "run terraform apply"),
    ("Don't use `pip install` or `pip3 install`.", "", "run pip install, pip3 install"),
    ("Before running `npm publish`, ask.", "", "run npm publish"),
    ("When you run `pytest`, pass -x.", "", "run pytest"),
    ("All `git commit` commands need --signoff.", "", "run git commit"),
    ("Use imperative mood and at most 50 characters.", "Commit messages", None),
    ("Link the issue.", "Pull requests", None),
    ("In tests, use factories instead of fixtures.", "", "test files"),
    ("Run `make lint` after every change to Python code.", "", "python"),
    ("Tests should not sleep.", "", None),
    ("In src/billing/ every amount is an integer.", "", "src/billing/**"),
    ("In all `.tsx` files use named exports.", "", "*.tsx"),
    ("In Kotlin files imports are sorted.", "", "kotlin"),
    ("In *.test.ts files, don't mock the clock.", "", "*.test.ts"),
    ("`config/*.yaml`: sort the keys.", "", "config/**/*.yaml"),
    ("If you change the Makefile, run `make help`.", "", "Makefile"),
    ("Whenever pyproject.toml changes, run `uv lock`.", "", "pyproject.toml"),
    ("If `api/schema.graphql` was edited, run codegen.", "", "api/schema.graphql"),
    ("When a model is added under `app/models/`, write a factory.", "", "app/models/**"),
    ("Before `git push`, rebase.", "", "run git push"),
    ("Look at the lock file after `npm install`.", "", "run npm install"),
    ("On main, never amend.", "", "branch main"),
    ("If you're on a `release/*` branch, only fix bugs.", "", "branch release/*"),
    ("Bei Änderungen an `schema.sql` die Doku anpassen.", "", "schema.sql"),
    ("Vor jedem `git push` rebasen.", "", "run git push"),
    ("Dans `src/vieux/`, ne change rien.", "", "src/vieux/**"),
    ("Avant de lancer `make deploy`, demande.", "", "run make deploy"),
    ("Cuando edites `locales/es.json`, avisa.", "", "locales/es.json"),
    ("Antes de hacer `git push`, ejecuta las pruebas.", "", "run git push"),
    ("Em arquivos `*.vue`, use script setup.", "", "*.vue"),
    ("Unit tests must not use the network.", "", None),
    ("Write commit messages in English.", "", "run git commit"),
    ("Commit messages: imperative mood, max 72 characters", "", "run git commit"),
    ("Don't mention me in commit messages.", "", "run git commit"),
    ("Before committing, run `make check`.", "", "run git commit"),
    ("Run the tests before pushing.", "", "run git push"),
    ("PR descriptions: link the ticket (`gh pr create`).", "", "run gh pr create"),
    ("`git commit --amend` is not allowed.", "", "run git commit --amend"),
    ("Before deploying with `fly deploy` run the smoke tests.", "", "run fly deploy"),
    ("Shell scripts start with `set -euo pipefail`.", "", "shell"),
    ("Python scripts in `tools/` must have a `main()`.", "", "tools/**"),
    ("Every file in `src/hooks/` exports one hook.", "", "src/hooks/**"),
    ("Files under `db/migrations/` are append only.", "", "db/migrations/**"),
    ("Tests: `*.spec.ts` files must not touch the network.", "", "*.spec.ts"),
    ("In Dockerfiles pin the base image.", "", "docker"),
    ("Use pathlib in Python files.", "", "python"),
    ("Never sleep in tests.", "", None),
    ("No business logic in `src/routes/`.", "", "src/routes/**"),
    ("`web/src/__tests__/server`: don't prune.", "", "web/src/__tests__/server/**"),
    ("In Python-Dateien keine relativen Importe.", "", "python"),
    ("Commit-Nachrichten auf Englisch schreiben.", "", "run git commit"),
    ("Wenn du `src/api/**` änderst, passe die Doku an.", "", "src/api/**"),
    ("Dans les fichiers TypeScript, pas de `any`.", "", "typescript"),
    ("Quand tu modifies `app/models/**`, avertis.", "", "app/models/**"),
    ("En archivos Python usa type hints.", "", "python"),
    ("Antes de ejecutar `npm publish`, pregunta.", "", "run npm publish"),
    ("Cuando toques `web/**`, avisa.", "", "web/**"),
    ("Em código Go, não ignore erros.", "", "go"),
]
"""Rules with the condition that they say; None for any."""

ALWAYS = [
    "Prefer small functions.",
    "Use uv, never pip.",
    "We use TypeScript and React.",
    "Tests must pass before you finish.",
    "Add tests for new features.",
    "Explain your plan first, for example in docs/plan.md.",
    "Use the logger, not print.",
    "Keep the README up to date.",
    "See docs/style.md for naming.",
    "The API is described in openapi.yaml.",
    "Use `useState()` sparingly.",
    "Don't use `any`.",
    "Never use `var`.",
    "In general, ask before you add a dependency.",
    "In short, keep it simple.",
    "For example, in Python files use pathlib.",
    "Note: Go slowly.",
    "Shell out as little as possible.",
    "Read src/app.py to understand the structure.",
    "Update openapi.yaml when the API changes.",
    "Use and/or sparingly in prose.",
    "Ask if in doubt.",
    "If you are not sure, ask.",
    "When you are done, summarize what you did.",
    "Before you finish, run `make test`.",
    "Log ids, never names.",
    "For large changes, propose a plan.",
    "Make changes in small steps.",
    "Never commit secrets.",
    "Before the tests run, start the database.",
    "After `foo()` returns, check the error.",
    "After `await`, check for cancellation.",
    "On call, answer within an hour.",
    "On macOS, use the coreutils.",
    "If the main branch is broken, fix it first.",
    "If package.json is missing, ask.",
    "Always work on a branch, never on main.",
    "In React, use hooks.",
    "In python-style pseudocode, explain the idea.",
    "Under no circumstances log tokens.",
    "Once the config is changed, restart.",
    "Change the database only through `pnpm db:migrate`. Never run `prisma db push`.",
    "Dependencies are managed with uv. Don't edit `uv.lock` by hand.",
]
"""Rules that are always true, or whose moment no pattern can tell."""


@pytest.mark.parametrize(("text", "heading", "condition"), RIGHT)
def test_what_a_rule_says(text: str, heading: str, condition: str | None) -> None:
    inferred = str(inferred_condition(text, heading))
    assert inferred != "always"
    if condition is not None:
        assert inferred == condition


@pytest.mark.parametrize("text", ALWAYS)
def test_what_a_rule_does_not_say(text: str) -> None:
    assert str(inferred_condition(text)) == "always"


def test_only_the_object_of_the_verb_counts() -> None:
    for text in (
        "When you touch src/api/** update openapi.yaml and docs/api.md",
        "If you change src/api/**, also change tests/api/** accordingly.",
    ):
        assert str(inferred_condition(text)) == "src/api/**"


def test_any_text_can_be_read() -> None:
    for text in ("", "`", "In , x", "When you edit ", "Never run ``", "**", "In ((((((, x" * 50):
        inferred_condition(text)
