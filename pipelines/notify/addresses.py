"""Guards webhooks against being turned inwards: which addresses may be connected to."""

import socket
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Final
from urllib.parse import urlsplit

from aiohttp import ThreadedResolver
from aiohttp.abc import AbstractResolver, ResolveResult

_NAT64: Final = IPv6Network("64:ff9b::/96")


class AddressRefusedError(OSError):
    """The endpoint is at an address that is not public."""


class PublicResolver(AbstractResolver):
    """Resolves names to public addresses only.

    The connection is made to the address that was checked: a name that answers differently the
    second time gains nothing.
    """

    def __init__(self) -> None:
        self._resolver = ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await self._resolver.resolve(host, port, family)
        for result in found:
            require_public(result["host"])
        return found

    async def close(self) -> None:
        await self._resolver.close()


def require_public_literal(url: str) -> None:
    """Check a URL whose host is an address: no resolver is asked for those.

    Raises
    ------
    AddressRefusedError
        It is not public.
    """
    host = urlsplit(url).hostname or ""
    try:
        ip_address(host)
    except ValueError:
        return
    require_public(host)


def require_public(address: str) -> None:
    """Check an address.

    Raises
    ------
    AddressRefusedError
        It is loopback, private, link-local (cloud metadata), reserved or multicast.
    """
    parsed = ip_address(address.partition("%")[0])
    for one in (parsed, *_within(parsed)):
        if not one.is_global or one.is_multicast:
            raise AddressRefusedError("address is not public and allow_private is not set")


def _within(address: IPv4Address | IPv6Address) -> list[IPv4Address]:
    """Return the IPv4 addresses that gateways find in an IPv6 address."""
    if isinstance(address, IPv4Address):
        return []
    found = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in _NAT64:
        found.append(IPv4Address(int(address) & 0xFFFF_FFFF))
    return [one for one in found if one is not None]
