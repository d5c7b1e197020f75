"""What was in each request of a session, to the token?

``pieces`` says what a text is, ``thread`` keeps what each request held, by label and count,
``claude`` and ``others`` read the clients' files, ``composed_request`` puts the parts next to the
bill and compares two requests, ``reading`` reads a file, ``context`` reports on one request.
"""
