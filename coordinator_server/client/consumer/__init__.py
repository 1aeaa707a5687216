"""The protocol of Kafka's own consumers: a Python member shares a group with those of other languages."""
