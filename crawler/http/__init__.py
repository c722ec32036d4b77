"""HTTP's own rules, as pure functions: no connection is opened here."""
