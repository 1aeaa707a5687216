"""The process that starts and supervises several loops. A server with one loop has none.

supervisor.py    locks the data directory, starts the loops, restarts those that die, stops all of them
rules.py         its decisions, without processes: when to restart, which loops hang, how answers are merged
loop_process.py  the supervisor's view of one loop's process
messages.py      the messages between supervisor and loop; cli/loop.py is the loop's end
"""
