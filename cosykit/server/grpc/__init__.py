"""Speech over gRPC, as speech.proto describes it."""
