"""The names of voices that Alibaba hosts, so that clients of its API work unchanged.

Hundreds of names begin with `long`, or with `loong` abroad; `longcheng_v2` is a later
`longcheng`. Ours go by the gender people hear and the language of the text.
"""

import re

from cosykit.types import Gender

_HOSTED = re.compile(r"(loo?ng[a-z]+)(?:_v\d+(?:\.\d+)?)?", re.I)

_MALE = """
longanchong longanlang longanlufeng longanyang longanyue longanyun longanzhi
longbaizhi longcheng longfei longhan longhao longjielidou longlaobo longlaotie
longnan longniuniu longsanshu longshange longshao longshu longshuo longtian
longxiang longxiaocheng longyichen longyingcui longyingxun longze longzhe
loongandy loongdavid loongeric loongjihun loongluca loongtomoya loongyuuma
"""


def hosted_gender(name: str) -> Gender | None:
    """Tell the gender of a hosted voice; None where the name is not of that kind."""
    hosted = _HOSTED.fullmatch(name)
    if hosted is None:
        return None
    return "male" if hosted[1].lower() in _MALE.split() else "female"
