"""The room of ``control.sock``: what local tools ask of a running server.

Enters: requests of tools, as JSON lines (control_socket.py). Leaves: their answers, from the operations of one loop
(loop_operations.py) and of its kinds of shard (kind_operations.py). With several loops the supervisor has the socket, and calls the
operations of each loop. It is opened by open.py. It may import all rooms below: apis for the node, hosting, cluster,
guard, wire, exchange.
"""
