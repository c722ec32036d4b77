"""The address of a server, its errors, and a client that sends nothing twice."""

import socket
from contextlib import closing

import gevent
import pytest

from crawler.cluster.redis import VARIABLE, address, connect, errors_of
from crawler.errors import ClusterError, RedisAway


def test_the_address_comes_from_the_option_or_else_from_the_settings():
    assert address("redis://here", "redis://there") == "redis://here"
    assert address(None, "redis://user:secret@there") == "redis://user:secret@there"


def test_without_an_address_all_ways_to_give_one_are_named():
    with pytest.raises(ValueError, match=f"--redis.*{VARIABLE}.*crawler.toml"):
        address(None, None)


def test_a_password_on_the_command_line_is_refused_and_not_repeated():
    with pytest.raises(ValueError, match=VARIABLE) as error:
        address("redis://user:secret@there", None)

    assert "secret" not in str(error.value)


def test_what_is_no_url_of_a_redis_is_named():
    with pytest.raises(ValueError, match="'localhost:6379' is not the URL"):
        address("localhost:6379", None)


def test_nobody_there_is_an_error_that_names_the_address_and_not_the_password():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"redis://me:secret@127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(RedisAway, match="start the server") as error, errors_of(url):
        connect(url).ping()

    assert "127.0.0.1" in str(error.value)
    assert "secret" not in str(error.value)


def test_a_refused_password_names_the_variable(server):
    url = f"unix://me:wrong@{server.socket}"
    with pytest.raises(ClusterError, match=VARIABLE) as error, errors_of(url):
        connect(url).ping()

    assert "wrong@" not in str(error.value)


def test_a_command_whose_answer_is_lost_is_not_sent_again():
    """redis-py's own retries sent an XADD twice when its answer was lost."""
    received = []

    def serve():
        while True:
            connection, _ = listener.accept()
            with connection:
                received.append(connection.recv(1000))

    with socket.create_server(("127.0.0.1", 0)) as listener:
        serving = gevent.spawn(serve)
        url = f"redis://127.0.0.1:{listener.getsockname()[1]}?protocol=2"
        with (
            closing(connect(url)) as client,
            pytest.raises(RedisAway),
            errors_of(url),
        ):
            client.execute_command("XADD", "stream", "*", "a", "1")
        gevent.idle()
        serving.kill()

    assert sum(b"XADD" in one for one in received) <= 1
    assert len(received) == 1


def test_a_client_that_is_closed_has_closed_its_connection(server):
    client = connect(server.url)
    client.ping()
    [connection] = client.connection_pool._available_connections
    assert connection.is_connected

    client.close()

    assert not connection.is_connected


def test_a_server_that_is_full_is_waited_for_however_it_words_the_error_of_a_script(client, server):
    words = "ERR Error running script (call to f_8): @user_script: 26: -OOM command not allowed"

    with pytest.raises(RedisAway, match="raise its maxmemory"), errors_of(server.url):
        client.eval("return redis.error_reply(ARGV[1])", 0, words)
