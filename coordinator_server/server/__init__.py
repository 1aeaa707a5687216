"""The network side: listeners, connections, dispatch, and one handler per API. Only this package and the CLI use asyncio."""
