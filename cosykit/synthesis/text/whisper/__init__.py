"""Whisper's multilingual tokenizer, which reads text for the first CosyVoice models."""
