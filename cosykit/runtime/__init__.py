"""The only importer of onnxruntime: wheels, providers, sessions."""
