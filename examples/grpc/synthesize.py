"""Speak a text over gRPC and write it to a file, as the audio comes.

pip install grpcio-tools
python -m grpc_tools.protoc -I ../../cosykit/server/grpc --python_out . \
    --grpc_python_out . speech.proto
python synthesize.py 127.0.0.1:50051 hello.mp3 "你好，世界。"
"""

import sys
from pathlib import Path

import grpc
from speech_pb2 import SynthesizeRequest
from speech_pb2_grpc import SpeechStub


def main(address: str, path: str, text: str) -> None:
    """Speak, or say why not."""
    target = Path(path)
    request = SynthesizeRequest(text=text, format=target.suffix.lstrip("."))
    # Where the server asks for a key: metadata=[("authorization", "Bearer KEY")]
    with grpc.insecure_channel(address) as channel, target.open("wb") as file:
        try:
            for chunk in SpeechStub(channel).Synthesize(request, timeout=60):
                file.write(chunk.audio)
        except grpc.RpcError as error:
            sys.exit(f"{error.code().name}: {error.details()}")


if __name__ == "__main__":
    main(*sys.argv[1:])
