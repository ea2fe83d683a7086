"""The embedded voice: Kokoro-82M at int8, whose weights come with Python packages."""
