"""What was in each request of a session, to the token?

``pieces`` says what a text is, ``thread`` keeps what each request held, by label and count,
``claude`` and ``others`` read the clients' files, ``composition`` puts the parts next to the bill
and compares two requests, ``reading`` reads a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim._lazy import exports

if TYPE_CHECKING:
    from brim.tracking.requests.composition import ComposedRequest as ComposedRequest
    from brim.tracking.requests.composition import CompositionChange as CompositionChange
    from brim.tracking.requests.composition import RequestPart as RequestPart
    from brim.tracking.requests.composition import compare as compare
    from brim.tracking.requests.composition import requests_of as requests_of
    from brim.tracking.requests.composition import tokens_of_part as tokens_of_part
    from brim.tracking.requests.reading import read_requests as read_requests
else:
    __getattr__, __dir__ = exports(
        __name__,
        composition="ComposedRequest CompositionChange RequestPart compare requests_of"
        " tokens_of_part",
        reading="read_requests",
    )
