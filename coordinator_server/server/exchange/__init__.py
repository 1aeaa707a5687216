"""The room of one request's life, from its header to its answer's bytes: the Exchange (exchange.py).

Enters: frames of a connection (dispatch.py). Leaves: calls of handlers with decoded requests, and encoded answers. api_row.py has
what a row of the table of APIs says; observers of a row (access, quotas, audit, timing, the request log) are composed once, when
the server starts. steps.py runs long requests in portions, long_answer.py encodes their answers so, tally.py counts. It imports
the room wire.
"""
