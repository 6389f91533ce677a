"""No name or spelling of an address reaches inwards."""

import pytest

from pipelines.notify.addresses import AddressRefusedError, require_public, require_public_literal

INWARD = [
    "127.0.0.1",
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "192.168.1.1",
    "224.0.0.1",
    "::1",
    "::",
    "::ffff:127.0.0.1",
    "64:ff9b::169.254.169.254",
    "2002:7f00:1::",
    "fe80::1%eth0",
    "fd00:ec2::254",
    "ff02::1",
]


@pytest.mark.parametrize("address", INWARD)
def test_address_that_is_not_public_is_refused(address: str) -> None:
    with pytest.raises(AddressRefusedError):
        require_public(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "2606:4700:4700::1111", "64:ff9b::1.1.1.1"])
def test_public_address_passes(address: str) -> None:
    require_public(address)


@pytest.mark.parametrize("url", ["http://127.0.0.1/", "http://[::1]:80/", "https://10.0.0.1/x"])
def test_literal_address_in_a_url_is_refused(url: str) -> None:
    with pytest.raises(AddressRefusedError):
        require_public_literal(url)


def test_name_is_left_to_the_resolver() -> None:
    require_public_literal("https://hooks.example.com/x")
