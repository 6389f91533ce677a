import pytest

from pipelines.errors import ConfigError
from pipelines.notify.signing import read_keys, signature

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OTHER = "whsec_" + "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo="


def signed(secrets: str) -> str:
    return signature(
        read_keys(secrets),
        webhook_id="msg_p5jXN8AQM9LWM0D4loKWxJek",
        timestamp_seconds=1614265330,
        body=b'{"test": 2432232314}',
    )


def test_signature_of_the_specifications_vector() -> None:
    assert signed(SECRET) == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_two_keys_sign_during_a_rotation() -> None:
    new, old = signed(f"{OTHER}\n{SECRET}\n").split(" ")
    assert (new, old) == (signed(OTHER), signed(SECRET))


@pytest.mark.parametrize("secret", ["MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_AAAA", "whsec_!!"])
def test_no_secret_is_refused_without_telling_it(secret: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read_keys(secret)
    assert secret not in str(refused.value)
