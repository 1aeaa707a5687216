"""The room of sockets: what a connection is, and what the loop does for it in a turn.

Enters: bytes of peers, accepted within limits (acceptor.py, admission.py, address_rates.py), over TLS (certificates.py). Leaves:
frames to the connection's dispatcher, and answers in request order, one write per connection and turn (connection.py, turns.py);
long ones in pieces (long_write.py).
order.py says which requests of a connection may overlap, receiving.py bounds what is half-received, and background.py runs large
messages in a thread. It is opened by open.py. Nothing here knows Kafka's messages, and it imports no other room.
"""
