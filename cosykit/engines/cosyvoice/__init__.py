"""CosyVoice on ONNX Runtime: many requests at once, on graphs of our own."""
