"""Who connects, and how: TLS, and the principals that certificates name, under Kafka's property names."""
