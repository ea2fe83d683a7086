"""The messages of speech.proto as classes, whose types are in the .pyi beside this.

They are made of the compiled descriptors when they are imported, since what protoc
writes for it works with few versions of protobuf. `tools/messages.py` compiles.
"""

from importlib.resources import files

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_SET = descriptor_pb2.FileDescriptorSet.FromString(
    (files(__package__) / "speech.binpb").read_bytes()
)
DESCRIPTOR = descriptor_pool.Default().AddSerializedFile(
    _SET.file[0].SerializeToString()
)
globals().update(
    {
        name: message_factory.GetMessageClass(kind)
        for name, kind in DESCRIPTOR.message_types_by_name.items()
    }
)
