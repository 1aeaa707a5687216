"""Kafka's wire protocol as a library: declarations, compiled codecs, frames and record batches.

``messages/`` has one declaration per message, in the form of Kafka's schema. ``python -m protocol.generate`` compiles them to
plain functions in ``generated/``, and ``codec`` finds these. ``api`` is the table of the served requests. ``frames`` splits a
byte stream into requests. ``record_batch`` and ``coordinator_records`` have the format of the log. No I/O, no clock, no
randomness.

Diagnostics and tools: ``explain`` finds the invalid field of refused bytes, ``json_form`` converts messages to Kafka's JSON,
``python -m protocol`` decodes and encodes on the command line, ``python -m protocol.check`` compares declarations with schemas.
"""
