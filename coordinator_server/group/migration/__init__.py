"""Groups between the classic and the consumer protocol (KIP-848): conversions, and classic members of consumer groups.

The only package of ``group`` that sees both types.
"""
