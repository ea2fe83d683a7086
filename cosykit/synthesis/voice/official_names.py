"""The voices of CosyVoice-300M-SFT, which the official client asks for by name.

A model that has none of them gives the one of its own that comes closest, so that such
a client is heard with any model.
"""

from collections.abc import Mapping
from types import MappingProxyType

from cosykit.types import Gender

_GENDERS: Mapping[str, Gender] = MappingProxyType(
    {
        "中文女": "female",
        "中文男": "male",
        "日语男": "male",
        "粤语女": "female",
        "英文女": "female",
        "英文男": "male",
        "韩语女": "female",
    }
)


def official_gender(name: str) -> Gender | None:
    """Tell the gender of an official voice; None where the name is no such voice's."""
    return _GENDERS.get(name)
