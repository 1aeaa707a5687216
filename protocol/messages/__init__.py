"""One declaration per message of Kafka, in the vocabulary of ``protocol.fields``; one module per API or family of records."""
