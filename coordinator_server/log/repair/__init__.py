"""Bring files in order after a crash or damage: recovery at every start, ``log verify``, and its ``--salvage``.

``bit_flip.py`` repairs frames of the journal, ``batch_scan.py`` batches of segments; the latter only
for salvage. Recovery changes a file only where the journal holds more than the file; verify changes none, and
salvage writes a new directory. Imports go to all other rooms: ``log/read``, ``log/layers``,
``log/write``.
"""
