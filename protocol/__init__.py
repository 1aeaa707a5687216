"""Kafka's wire protocol as a library: declarations, compiled codecs, frames and record batches.

``messages/`` holds one declaration per message, readable beside Kafka's schema; ``python -m protocol.generate`` turns them into
plain functions in ``generated/``; ``codec`` finds those; ``api`` is the table of the requests that exist; ``frames`` cuts a
byte stream into requests; ``record_batch`` and ``coordinator_records`` are what the log is made of. No I/O, no clock, no
randomness.

Beside the straight line: ``explain`` says which field of refused bytes is wrong, ``json_form`` is Kafka's JSON of a message,
``python -m protocol`` decodes and encodes for people, ``python -m protocol.check`` compares the declarations with schemas.
"""
