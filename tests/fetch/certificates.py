"""Certificates for servers on the loopback interface."""

from functools import cache

import gevent.ssl
import trustme


@cache
def authority():
    return trustme.CA()


def server_tls(*names, **options):
    """Return the TLS context of a server, with a certificate for *names*."""
    tls = gevent.ssl.SSLContext(gevent.ssl.PROTOCOL_TLS_SERVER)
    authority().issue_cert(*names or ["127.0.0.1"], **options).configure_cert(tls)
    return tls


def write_authority(folder):
    """Write the certificate that vouches for all others into *folder*; return its path."""
    path = folder / "ca.pem"
    authority().cert_pem.write_to_path(path)
    return path
