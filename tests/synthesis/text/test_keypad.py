"""The keys of a telephone, which prompts of call centres are full of."""

import pytest

from cosykit.synthesis.text.clean import clean


@pytest.mark.parametrize(
    ("prompt", "named"),
    [
        ("请输入卡号，以#号键结束。", "请输入卡号，以井号键结束。"),
        ("以“#”号键结束", "以井号键结束"),
        ("返回请按*键，结束请按＃号键。", "返回请按星号键，结束请按井号键。"),
        (
            "返回请按*，重听请按#，挂机请按*。",
            "返回请按星号，重听请按井号，挂机请按星号。",
        ),
        ("按*返回，按*取消", "按星号返回，按星号取消"),
        ("请按*或#。", "请按星号或井号。"),
        ("请按“#”键，或按【*】", "请按“井号”键，或按（星号）"),
        ("按 # 确认", "按 井号 确认"),
        ("按**#**键", "按井号键"),
        ("* 请按*键", "请按星号键"),
        ("请输入卡号加#号。", "请输入卡号加井号。"),
        ("输入12345#即可", "输入12345井号即可"),
        ("拨打*100#查询，*#06#也可以", "拨打星号100井号查询，星号井号06井号也可以"),
        (
            "Press * to go back, press # to end.",
            "Press star to go back, press pound to end.",
        ),
        ("Enter it, followed by #.", "Enter it, followed by pound."),
        ("The # key, or the * key.", "The pound key, or the star key."),
        ("Dial *69.", "Dial star 6 9."),
        ("＃を押すか、*を押す", "#を押すか、コメジルシを押す"),
    ],
)
def test_keys_are_named(prompt: str, named: str) -> None:
    assert clean(prompt) == named


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("请按*确认*键，按**确认**键。", "请按确认键，按确认键。"),
        ("press *enter* now, the # of items", "press enter now, the # of items"),
        ("按#北京#搜索，和#上海#", "按#北京#搜索，和#上海#"),
        ("C#键盘，3#楼，按#1", "C#键盘，3#楼，按#1"),
        ("3*4 和 3 * 4", "3*4 和 3 * 4"),
        ("# 标题\n* 一", "标题\n一"),
    ],
)
def test_the_same_signs_are_left_where_they_are_no_keys(text: str, plain: str) -> None:
    assert clean(text) == plain
