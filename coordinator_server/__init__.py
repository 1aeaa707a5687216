"""A durable group coordinator that speaks the Kafka wire protocol, without Kafka."""

__version__ = "0.1.0"
