"""The compiler from declarations to plain functions; ``python -m protocol.generate`` runs it."""
