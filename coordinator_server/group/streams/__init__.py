"""Groups of Kafka Streams applications (KIP-1071): the tasks of a topology, which the coordinator assigns to members."""
