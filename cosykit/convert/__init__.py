"""Write the graphs that CosyKit runs; the only importer of onnx, never while serving.

`build` makes the files of a CosyVoice bundle out of a release: `checkpoint` and
`dimensions` read it, `models` and `layers` write the graphs. `lite` rewrites the graph
of the embedded voice into a faster one that gives the same samples.
"""
