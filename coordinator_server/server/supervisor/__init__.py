"""The process that starts several loops and watches over them. With one loop there is none.

supervisor.py    takes the data directory, starts the loops, restarts those that die, stops all of them
rules.py         its decisions, as plain code: when to restart, which loop hangs, how answers are merged
loop_process.py  one loop's process as the supervisor sees it
messages.py      what the two say to each other; cli/loop.py is the loop's end
"""
