"""What must not be stored is not; what only looks like it stays; and masking twice is masking
once."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import brim.masking
from brim.masking import mask, masked, without_login

# Made up, and put together here so that no scanner takes them for real ones.
SECRETS = {
    "anthropic key": "sk-ant-" + "api03-Zx9Qw8Er7Ty6Ui5Op4As3Df2",
    "openai key": "sk-" + "proj-Zx9Qw8Er7Ty6Ui5Op4As3Df2Gh1Jk0",
    "openrouter key": "sk-or-" + "v1-0123456789abcdef0123456789abcdef",
    "aws key": "AKIA" + "QW8ER7TY6UI5OP4A",
    "github token": "ghp_" + "Zx9Qw8Er7Ty6Ui5Op4As3Df2Gh1Jk0Lz9Xc8",
    "gitlab token": "glpat-" + "Zx9Qw8Er7Ty6Ui5Op4As",
    "slack token": "xoxb-" + "123456789012-abcdefABCDEF",
    "google key": "AIza" + "SyZx9Qw8Er7Ty6Ui5Op4As3Df2Gh1Jk0Lz9",
    "stripe key": "sk_live_" + "Zx9Qw8Er7Ty6Ui5Op4As3Df2",
    "npm token": "npm_" + "Zx9Qw8Er7Ty6Ui5Op4As3Df2Gh1Jk0Lz9Xc8",
    "pypi token": "pypi-" + "AgEIcHlwaS5vcmcCJDAwMDAwMDAwLTAwMDAtMDAwMC0wMDAw",
    "hugging face token": "hf_" + "Zx9Qw8Er7Ty6Ui5Op4As3Df2Gh1Jk0Lz9X",
    "tailscale key": "tskey-" + "auth-kZx9Qw8Er7Ty-CNTRLZx9Qw8Er7Ty6",
    "planetscale token": "pscale_" + "pw_Zx9Qw8Er7Ty6Ui5Op4As3Df2",
    "fly token": "fm2_" + "Zx9Qw8Er7Ty6Ui5Op4As3Df2" * 2,
    "square token": "sq0csp-" + "Zx9Qw8Er7Ty6Ui5Op4As3Df2",
    "json web token": "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.Zx9Qw8Er7Ty6Ui5Op4As3",
}


@pytest.mark.parametrize("label", SECRETS)
def test_key_of_a_provider_is_masked_and_says_what_it_was(label: str) -> None:
    for around in ("{}", "use {} here", "'{}'", '{{"a": "{}"}}', "({}).", "\n{}\n"):
        assert masked(around.format(SECRETS[label])) == (around.format(f"[masked {label}]"), 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("DB_PASSWORD=hunter2", "DB_PASSWORD=[masked password]"),
        ("PGPASSWORD=hunter2 psql -h db", "PGPASSWORD=[masked password] psql -h db"),
        ("dbpassword = 's3cret'", "dbpassword = '[masked password]'"),
        ("export MY_TOKEN='a b'", "export MY_TOKEN='[masked token]'"),
        ("api_key: abc", "api_key: [masked key]"),
        ("  - db_password: 'x y'", "  - db_password: '[masked password]'"),
        ('{"clientSecret":"q\\"w", "n": 1}', '{"clientSecret":"[masked secret]", "n": 1}'),
        ('"{\\"password\\": \\"p\\"}"', '"{\\"password\\": \\"[masked password]\\"}"'),
        (
            "https://x.io/?access_token=abc&page=2",
            "https://x.io/?access_token=[masked token]&page=2",
        ),
        ("AccountKey=ab+cd==;Suffix=core", "AccountKey=[masked key];Suffix=core"),
        ("curl -H 'X-Api-Key: abc123' x.io", "curl -H 'X-Api-Key: [masked key]' x.io"),
        ("mysql --password hunter2 db", "mysql --password [masked password] db"),
        ("postgres://me:s3cr3t@db:5432/x", "postgres://me:[masked password]@db:5432/x"),
        ("Authorization: Bearer abc.def.ghi", "Authorization: Bearer [masked authorization]"),
        ('-H "authorization: Basic dTpw" x', '-H "authorization: Basic [masked authorization]" x'),
        ('{"Authorization": "Token abc"}', '{"Authorization": "Token [masked authorization]"}'),
        ("Cookie: sid=abc; theme=dark\nHost: x", "Cookie: [masked cookie]\nHost: x"),
        ("Set-Cookie: sid=abc; HttpOnly", "Set-Cookie: [masked cookie]"),
        ("Cookie: jwt=" + SECRETS["json web token"] + "; sid=abc", "Cookie: [masked cookie]"),
    ],
)
def test_value_is_masked_where_its_name_says_that_it_is_secret(text: str, expected: str) -> None:
    assert masked(text) == (expected, 1)


def in_context() -> list[list[str]]:
    """Return texts with a secret, and the secret; ``\\n`` is a new line."""
    path = Path(__file__).parent / "secrets_in_context.tsv"
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines():
        text = line.replace("\\\\", "\0").replace("\\n", "\n").replace("\0", "\\")
        rows.append(text.split("\t"))
    return rows


@pytest.mark.parametrize(
    "address",
    ["u:Birch8Stone", "Birch8Stone@db", "postgresql:app/Birch8Stone@h", "h?password=Birch8Stone@x"],
)
def test_an_address_for_people_has_no_password(address: str) -> None:
    assert "Birch8Stone" not in without_login(address)


@pytest.mark.parametrize(("text", "secret"), in_context())
def test_a_secret_is_masked_in_its_place(text: str, secret: str) -> None:
    assert secret not in mask(text)


@pytest.mark.parametrize(
    "text",
    [
        "The password is required, and the pw is case-sensitive.",
        "name,value\nuser,password\n",
        "| option | password |\n|---|---|\n| --password | the user's password |",
        "def f(user, password):\n    return g(user, password)",
        "user, password = login()\nsave(user, password)",
        'label = "username"  # not the password field',
        'name = "password"  # password',
        "seed: the words of the list are shown when the user asks for them again later today",
        "Le mot de passe est obligatoire pour continuer.",
        "postgresql://me@db:5432/a and someone@example.org",
        "7z x -p archive.7z; net user; net user anna /delete; setx PATH x",
        "",
        "Use uv, not pip.",
        "git show 0123456789abcdef0123456789abcdef01234567",
        "id 123e4567-e89b-12d3-a456-426614174000",
        "sha256:" + "0f" * 32,
        "/home/me/.ssh/id_rsa and src/api_key.py",
        "SSH_KEY=/home/me/.ssh/id_rsa TLS_KEY=./k.pem",
        "API_TOKEN=$TOKEN OTHER_KEY=${KEY} PASSWORD=$(pass show x)",
        "api_key: ${{ secrets.API_KEY }}",
        "API_KEY=<your key>",
        'headers={"Authorization": f"Bearer {token}"}',
        'curl -H "Authorization: Bearer $TOKEN" x.io',
        "Never log the password: it is a secret.",
        "Never pass --password on the command line.",
        "Set API_KEY= before running.",
        "Send the Authorization: header with each call; set no Cookie: without Secure.",
        "id = Column(Integer, primary_key=True); sorted(rows, key=by_name); max_token=5",
        "def connect(api_key: str, password: str | None = None) -> None:",
        'secret = os.environ["SECRET"]; token = make_token(user)',
        'if token == "abc" and keys[0]: monkey = 5',
        '{"max_tokens": 500, "token": 12}',
        "task-management-with-a-long-name-and-1-number",
        "http://localhost:8080/a@b mailto:me@example.com",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "The block begins with -----BEGIN PRIVATE KEY----- and is secret.",
        "\ud800 lone",
    ],
)
def test_what_holds_no_secret_stays(text: str) -> None:
    assert masked(text) == (text, 0)


def test_private_key_goes_and_every_newline_stays() -> None:
    block = "-----BEGIN RSA PRIVATE KEY-----\nMIIEabc+/=\nAAAA\n-----END RSA PRIVATE KEY-----"
    assert mask(f"a\n{block}\nb") == "a\n[masked private key]\n\n\n\nb"


def test_private_key_that_was_cut_off_is_masked_as_far_as_it_goes() -> None:
    text = (
        "-----BEGIN OPENSSH PRIVATE KEY-----\n"
        + "Ab1+" * 16
        + "\n"
        + "Cd2/" * 8
        + "\n\nand then prose"
    )
    assert mask(text) == "[masked private key]\n\n\n\nand then prose"


def test_private_key_in_a_json_text_keeps_the_json_readable() -> None:
    text = '{"k": "-----BEGIN PRIVATE KEY-----\\nMIIEabc\\n-----END PRIVATE KEY-----\\n"}'
    assert mask(text) == '{"k": "[masked private key]\\n"}'


def test_every_secret_of_a_text_is_counted() -> None:
    text = " ".join(SECRETS.values())
    assert masked(text)[1] == len(SECRETS)


PIECES = [
    *SECRETS.values(),
    *(
        "PASSWORD=",
        "api_key: ",
        '"token": "',
        "--token ",
        "Authorization: Bearer ",
        "authorization=",
        "Cookie: a=b",
    ),
    *(
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "\nAAAAAAAAAAAAAAAAAAAA",
        "[masked key]",
        "[masked ",
    ),
    *(
        "://u:p@h",
        "://",
        "@",
        "sk-",
        "eyJ",
        "abc1",
        "$X",
        "${",
        "/home/me",
        "&x=1",
        "cookie ",
        "]",
        "(",
        ")",
        "é",
    ),
    *("'", '"', "\\", "\n", " ", "=", ":", ";", "."),
]
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=14).map("".join)


@given(texts)
def test_masking_twice_is_masking_once(text: str) -> None:
    once = mask(text)
    assert masked(once) == (once, 0)


@given(texts)
def test_newlines_stay_as_many_as_they_were(text: str) -> None:
    assert mask(text).count("\n") == text.count("\n")


@given(st.sampled_from(sorted(SECRETS)), texts, texts)
def test_no_key_survives_whatever_stands_around_it(label: str, before: str, after: str) -> None:
    assert f" {SECRETS[label]} " not in mask(f"{before} {SECRETS[label]} {after}")


def _patterns() -> list[str]:
    table = (Path(brim.masking.__file__).parent / "data" / "masking.tsv").read_text(
        encoding="utf-8"
    )
    return [
        line.split("\t")[3] for line in table.splitlines() if line.startswith(("shape", "inside"))
    ]


@pytest.mark.parametrize("pattern", _patterns())
def test_shape_cannot_go_back_over_a_long_text(pattern: str) -> None:
    """A repetition without a bound is the last thing in its shape, or possessive: then nothing is
    tried twice."""
    from re import _constants, _parser  # type: ignore[attr-defined]

    def check(items: list[Any], last: bool) -> None:
        for number, (op, value) in enumerate(items):
            ends = last and number == len(items) - 1
            if op is _constants.MAX_REPEAT:
                assert ends or value[1] != _constants.MAXREPEAT
            inner = {
                _constants.SUBPATTERN: -1,
                _constants.MAX_REPEAT: 2,
                _constants.POSSESSIVE_REPEAT: 2,
            }.get(op)
            for branch in value[1] if op is _constants.BRANCH else [value[inner]] if inner else []:
                check(list(branch), ends)

    check(list(_parser.parse(pattern)), True)


UNITS = [
    *(
        "a",
        "key",
        "token=",
        "_TOKEN=$(",
        "a-",
        "sk-",
        "eyJaaaaaaaaaaaa.",
        "://a:b",
        "cookie: ",
        "cookie=a=b;",
    ),
    *(
        "-----BEGIN PRIVATE KEY-----\n",
        "authorization: bearer ",
        'password="',
        "a_token: x y",
        "token =   ",
    ),
    *(
        "_key=/a/b",
        "12345678:AA",
        "SG.aaaaaaaaaaaaaaaaaaaa",
        "[masked key]",
        "password a ",
        "machine a ",
        "echo a ",
    ),
    *(
        "<password ",
        "password\n value=",
        "password: str ",
        "login('a', ",
        "://a1b2c3d4e5f6a7b8:",
        "a:5432:a:a:",
        "curl -u ",
    ),
    *(
        ":x@tcp(",
        "_v1_",
        "kind: Secret\n",
        "kind: Secret\ndata:\n  a: b\n",
        "{'kty",
        "cookies={",
        "password for a: ",
    ),
]


@pytest.mark.parametrize("unit", UNITS)
def test_long_text_of_anything_is_masked(unit: str) -> None:
    """Quadratic work on this length would take many seconds, and be seen; how fast it is, is for
    bench/."""
    text = unit * (20_000 // len(unit))
    assert masked(mask(text))[1] == 0


def test_many_beginnings_of_a_private_key_and_one_end_are_masked() -> None:
    text = "-----BEGIN PRIVATE KEY-----\nx y " * 30_000 + "-----END PRIVATE KEY-----"
    assert masked(mask(text))[1] == 0


@pytest.mark.parametrize("colour", ["\x1b[m", "\x1b[1m", "\x1b[31m", "\x1b[1;31m", "\x1b[38;5;9m"])
def test_a_secret_in_colour_is_masked_too(colour: str) -> None:
    assert (
        mask(f"{colour}ghp_abcdefghij0123456789abcd\x1b[0m")
        == f"{colour}[masked github token]\x1b[0m"
    )


SPLIT = "sk-ant-api03-" + "aB3dQ9xZ" * 6


@pytest.mark.parametrize(
    "text",
    [
        "mysql -u root -phunter2Pass9 shop",
        "mysqldump --single-transaction -p'hunter2Pass9' shop",
        "sshpass -p hunter2Pass9 ssh deploy@host",
        "docker login -u me -p hunter2Pass9 registry.example.com",
        "echo hunter2Pass9 | docker login -u me --password-stdin",
        "redis-cli -h cache -a hunter2Pass9 ping",
        "curl -sS -u admin:hunter2Pass9 https://example.com",
        "curl --user 'admin:hunter2Pass9' https://example.com",
        "aws configure set aws_secret_access_key hunter2Pass9",
        "the password is hunter2Pass9, use it",
        "API_KEY=\\\nhunter2Pass9 ./run",
        "error: DB_PASSWORD: hunter2Pass9",
        "rejected header X-Api-Key: hunter2Pass9",
    ],
)
def test_secrets_are_masked_where_commands_and_logs_put_them(text: str) -> None:
    assert "hunter2" not in mask(text)
    assert "[masked" in mask(text)
    assert mask(mask(text)) == mask(text)


@pytest.mark.parametrize(
    "text",
    [
        "mysql -u root -p shop",
        "mysql -u root -p$MYSQL_PWD shop",
        "docker run -p 8080:80 web",
        "docker login -p ${TOKEN}",
        "sshpass -p $PASS ssh x",
        "echo $TOKEN | docker login --password-stdin",
        "curl -u $USER:$PASS https://example.com",
        "curl -u admin https://example.com:8080",
        "mkdir -p build && mysql shop",
        "the password is stored in the vault",
        "unexpected token: foo123",
    ],
)
def test_commands_without_a_secret_stay(text: str) -> None:
    assert mask(text) == text


@pytest.mark.parametrize("at", [30, 36, 44])
def test_a_key_that_a_terminal_broke_in_two_is_masked_whole(at: int) -> None:
    text = f"key {SPLIT[:at]}\n{SPLIT[at:]}\nnext line"
    assert mask(text) == "key [masked anthropic key]\n\nnext line"


def test_what_stands_on_the_line_after_a_key_stays() -> None:
    for after in (
        "0123456789abcdef0123456789abcdef01234567",
        "3f2b8c1e-0000-4000-8000-1234567890ab",
        "NAME9long=Value1",
    ):
        assert after in mask(f"{SPLIT}\n{after}")


PLANTED = [
    *(
        "SECRET_KEY_BASE=§",
        "PASS=§",
        "DB_PW=§",
        "REDIS_PWD=§",
        "ADMIN_PASSWD2=§",
        "export PASS='§'",
    ),
    *(
        "password: §",
        "user: bob, password: §",
        "  password: §\n  port: 5432",
        "spring.mail.password=§",
        "db_pass = §",
    ),
    *(
        '{"login": {"user": "bob", "pass": "§"}}',
        'master_password      = "§"',
        "env:\n- name: DB_PASSWORD\n  value: §",
    ),
    *(
        "<password>§</password>",
        '<property name="db.password" value="§"/>',
        '<wsse:Password Type="Text">§</wsse:Password>',
    ),
    *(
        "machine github.com login me password §",
        "machine a.io\n  login me\n  password §",
        "db.io:5432:app:me:§",
    ),
    *(
        "gpg --batch --passphrase § -d f",
        "openssl rsa -passin pass:§ -in k",
        "keytool -storepass § -list",
    ),
    *(
        "Server=db;Uid=sa;Pwd=§;",
        "host=db user=u password=§ dbname=d",
        "helm install x --set auth.password=§,a.b=1",
    ),
    *(
        "CREATE USER bob WITH PASSWORD '§';",
        "ALTER USER bob IDENTIFIED BY '§'",
        "echo § | sudo -S ls",
        "requirepass §",
    ),
    *(
        'password: str = "§"',
        'os.environ["DB_PASS"] = "§"',
        'props.put("db.password", "§");',
        '.setPassword("§")',
    ),
    *(
        'requests.get(url, auth=("bob", "§"))',
        'req.SetBasicAuth("bob", "§")',
        "process.env.SECRET || '§'",
    ),
    *(
        "${DB_PASSWORD:-§}",
        "'password' => '§',",
        '#define WIFI_PASSWORD "§"',
        'dsn := "root:§@tcp(127.0.0.1:3306)/db"',
    ),
]
RANDOM = [
    *(
        "TOKEN_1=§",
        "JWT_SECRET2=§",
        "https://§:x-oauth-basic@github.com/a/b",
        "https://§@github.com/a/b",
        "_auth=§",
    ),
    *(
        "Authorization: SSWS §",
        "Authorization: GenieKey §",
        "Authorization: Splunk §",
        "Authorization: Any-Vendor §",
    ),
    *(
        '{"auths": {"x.io": {"auth": "§"}}}',
        "https://x.io/c?sv=1&sig=§&se=2",
        "X-Vendor-Token: §",
        "Circle-Token: §",
    ),
    *(
        'req.Header.Set("X-Api-Key", "§")',
        "token: Final = '§'",
        "the API key § is mine",
        "error: invalid token '§'",
    ),
    *(
        "- name: API_TOKEN\n  value: §",
        '<add key="ApiKey" value="§" />',
        "client-key-data: §",
        "vercel --token §",
    ),
]


WORDS = [
    *(
        "postgres://u8s7d6f5g4h3j2k1q:§@h/db",
        "amqp://svc-4b7e2a90c1d3f586:§@mq:5672/",
        "https://[masked token]:§@h/",
    ),
    *(
        "2024-05-01 12:33:01 INFO password: § accepted",
        "level=error msg=denied password: § ip=10.1.1.1",
    ),
    *(
        'connect("host=db password=§")',
        "run({'dsn': 'user=a password=§ port=1'})",
        '    f(g("user=app pwd=§"), 1)',
    ),
    *(
        "password = b64decode('§')",
        'let secret = String::from("§");',
        'password := []byte("§")',
        "x(password=SecretStr('§'))",
    ),
    *(
        "DB_PASSWD='my cat eats §'",
        'run --password="my cat eats §"',
        "APP_SECRET='my cat eats §' ./run.sh",
    ),
    *("clientSecret:\n  value: §", "password:\n  §", "password: >-\n  §", '"pass":\n  "§"'),
    *(
        '"password": {\n  "value": "§"\n}',
        'const password =\n  "§";',
        "  - password:\n      default: §\n    port: 1",
    ),
    *(
        "kind: Secret\nstringData:\n  foo: §\n",
        "kind: Secret\nmetadata:\n  name: x\ndata:\n  'a.b': \"§\"\n  c: d",
    ),
    *(
        "apiVersion: v1\ndata:\n  a: |\n    § b\n    c\nkind: Secret",
        '{"kind": "Secret", "data": {"a": "b", "c": "§"}}',
    ),
    *(
        'requests.get(u, cookies={"sid": "§"})',
        "get(u, cookies=dict(sid='§'))",
        "cookies = {\n  'a': 'b',\n  'c': '§',\n}",
    ),
    *(
        "Password for bob@db: §",
        "[sudo] password for alice: § and more",
        "Enter passphrase for key '/a/id': my §",
    ),
    *('#define WIFI_PW "§"', '# define PASS "§"', '#define SECRET "§"'),
]


@pytest.mark.parametrize("text", WORDS)
def test_a_password_is_found_wherever_its_value_stands(text: str) -> None:
    for word in ("starfish", "Tr0ub4dor"):
        found = mask(f"first\n{text.replace('§', word)}\nlast")
        assert word not in found
        assert mask(found) == found


@pytest.mark.parametrize(
    "text",
    [
        "DEBUG the secret: Tr0ub4dor was accepted",
        "Temporary password: Tr0ub4dor expires tomorrow",
        "clientSecret: {value: Tr0ub4dor}",
        '{"kty": "oct", "k": "Tr0ub4dor"}',
        '{"d": "Tr0ub4dor", "p": "Tr0ub4dor", "kty": "RSA", "n": "abc"}',
        '{\\"kty\\":\\"EC\\",\\"d\\":\\"Tr0ub4dor\\"}',
    ],
)
def test_a_value_with_digits_needs_less_around_it(text: str) -> None:
    assert "Tr0ub4dor" not in mask(text)


@pytest.mark.parametrize(
    "around", ["token=§", '"auth": "§"', "https://§@x.io/a", "https://§:§@x.io/1", "KEY = str('§')"]
)
@pytest.mark.parametrize("digits", ["0123456789abcdef", "0123456789abcdefghijklmnopqrstuvwxyz"])
def test_letters_and_digits_of_any_length_are_random_after_the_name_of_a_secret(
    around: str, digits: str
) -> None:
    chance = random.Random(1)
    for size in (20, 24, 32, 40, 64) * 10:
        secret = "".join(chance.choices(digits, k=size - 4)) + "a1b2"
        assert secret not in mask(around.replace("§", secret))


@pytest.mark.parametrize("text", PLANTED)
def test_whatever_a_password_is_called_is_masked(text: str) -> None:
    for password in ("correcthorse", "Tr0ub4dor"):
        assert password not in mask(f"first\n{text.replace('§', password)}\nlast")


@pytest.mark.parametrize("text", [*PLANTED, *RANDOM])
def test_whatever_looks_random_and_has_the_name_of_a_secret_is_masked(text: str) -> None:
    for secret in ("q7Zx9Qw8Er7Ty6Ui5Op4As3Df2Gh1Jk0", "0f3a9c1be4d752860f3a9c1be4d75286"):
        found = mask(f"first\n{text.replace('§', secret)}\nlast")
        assert secret[4:] not in found
        assert mask(found) == found


@pytest.mark.parametrize(
    "text",
    [
        "token = Name.Class",
        "connect(user=user, password=password, parent_key=key)",
        "    self.key_password = key_password",
        "        client_secret=credentials.client_secret,",
        "    access_token = accessToken;",
        "RegEnumKey = win32api.RegEnumKey",
        "credentials=creds, auth=auth",
        "password: SecretStr",
        "    event_payload_key: string;",
        "fn login(user: &str, password: &str) -> Token {",
        '"input_token": "NextToken", "result_key": "Contacts"',
        "sizeKey = '_contentLength'; SSL_KEY = 'ssl_key'",
        'options_key = "hide_" + options_key[5:]',
        'password: "Enter your new password"',
        '<label for="password">Password</label><string name="password">Password</string>',
        'url = "https://x.io/v1?key=" + GOOGLE_API_KEY',
        "arn:aws:secretsmanager:us-west-2:1:secret:MyTestSecret-a1b2c3",
        "PASS: test_login_2",
        "id-token: write # for trusted publishing",
        'token: "https://login.example.com/oauth2/token"',
        'for name in ("username", "password", "secret"): pass',
        '_START = b"-----BEGIN PRIVATE KEY-----"\n_END = b"-----END PRIVATE KEY-----"',
        "PWD=/home/me/src aws s3api get-object --key dir/images.tar.bz2",
        '"AWS::Redshift::EndpointAuthorization": "e72be424d109da1d"',
        "see [masked password]: f3709768624f",
        'the [masked token] 0f3a9c1be4d752860f3a, [masked secret] = "hello world9"',
        "password = getpass('Enter it'); token = get_token('user'); key = os.environ.get('API_KEY')",
        'password = config.getString("db.pass")',
        "const password = document.getElementById('password-input'), token = t('login.token')",
        "password:\n  type: string\n  description: of the user",
        "if password:\n    return x",
        "clientSecret:\n  secretRef:\n    name: x",
        "password: required string, at least 8",
        "kind: ConfigMap\ndata:\n  conf: hello",
        "kind: Secret\nmetadata:\n  name: a\n---\ndata:\n  conf: hello",
        "kind: Secret\ndata:\n  a: {{ .Values.a | b64enc }}\n  b: ${B}",
        '{"kty": "RSA", "n": "abcd", "e": "AQAB"}, {"d": "hello", "k": "v"}',
        'cookies={"sid": sid}; cookies = request.cookies',
        'print("Password for user: "); getpass(f"Password for {user}: ")',
        '#define KEY "name"',
        'cache_key = "0f3a9c1be4d752860f3a9c1be4d75286"',
    ],
)
def test_code_about_secrets_stays(text: str) -> None:
    assert mask(text) == text


@pytest.mark.parametrize(
    "text", ["Authorization: SSWS §", "curl -u bob:§ x.io", "DB_PW=§", "sshpass -p § ssh h"]
)
def test_an_escaped_line_end_is_a_border(text: str) -> None:
    assert "Tr0ub4dor" not in mask(
        json.dumps({"output": f"a\n{text.replace('§', 'Tr0ub4dor')}\nb"})
    )
