"""Signed tokens (RFC 7519) as Kafka validates them, and the keys that vouch for them (RFC 7517). Signatures are PyJWT's."""
