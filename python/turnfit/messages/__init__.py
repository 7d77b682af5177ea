"""Messages: turnfit's own, the wire formats, and what providers refuse in them."""
