"""Who may connect over HTTP: the module ``mcp.server.transport_security``."""

from __future__ import annotations

from ..types._model import Model

__all__ = ["TransportSecuritySettings"]


class TransportSecuritySettings(Model):
    """Which hosts and origins are let in."""

    enable_dns_rebinding_protection: bool = True
    allowed_hosts: list[str] = []
    allowed_origins: list[str] = []
