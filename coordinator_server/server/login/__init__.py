"""The room of logins: the first dispatcher of a connection on a listener with SASL.

Enters: SaslHandshake and SaslAuthenticate (login.py), the mechanisms of each listener (sasl_listeners.py), and users of the catalog
(logins.py). It is opened by open.py. Leaves: a connection with a principal, and with the dispatcher of all requests. It imports
the rooms hosting, cluster, exchange and wire.
"""
