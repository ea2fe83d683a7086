"""The voices of CosyVoice-300M-SFT, by the official name of each and by our id.

A model that has none of them gives the one of its own that comes closest, so that who
asks for one is heard with any model, such as that which stands in for it.
"""

from collections.abc import Mapping
from types import MappingProxyType

from cosykit.types import Gender

_GENDERS: Mapping[str, Gender] = MappingProxyType(
    {
        **dict.fromkeys(("中文女", "zh_female"), "female"),
        **dict.fromkeys(("中文男", "zh_male"), "male"),
        **dict.fromkeys(("日语男", "ja_male"), "male"),
        **dict.fromkeys(("粤语女", "yue_female"), "female"),
        **dict.fromkeys(("英文女", "en_female"), "female"),
        **dict.fromkeys(("英文男", "en_male"), "male"),
        **dict.fromkeys(("韩语女", "ko_female"), "female"),
    }
)


def official_gender(name: str) -> Gender | None:
    """Tell the gender of an official voice; None where the name is no such voice's."""
    return _GENDERS.get(name)
