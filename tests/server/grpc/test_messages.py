"""What is compiled of speech.proto, held against speech.proto."""

from importlib.resources import files
from pathlib import Path

from google.protobuf import descriptor_pb2

from cosykit.server.grpc import speech_pb2
from tools.messages import PROTO, compile_messages


def test_compiled_messages_are_those_of_the_proto(tmp_path: Path) -> None:
    (tmp_path / PROTO).parent.mkdir(parents=True)
    compile_messages(tmp_path)
    compiled = descriptor_pb2.FileDescriptorSet.FromString(
        (tmp_path / PROTO).with_suffix(".binpb").read_bytes()
    )
    described = descriptor_pb2.FileDescriptorProto()
    speech_pb2.DESCRIPTOR.CopyToProto(described)
    for file in (compiled.file[0], described):
        # Older compilers write names that newer ones leave out.
        for message in file.message_type:
            for field in message.field:
                field.ClearField("json_name")
    assert described == compiled.file[0]


def test_types_know_every_field() -> None:
    types = (files(speech_pb2.__package__) / "speech_pb2.pyi").read_text()
    for message in speech_pb2.DESCRIPTOR.message_types_by_name.values():
        declared = types.partition(f"\nclass {message.name}(")[2].partition("\nclass ")
        for field in message.fields:
            assert f"\n    {field.name}: " in declared[0], field.full_name
