"""Markup, emoji and odd characters, and what is left of them."""

import pytest

from cosykit.synthesis.text.clean import clean


@pytest.mark.parametrize(
    ("markdown", "plain"),
    [
        ("# 标题", "标题"),
        ("## Title ##", "Title"),
        ("# Learn C#", "Learn C#"),
        ("#topic", "#topic"),
        ("Title\n=====\ntext", "Title\n\ntext"),
        ("**粗体**和*斜体*", "粗体和斜体"),
        ("__bold__ and _italic_", "bold and italic"),
        ("~~删除~~", "删除"),
        ("***全部***", "全部"),
        ("3*4 和 3 * 4", "3*4 和 3 * 4"),
        (r"\*literal\*", "*literal*"),
        ("snake_case_name", "snake_case_name"),
        ("[文字](https://a.com/b_(c))", "文字"),
        ('[text](url "title")', "text"),
        ("![图片](a.png)", "图片"),
        ("[![alt](i.png)](https://a.com)", "alt"),
        ("[text][ref]\n\n[ref]: https://a.com", "text\n\n"),
        ("<https://a.com/x>", "https://a.com/x"),
        ("脚注[^1]", "脚注"),
        ("`代码`", "代码"),
        ("```python\nprint('a')\n```\n完", "print('a')\n完"),
        ("~~~\n- kept\n~~~", "- kept"),
        ("- 一\n* 二\n+ 三", "一\n二\n三"),
        ("- [x] 完成\n- [ ] 未完成", "完成\n未完成"),
        ("1. **打开**\n2.关闭", "1、打开\n2、关闭"),
        ("1. Open\n2) Close", "1, Open\n2, Close"),
        ("3.5 is a number", "3.5 is a number"),
        ("> 引用\n>> 更深", "引用\n更深"),
        ("> - 列表", "列表"),
        ("1．概述", "1、概述"),
        ("公式$E=mc^2$和$$a+b$$。", "公式E=mc^2和a+b。"),
        ("花了$5和$6，又花了 $7 或 $8", "花了$5和$6，又花了 $7 或 $8"),
        (">50人\n> 5人", ">50人\n5人"),
        ("a\n\n---\n\nb", "a\n\n\n\nb"),
        ("| 姓名 | 年龄 |\n|------|-----:|\n| 张三 | 20 |", "姓名，年龄\n\n张三，20"),
        ("a | b\n--|--\n1 | 2", "a, b\n\n1, 2"),
        ("https://a.com/my_file__x*y", "https://a.com/my_file__x*y"),
    ],
)
def test_markdown_keeps_what_a_reader_sees(markdown: str, plain: str) -> None:
    assert clean(markdown) == plain


@pytest.mark.parametrize(
    ("markup", "plain"),
    [
        ("<p>你好</p><p>世界</p>", "\n你好\n\n世界\n"),
        ("一行<br/>两行", "一行\n两行"),
        ("<b>粗</b><span style='x'>体</span>", "粗体"),
        ("a &amp; b &lt;c&gt; &#20320;&nbsp;&hellip;", "a & b <c> 你…"),
        ("a?x=1&copy=2", "a?x=1&copy=2"),
        ("前<!-- 注释 -->后", "前后"),
        ("<!-- never closed 还在", "<!— never closed 还在"),
        ("<script>var a = '<b>';</script>正文", "正文"),
        ("<style>p {}</style >正文", "正文"),
        ("<script>unclosed", "unclosed"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("if a<b and c>d", "if a<b and c>d"),
        ('<a href="x">a</a><p >b</p><b />', "a\nb\n"),
        ("请输入<name>", "请输入<name>"),
        ("<my-tag id='1'>x</my-tag>", "x"),
        ("<!DOCTYPE html>x", "x"),
    ],
)
def test_html_keeps_its_text(markup: str, plain: str) -> None:
    assert clean(markup) == plain


@pytest.mark.parametrize(
    "emoji",
    ["👍", "👍🏽", "👨‍👩‍👧‍👦", "🇨🇳", "1️⃣", "#️⃣", "❤️", "☺", "✅", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "★", "™️"],
)
def test_emoji_are_dropped(emoji: str) -> None:
    assert clean(f"好{emoji}的") == "好 的"


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("ＡＢＣ１２３％", "ABC123%"),
        ("ﾃｽﾄｶﾞ", "テストガ"),
        ("全角，保留；（好）：", "全角，保留；（好）："),
        ("a\u200bb\ufeffc\u00add", "abcd"),
        ("a\tb\u3000c\u00a0d   e", "a b c d e"),
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
        ("\x00\x1b\x7f好", "好"),
        ("\ue000\U000f0000\U0010fffd好", "好"),
        ("「引」『号』《书》", "“引”“号”“书”"),
        ("it’s ‘fine’", "it's “fine”"),
        ("【注】[a]{b}", "（注）(a)(b)"),
        ("café naïve Ærø Łódź", "cafe naive Aero Lodz"),
        ("e\u0301te\u0301", "ete"),
        ("H₂O和m²", "H2O和m^2"),
        ("log₂8=3", "log2 8=3"),
        ("㎡℃№Ⅳ①½", "m^2°CNo.4 1 1/2"),
        ("𝐁𝐨𝐥𝐝 ﬁne", "Bold fine"),
        ("٣ و ४", "3 و 4"),
        ("a\ud83d好\ude00b", "a好b"),
        ("\ud83d\ude00", ""),
        ("e" + "\u0301" * 50, "e"),
    ],
)
def test_characters_take_one_form(text: str, plain: str) -> None:
    assert clean(text) == plain


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("好！！！", "好！"),
        ("what?!?!", "what?"),
        ("真的吗？！", "真的吗？"),
        ("嗯……", "嗯…"),
        ("wait...", "wait…"),
        ("等。。。", "等…"),
        ("a，，b", "a，b"),
        ("a——b", "a—b"),
        ("a -- b", "a — b"),
        ("run --help", "run --help"),
        ("((((a))))", "(a)"),
        ("空()的", "空的"),
        ("=====", ""),
        ("好 ，的", "好，的"),
        ("good !", "good!"),
        ("v1.0 .5", "v1.0 .5"),
    ],
)
def test_punctuation_is_not_repeated(text: str, plain: str) -> None:
    assert clean(text) == plain


def test_hard_wrapped_prose_is_one_paragraph() -> None:
    wrapped = (
        "Although the journey was long and tiring, everyone agreed that\n"
        "the view from the top was worth it.\n"
        "The next day was a rest day."
    )
    assert clean(wrapped) == (
        "Although the journey was long and tiring, everyone agreed that "
        "the view from the top was worth it.\nThe next day was a rest day."
    )


def test_short_lines_stay_apart() -> None:
    assert clean("apples\npears\nplums") == "apples\npears\nplums"
