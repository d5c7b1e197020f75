"""Reads rows from JSON lines and keeps what it cannot read."""

import json
import sys


def rows(lines, rejected):
    """Yield each row; write every line that is none to *rejected*, with the reason."""
    for number, line in enumerate(lines, start=1):
        try:
            yield json.loads(line)
        except json.JSONDecodeError as error:
            json.dump({"line": number, "reason": error.msg, "text": line}, rejected)
            rejected.write("\n")


if __name__ == "__main__":
    with open("rejected.jsonl", "a", encoding="utf-8") as rejected:
        print(sum(1 for _ in rows(sys.stdin, rejected)), "rows")
