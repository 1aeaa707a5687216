"""How far groups are behind: their commits, beside the ends of the partitions that ``observe`` samples.

commit_keys.py    whose commit a record is, without its message
end_offsets.py    the samples: files beside the log
verdicts.py       what the last commits say of a group, without a threshold
lags.py           the lag and the verdict of each group and partition, from the log
"""
