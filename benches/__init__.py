"""turnfit and its peers, side by side on the same input."""
