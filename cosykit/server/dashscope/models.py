"""The names of models that Alibaba hosts, so that its clients work unchanged."""

import re

from cosykit.server.service import AUTO

# cosyvoice-v1, cosyvoice-v3-flash, cosyvoice-v3.5-plus; none of ours looks like that.
_HOSTED = re.compile(r"cosyvoice-v\d[\w.-]*", re.ASCII)


def own_model(name: str) -> str:
    """Name the model of ours that a name means: the configured one for a hosted one."""
    return AUTO if _HOSTED.fullmatch(name) else name
