"""Short texts for users of a load test: all different, or some of them repeated."""

import random
from collections.abc import Iterator
from itertools import count

# Any four of them are a sentence of 10 to 30 characters; 20,736 sentences in all.
_WHEN = (
    "今天早上",
    "昨天下午",
    "上个星期",
    "每到周末",
    "刚才",
    "下班以后",
    "春天的时候",
    "放假那天",
    "晚饭之后",
    "天亮以前",
    "去年冬天",
    "中午休息时",
)
_WHO = (
    "我的同事",
    "隔壁的老人",
    "两个学生",
    "司机师傅",
    "他们一家",
    "那位医生",
    "几个朋友",
    "小女孩",
    "图书管理员",
    "我妈妈",
    "新来的老师",
    "店里的客人",
)
_WHERE = (
    "在公园里",
    "在车站旁边",
    "在图书馆",
    "在河边",
    "在厨房里",
    "在办公室",
    "在广场上",
    "在山脚下",
    "在电影院门口",
    "在学校操场",
    "在超市",
    "在阳台上",
)
_WHAT = (
    "看到了一只白色的猫。",
    "打了很久的电话。",
    "讨论明天的会议。",
    "遇见了老朋友。",
    "读完了那本书。",
    "等了半个小时。",
    "唱起了一首歌。",
    "买到了新鲜的水果。",
    "找到了丢失的钥匙。",
    "聊起了旅行的计划。",
    "喝了一杯热茶。",
    "拍了很多照片。",
)
_PARTS = (_WHEN, _WHO, _WHERE, _WHAT)
# So few that they come again often within minutes.
_REPEATED = 50


def short_texts(seed: int = 0, repeated: float = 0.0) -> Iterator[str]:
    """Yield sentences of 10 to 30 characters without end.

    Args:
        repeated: The share of them that is taken from the same few.
    """
    chance = random.Random(seed)  # noqa: S311
    few = [_sentence(number) for number in _shuffled(chance)[:_REPEATED]]
    new = (_sentence(number) for number in _endless(chance))
    while True:
        yield chance.choice(few) if chance.random() < repeated else next(new)


def _shuffled(chance: random.Random) -> list[int]:
    total = 1
    for part in _PARTS:
        total *= len(part)
    return chance.sample(range(total), total)


def _endless(chance: random.Random) -> Iterator[int]:
    # All of them pass before one comes again.
    for _ in count():
        yield from _shuffled(chance)


def _sentence(number: int) -> str:
    words = []
    for part in _PARTS:
        number, which = divmod(number, len(part))
        words.append(part[which])
    return "".join(words)
