"""The HTTP client on libcurl: transfers that run together on gevent's hub."""
