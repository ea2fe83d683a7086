"""What the server offers, as Wyoming describes programs and voices."""

from collections.abc import Sequence

from wyoming.info import Attribution, Info, TtsProgram, TtsVoice

from cosykit import __version__
from cosykit.server.wyoming.events import VoiceChoice
from cosykit.types import Language, Voice, language_of_tag


def describe(model: str, voices: Sequence[Voice]) -> Info:
    """Describe a model as a program that speaks."""
    attribution = Attribution(name="CosyKit", url="")
    program = TtsProgram(
        name="cosykit",
        attribution=attribution,
        installed=True,
        description=f"CosyKit with {model}",
        version=__version__,
        voices=[
            TtsVoice(
                name=voice.id,
                attribution=attribution,
                installed=True,
                description=voice.name,
                version=None,
                languages=list(voice.languages),
            )
            for voice in voices
        ],
        supports_synthesize_streaming=True,
    )
    return Info(tts=[program])


def language_of(choice: VoiceChoice | None) -> Language | None:
    """Take the language out of a tag such as `zh-CN`, if it is one of ours."""
    return language_of_tag((choice.language if choice else None) or "")
