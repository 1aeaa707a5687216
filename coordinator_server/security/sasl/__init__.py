"""SASL of a listener: the mechanisms, as conversations without I/O, and Kafka's properties for them."""
