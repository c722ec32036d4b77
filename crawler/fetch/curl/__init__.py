"""The HTTP client on libcurl: concurrent transfers on the gevent hub."""
