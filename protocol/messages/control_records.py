"""What the records of a control batch say: the key its type, the value of an end of a transaction the coordinator's epoch.

An int16 version precedes each.
"""

from __future__ import annotations

from protocol.fields import Int16, Int32, Message, data


class ControlRecordTypeSchema(Message):
    kafka = data("0")
    type: Int16 = 0


class EndTxnMarker(Message):
    kafka = data("0")
    coordinator_epoch: Int32 = 0
