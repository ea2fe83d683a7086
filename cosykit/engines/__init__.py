"""The engines, and the one place that opens them."""
