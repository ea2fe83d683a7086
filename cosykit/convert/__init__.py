"""Write the graphs that CosyKit runs; the only importer of onnx, never while serving.

`lite` rewrites the graph of the embedded voice into a faster one that gives the same
samples.
"""
