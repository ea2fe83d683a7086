"""Compile speech.proto anew; run it after a change there, with grpcio-tools installed.

What protoc writes for Python works with the protobuf of its own version and the next
alone. So only the descriptors and the types are kept, which are the same for all.
"""

from pathlib import Path

from grpc_tools import protoc

ROOT = Path(__file__).parents[1]
PROTO = "cosykit/server/grpc/speech.proto"


def compile_messages(target: Path) -> None:
    """Write the descriptors and the types of the messages below a folder."""
    failed = protoc.main(
        [
            "protoc",
            f"--proto_path={ROOT}",
            f"--descriptor_set_out={(target / PROTO).with_suffix('.binpb')}",
            f"--pyi_out={target}",
            PROTO,
        ]
    )
    if failed:
        raise SystemExit(failed)


if __name__ == "__main__":
    compile_messages(ROOT)
