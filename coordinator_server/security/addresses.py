"""Addresses of clients in one form, so that they can be compared: entries and quotas name them in others."""

from __future__ import annotations

import ipaddress


def comparable_address(text: str) -> str:
    """Return an address as the system writes it. An IPv4 address is the same over IPv6. Any other text is returned unchanged."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return text
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)
