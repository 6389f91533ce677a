import pytest

from pipelines.demo.receiver import Receiver

# The test vector of Standard Webhooks.
_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
_HEADERS = {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
}
_BODY = b'{"test": 2432232314}'


@pytest.fixture
def receiver():
    receiver = Receiver(port=0, secret=_SECRET)
    receiver.start()
    yield receiver
    receiver.stop()


def test_signature_of_the_published_vector_is_good_and_another_is_not(receiver):
    wrong = _HEADERS | {"webhook-signature": "v1,AAAA"}

    assert receiver.take(wrong, _BODY) == 401
    assert receiver.take(_HEADERS, _BODY) == 204
    assert (receiver.refused, dict(receiver.received)) == (1, {"(no type)": 1})


def test_webhook_that_comes_again_is_counted_once(receiver):
    assert [receiver.take(_HEADERS, _BODY) for _ in range(3)] == [204, 204, 204]
    assert receiver.received.total() == 1
