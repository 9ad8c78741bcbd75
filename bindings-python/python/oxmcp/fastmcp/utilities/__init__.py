"""The package ``mcp.server.fastmcp.utilities``."""
