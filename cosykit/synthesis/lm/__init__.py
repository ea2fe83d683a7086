"""From text tokens to speech tokens."""
