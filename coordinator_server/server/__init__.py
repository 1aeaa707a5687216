"""The network side: listeners, connections, dispatch, and one handler per API. The only place with asyncio in it but the CLI."""
