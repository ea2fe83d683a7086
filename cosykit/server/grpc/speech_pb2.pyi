from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SynthesizeRequest(_message.Message):
    __slots__ = ("text", "model", "voice", "language", "format", "sample_rate", "speed", "volume", "pitch", "seed", "sampling", "instructions", "prompt")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    VOICE_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_RATE_FIELD_NUMBER: _ClassVar[int]
    SPEED_FIELD_NUMBER: _ClassVar[int]
    VOLUME_FIELD_NUMBER: _ClassVar[int]
    PITCH_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    SAMPLING_FIELD_NUMBER: _ClassVar[int]
    INSTRUCTIONS_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    text: str
    model: str
    voice: str
    language: str
    format: str
    sample_rate: int
    speed: float
    volume: float
    pitch: float
    seed: int
    sampling: Sampling
    instructions: str
    prompt: Prompt
    def __init__(self, text: _Optional[str] = ..., model: _Optional[str] = ..., voice: _Optional[str] = ..., language: _Optional[str] = ..., format: _Optional[str] = ..., sample_rate: _Optional[int] = ..., speed: _Optional[float] = ..., volume: _Optional[float] = ..., pitch: _Optional[float] = ..., seed: _Optional[int] = ..., sampling: _Optional[_Union[Sampling, _Mapping]] = ..., instructions: _Optional[str] = ..., prompt: _Optional[_Union[Prompt, _Mapping]] = ...) -> None: ...

class Sampling(_message.Message):
    __slots__ = ("top_p", "top_k", "win_size", "tau_r")
    TOP_P_FIELD_NUMBER: _ClassVar[int]
    TOP_K_FIELD_NUMBER: _ClassVar[int]
    WIN_SIZE_FIELD_NUMBER: _ClassVar[int]
    TAU_R_FIELD_NUMBER: _ClassVar[int]
    top_p: float
    top_k: int
    win_size: int
    tau_r: float
    def __init__(self, top_p: _Optional[float] = ..., top_k: _Optional[int] = ..., win_size: _Optional[int] = ..., tau_r: _Optional[float] = ...) -> None: ...

class Prompt(_message.Message):
    __slots__ = ("audio", "text")
    AUDIO_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    audio: bytes
    text: str
    def __init__(self, audio: _Optional[bytes] = ..., text: _Optional[str] = ...) -> None: ...

class AudioChunk(_message.Message):
    __slots__ = ("audio", "sample_rate")
    AUDIO_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_RATE_FIELD_NUMBER: _ClassVar[int]
    audio: bytes
    sample_rate: int
    def __init__(self, audio: _Optional[bytes] = ..., sample_rate: _Optional[int] = ...) -> None: ...

class StreamRequest(_message.Message):
    __slots__ = ("config", "text", "flush", "interrupt", "finish")
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    FLUSH_FIELD_NUMBER: _ClassVar[int]
    INTERRUPT_FIELD_NUMBER: _ClassVar[int]
    FINISH_FIELD_NUMBER: _ClassVar[int]
    config: SynthesizeRequest
    text: str
    flush: Flush
    interrupt: Interrupt
    finish: Finish
    def __init__(self, config: _Optional[_Union[SynthesizeRequest, _Mapping]] = ..., text: _Optional[str] = ..., flush: _Optional[_Union[Flush, _Mapping]] = ..., interrupt: _Optional[_Union[Interrupt, _Mapping]] = ..., finish: _Optional[_Union[Finish, _Mapping]] = ...) -> None: ...

class Flush(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Interrupt(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Finish(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class StreamResponse(_message.Message):
    __slots__ = ("sentence_began", "audio", "sentence_ended", "interrupted")
    SENTENCE_BEGAN_FIELD_NUMBER: _ClassVar[int]
    AUDIO_FIELD_NUMBER: _ClassVar[int]
    SENTENCE_ENDED_FIELD_NUMBER: _ClassVar[int]
    INTERRUPTED_FIELD_NUMBER: _ClassVar[int]
    sentence_began: SentenceBegan
    audio: AudioChunk
    sentence_ended: SentenceEnded
    interrupted: Interrupted
    def __init__(self, sentence_began: _Optional[_Union[SentenceBegan, _Mapping]] = ..., audio: _Optional[_Union[AudioChunk, _Mapping]] = ..., sentence_ended: _Optional[_Union[SentenceEnded, _Mapping]] = ..., interrupted: _Optional[_Union[Interrupted, _Mapping]] = ...) -> None: ...

class SentenceBegan(_message.Message):
    __slots__ = ("index", "text")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    index: int
    text: str
    def __init__(self, index: _Optional[int] = ..., text: _Optional[str] = ...) -> None: ...

class SentenceEnded(_message.Message):
    __slots__ = ("index", "text", "duration")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    DURATION_FIELD_NUMBER: _ClassVar[int]
    index: int
    text: str
    duration: float
    def __init__(self, index: _Optional[int] = ..., text: _Optional[str] = ..., duration: _Optional[float] = ...) -> None: ...

class Interrupted(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListVoicesRequest(_message.Message):
    __slots__ = ("model",)
    MODEL_FIELD_NUMBER: _ClassVar[int]
    model: str
    def __init__(self, model: _Optional[str] = ...) -> None: ...

class ListVoicesResponse(_message.Message):
    __slots__ = ("voices",)
    VOICES_FIELD_NUMBER: _ClassVar[int]
    voices: _containers.RepeatedCompositeFieldContainer[Voice]
    def __init__(self, voices: _Optional[_Iterable[_Union[Voice, _Mapping]]] = ...) -> None: ...

class Voice(_message.Message):
    __slots__ = ("id", "name", "languages", "gender", "description", "aliases")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    LANGUAGES_FIELD_NUMBER: _ClassVar[int]
    GENDER_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    ALIASES_FIELD_NUMBER: _ClassVar[int]
    id: str
    name: str
    languages: _containers.RepeatedScalarFieldContainer[str]
    gender: str
    description: str
    aliases: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., languages: _Optional[_Iterable[str]] = ..., gender: _Optional[str] = ..., description: _Optional[str] = ..., aliases: _Optional[_Iterable[str]] = ...) -> None: ...
