"""What only looks like a dead end: what the sessions of coding agents are full of."""

from __future__ import annotations

from labelled.streams import CLAUDE, Scenarios, Session, scenario

UNSEEN_6_ALIKES: Scenarios = []


@scenario(UNSEEN_6_ALIKES)
def migration_shortens_the_list(s: Session) -> None:
    files = ["cart", "order", "refund", "stock", "voucher"]
    for i in range(len(files)):
        found = [
            f"lib/{name}.rb:{s.number(3, 90)}: Method `legacy_total` does not exist on `Money`"
            " https://srb.help/7003\n    "
            f"{s.number(3, 90)} |    money.legacy_total\n                 ^^^^^^^^^^^^"
            for name in files[i:]
        ]
        s.sh("bundle exec srb tc", "\n".join([*found, f"Errors: {len(found)}"]), 1)
        s.edit(f"/home/user/project/lib/{files[i]}.rb", "money.legacy_total", "money.total")
        s.filler()
    s.sh("bundle exec srb tc", "No errors! Great job.")
    s.end()


@scenario(UNSEEN_6_ALIKES)
def compiler_moves_down_the_file(s: Session) -> None:
    for line, code in (
        (14, "viewRow model row"),
        (52, "List.map viewCell cells"),
        (97, "text (total model)"),
    ):
        s.sh(
            "npx elm make src/Main.elm --output=/dev/null",
            "-- TYPE MISMATCH ------------------------------------------------- src/Table.elm\n\n"
            f"The 1st argument is not what I expect:\n\n{line}|     {code}\n{'^' * len(code):>{len(code) + 8}}\n"
            "This is a value of type:\n\n    Model\n\nBut I need it to be:\n\n    TableModel\n\n"
            "Detected errors in 1 module.",
            1,
        )
        s.edit("/home/user/project/src/Table.elm", code, code.replace("model", "model.table"))
        s.filler()
    s.sh("npx elm make src/Main.elm --output=/dev/null", "Success! Compiled 2 modules.")
    s.end()


@scenario(UNSEEN_6_ALIKES)
def racket_red_green(s: Session) -> None:
    for i, name in enumerate(("empty", "nested", "quoted", "escaped")):
        s.edit(
            "/home/user/project/tests/csv-test.rkt",
            ";; next",
            f'(check-equal? (csv "{name}") {i})\n;; next',
        )
        s.sh(
            "raco test tests/csv-test.rkt",
            "--------------------\nFAILURE\nname:       check-equal?\n"
            f"location:   tests/csv-test.rkt:{s.number(5, 60)}:2\nactual:     #f\nexpected:   {i}\n"
            f"--------------------\n1/{i + 1} test failures",
            1,
        )
        s.edit("/home/user/project/csv.rkt", f";; {name}", f"[({name}? x) {i}]")
        s.sh("raco test tests/csv-test.rkt", f"{i + 1} tests passed")
    s.end()


@scenario(UNSEEN_6_ALIKES, shapes=CLAUDE)
def person_wants_other_numbers(s: Session) -> None:
    path = "/home/user/project/source/limits.d"
    s.edit(path, "enum pageSize = 20;", "enum pageSize = 50;")
    for said, old, new in (
        ("guests should get 10 only", "enum pageSize = 50;", "enum pageSize = 10;"),
        (
            "I asked the client: 20 for everybody, as before",
            "enum pageSize = 10;",
            "enum pageSize = 20;",
        ),
    ):
        s.sh(
            "dub test",
            f"source/limits.d({s.number(9, 60)}): [unittest] pages differ\n1/4 modules FAILED unittests",
            1,
        )
        s.human(said)
        s.edit(path, old, new)
        s.filler()
    s.sh("dub test", "4 modules passed unittests")
    s.end()


@scenario(UNSEEN_6_ALIKES)
def flaky_browser_test(s: Session) -> None:
    for i in range(4):
        s.sh(
            "npx playwright test checkout.spec.ts",
            "Running 6 tests using 2 workers\n\n  1) [chromium] › checkout.spec.ts:"
            f"{s.number(5, 60)}:5 › pays by card\n\n    Test timeout of 30000ms exceeded.\n\n"
            "    Error: locator.click: Target closed\n\n"
            f"  1 failed\n    [chromium] › checkout.spec.ts:9:5 › pays by card\n  5 passed ({s.took()})",
            1,
        )
        s.sh(
            "npx playwright test checkout.spec.ts",
            f"Running 6 tests using 2 workers\n  6 passed ({s.took()})",
        )
        s.edit("/home/user/project/src/checkout.ts", f"// part {i}", f"addPart({i});")
        s.filler()
    s.end()


@scenario(UNSEEN_6_ALIKES)
def questions_with_exit_codes(s: Session) -> None:
    for _ in range(3):
        s.sh("systemctl is-active redis", "inactive", 3)
        s.sh("git merge-base --is-ancestor v2.0 HEAD", "", 1)
        s.sh("cmp -s dist/a.wasm dist/b.wasm", "", 1)
        s.sh("jq -e '.workspaces' package.json", "null", 1)
        s.sh("command -v tilt", "", 1)
        s.filler()
    s.end()


@scenario(UNSEEN_6_ALIKES, shapes=CLAUDE)
def person_says_no(s: Session) -> None:
    text = s.pick(
        "The user doesn't want to take this action right now. STOP what you are doing and wait for the user to tell"
        " you how to proceed.",
        "Permission to use Bash with command wrangler deploy has been denied.",
    )
    for command in (
        "wrangler deploy",
        "npx wrangler deploy",
        "wrangler deploy --dry-run",
        "wrangler deploy",
    ):
        s.tool("Bash", {"command": command}, text, True)
        s.filler()
    s.tool("Bash", {"command": "wrangler deploy"}, text, True)
    s.end()


@scenario(UNSEEN_6_ALIKES)
def server_starts_slowly(s: Session) -> None:
    ask = s.pick("grpcurl -plaintext localhost:50051 list", "http --check-status GET :50051/health")
    s.sh("docker compose up -d rpc", "Container rpc Started")
    for _ in range(s.number(3, 5)):
        s.sh(
            ask,
            'Failed to dial target host "localhost:50051": dial tcp 127.0.0.1:50051: connect: connection refused',
            1,
        )
        s.sh("sleep 5")
    s.sh(ask, "shop.v1.Orders")
    s.end()


@scenario(UNSEEN_6_ALIKES)
def script_linter_finds_more(s: Session) -> None:
    for text, code, tip in (
        ("rm -r $out", "SC2086", "Double quote to prevent globbing and word splitting."),
        ("cp $from $out", "SC2086", "Double quote to prevent globbing and word splitting."),
        ("cd build", "SC2164", "Use 'cd ... || exit' in case cd fails."),
        ("for f in `ls`", "SC2006", "Use $(...) notation instead of legacy backticks."),
    ):
        s.sh(
            "shellcheck bin/release.sh",
            f"In bin/release.sh line {s.number(3, 80)}:\n{text}\n   ^-- {code} (info): {tip}\n\n"
            f"For more information:\n  https://www.shellcheck.net/wiki/{code} -- {tip[:30]}...",
            1,
        )
        s.edit(
            "/home/user/project/bin/release.sh", text, text.replace("$out", '"$out"') + " || exit 1"
        )
    s.end()


@scenario(UNSEEN_6_ALIKES, shapes=CLAUDE)
def own_prints_are_taken_out(s: Session) -> None:
    path, old, new = s.random.choice(
        [
            ("src/tally.nim", "let n = count(rows)", "let n = count(rows)\necho repr(n)"),
            (
                "source/app.d",
                "auto n = count(rows);",
                'auto n = count(rows);\nstderr.writefln("n %s", n);',
            ),
            ("csv.rkt", "(define n (count rows))", "(define n (count rows))\n(displayln n)"),
            ("src/heat.f90", "call step(u)", "call step(u)\nprint *, 'u', u(1)"),
        ]
    )
    s.edit(f"/home/user/project/{path}", old, new)
    s.sh("make run", "n 12")
    s.filler()
    s.edit(f"/home/user/project/{path}", new, old)
    s.filler(4)
    s.end()


@scenario(UNSEEN_6_ALIKES)
def proxy_settings_are_felt_out(s: Session) -> None:
    for i, error in enumerate(
        (
            "unknown keyword 'bind-to' in 'frontend' section",
            "'server web1' : could not resolve address 'web1'",
            "missing timeouts for backend 'shop'",
            "unable to load SSL certificate file '/etc/ssl/shop.pem'",
        )
    ):
        s.sh(
            "haproxy -c -f haproxy.cfg",
            f"[ALERT]    ({s.number(100, 9999)}) : config : parsing [haproxy.cfg:{s.number(4, 40)}] : {error}.\n"
            f"[ALERT]    ({s.number(100, 9999)}) : config : Fatal errors found in configuration.",
            1,
        )
        s.edit("/home/user/project/haproxy.cfg", f"# {i}", f"option {i}")
    s.sh("haproxy -c -f haproxy.cfg", "Configuration file is valid")
    s.end()


@scenario(UNSEEN_6_ALIKES)
def snapshots_are_updated(s: Session) -> None:
    was = "<b>Total</b>"
    for now in ("<strong>Total</strong>", "<h3>Total</h3>", "<h3>Sum</h3>"):
        s.edit("/home/user/project/src/Summary.tsx", was, now)
        s.sh(
            "bun test src/Summary.test.tsx",
            f"bun test v1.1.{s.number(1, 40)}\n\nsrc/Summary.test.tsx:\nerror: expect(received).toMatchSnapshot()\n\n"
            f"- {was}\n+ {now}\n\n(fail) Summary > renders [{s.number(1, 30)}.{s.number(10, 99)}ms]\n\n"
            f" 3 pass\n 1 fail\n 1 snapshots, 4 expect() calls\nRan 4 tests across 1 files. [{s.number(90, 400)}.00ms]",
            1,
        )
        s.sh(
            "bun test src/Summary.test.tsx --update-snapshots",
            " 4 pass\n 0 fail\n snapshots: +1 updated",
        )
        was = now
    s.end()


@scenario(UNSEEN_6_ALIKES)
def versions_are_halved(s: Session) -> None:
    for version, bad in (
        ("3.2.0", True),
        ("3.0.0", False),
        ("3.1.0", True),
        ("3.0.4", False),
        ("3.0.8", True),
    ):
        s.sh(
            f"nimble install -y chronos@{version}",
            f"Success:  chronos installed successfully ({version}).",
        )
        out = f"  [FAILED] timers fire in order\nError: unhandled exception: tests/ttimer.nim({s.number(9, 40)})"
        s.sh("nim c -r tests/ttimer.nim", out if bad else "  [OK] timers fire in order", int(bad))
    s.end()


@scenario(UNSEEN_6_ALIKES)
def conflicts_of_a_rebase(s: Session) -> None:
    path = "/home/user/project/src/routes.purs"
    s.edit(path, "home", "start")
    s.sh("git commit -qam 'Rename home'", "")
    for i, command in enumerate(
        ("git rebase main", *["GIT_EDITOR=true git rebase --continue"] * 3)
    ):
        sha = f"{s.random.getrandbits(28):07x}"
        s.sh(
            command,
            f"Auto-merging src/routes.purs\nCONFLICT (content): Merge conflict in src/routes.purs\n"
            f"error: could not apply {sha}... Step {i} of the routes\n"
            'hint: Resolve all conflicts manually, mark them as resolved with "git add"\n'
            f"Could not apply {sha}... Step {i} of the routes",
            1,
        )
        if i == 2:
            s.sh(
                "git checkout --theirs src/routes.purs && git add src/routes.purs",
                "Updated 1 path from the index",
            )
        else:
            s.edit(path, f"<<<<<<< HEAD {i}", f"route{i}")
            s.sh("git add src/routes.purs")
    s.sh(
        "GIT_EDITOR=true git rebase --continue",
        "Successfully rebased and updated refs/heads/routes.",
    )
    s.end()
