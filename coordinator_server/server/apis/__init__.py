"""One small module per family of APIs: a handler and the API's way to refuse, for each."""
