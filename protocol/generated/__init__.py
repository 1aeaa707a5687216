"""Codecs per message and version, written by ``python -m protocol.generate``; ``protocol.codec`` finds them."""
