"""From a request to audio: the stages, the pipeline over them, and the loop."""
