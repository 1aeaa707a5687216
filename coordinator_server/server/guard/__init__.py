"""The room of what may stop a request: access control (access.py), quotas (metering.py,
request_quotas.py) and the audit log (audit.py).

Each observes exchanges, and is composed with the handlers of the rows that concern it when the server starts. Enters: the catalog's
ACLs and quotas (authorization.py, client_quotas.py). It is opened by open.py. Leaves: denials in each API's own form, throttle
times, and lines of the audit log. It imports the rooms hosting, cluster, exchange and wire.
"""
