"""Speak what is typed, or what a language model writes, while more of it comes.

Compile speech.proto as synthesize.py says, then:

python stream.py 127.0.0.1:50051 story.wav < story.txt
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import grpc
from speech_pb2 import StreamRequest, SynthesizeRequest
from speech_pb2_grpc import SpeechStub


def requests(audio_format: str) -> Iterator[StreamRequest]:
    """Say how to speak, and then what; the end of the requests ends the text."""
    yield StreamRequest(config=SynthesizeRequest(format=audio_format))
    for line in sys.stdin:
        yield StreamRequest(text=line)


def main(address: str, path: str) -> None:
    """Write the audio as it comes, and show what is being said."""
    target = Path(path)
    asked = requests(target.suffix.lstrip("."))
    with grpc.insecure_channel(address) as channel, target.open("wb") as file:
        try:
            for response in SpeechStub(channel).StreamTTS(asked):
                match response.WhichOneof("event"):
                    case "sentence_began":
                        print(response.sentence_began.text.strip(), flush=True)
                    case "audio":
                        file.write(response.audio.audio)
        except grpc.RpcError as error:
            sys.exit(f"{error.code().name}: {error.details()}")


if __name__ == "__main__":
    main(*sys.argv[1:])
