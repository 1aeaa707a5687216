"""The properties of transactions and producers."""

from __future__ import annotations

from typing import Annotated

from coordinator_server.config.description import FromKafka, Ours, Part, Positive


class TransactionConfig(Part, frozen=True, kw_only=True):
    """A part of ``Config``."""

    # Transactions.
    transaction_max_timeout_ms: Annotated[Positive, FromKafka("The longest timeout that a producer may ask for.")] = 900_000
    transactional_id_expiration_ms: Annotated[
        Positive, FromKafka("How long a transactional id without an open transaction is remembered.")
    ] = 604_800_000
    transaction_abort_timed_out_transaction_cleanup_interval_ms: Annotated[
        Positive, FromKafka("The interval of the checks for transactions that exceed their timeout, which are aborted.")
    ] = 10_000
    transaction_remove_expired_transaction_cleanup_interval_ms: Annotated[
        Positive, FromKafka("The interval of the checks for transactional ids that expire.")
    ] = 3_600_000
    transaction_max_partitions: Annotated[
        Positive,
        Ours(
            "The maximum number of partitions in a transaction, because each change writes all of them. Kafka has no limit but "
            "message.max.bytes."
        ),
    ] = 10_000
    producer_id_expiration_ms: Annotated[
        Positive, FromKafka("How long a log remembers a producer without an open transaction.")
    ] = 86_400_000
    producer_id_expiration_check_interval_ms: Annotated[
        Positive, FromKafka("The interval of the checks for producers that expire.")
    ] = 600_000
