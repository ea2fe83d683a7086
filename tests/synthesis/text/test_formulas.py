r"""Formulas of LaTeX are written with signs that can be read out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosykit.synthesis.text.clean import clean
from cosykit.synthesis.text.formulas import read_formulas
from cosykit.synthesis.text.normalize.english import normalize_english
from cosykit.synthesis.text.normalize.japanese import normalize_japanese
from cosykit.synthesis.text.normalize.korean import normalize_korean
from cosykit.synthesis.text.normalize.mandarin import normalize_mandarin


@pytest.mark.parametrize(
    ("latex", "plain"),
    [
        (r"$\frac{1}{2}$", "1/2"),
        (r"$\frac12$", "1/2"),
        (r"\(x_1^{2} \leq \pi\)", "x1^2 ≤ π"),
        (r"\[ \frac{a-1}{b} \]", "(a⊖1)÷b"),
        ("\\[\na + b\n\\]", "a + b"),
        (r"$\sqrt{2}$ and $\sqrt[3]{8}$", "√2 and 8^(1/3)"),
        (r"$x=\frac{-b \pm \sqrt{b^2-4ac}}{2a}$", "x=(⊖b ± √(b^2⊖4ac))÷2a"),
        (r"$$\sum_{i=1}^{n} i$$", "∑ (i=1 → n) i"),
        (r"$\int_0^\infty e^{-x}dx$", "∫ (0 → ∞) e^(⊖x)dx"),
        (r"$30^\circ$, $30^{\circ}$", "30°, 30°"),
        (r"$\lim_{x\to 0}\frac{\sin x}{x}$", "lim x→ 0 (sin x)÷x"),
        (r"$\begin{cases} x>0 \\ y<1 \end{cases}$", "x>0, y<1"),
        (r"$10^{-3}$", "10^-3"),
        (r"$\text{speed}=\dfrac{s}{t}$", "speed =s÷t"),
        (r"$\vec{a}\cdot\vec{b}$", "a × b"),
        (r"$\left( x \right)$", "(x)"),
        (r"$H_2O$, $x_{12}$, $x_{i}$", "H2O, x12, x i"),
        (r"$50\%$", "50%"),
    ],
)
def test_formulas_become_plain(latex: str, plain: str) -> None:
    assert read_formulas(latex) == plain


@pytest.mark.parametrize(
    "text",
    [
        "花了$5和$6，又花了 $7 或 $8",
        "It costs $5.",
        r"C:\new\(1\)",
        r"f\(x\)",
        r"\frac{1}{2} outside",
        "a $ b",
        "\\[ never closed",
        "$$ two\n\nparagraphs $$",
    ],
)
def test_what_is_no_formula_stays(text: str) -> None:
    assert read_formulas(text) == text


def test_formulas_are_spoken_in_mandarin() -> None:
    spoken = normalize_mandarin(
        clean(
            r"根为$x=\frac{-b \pm \sqrt{b^2-4ac}}{2a}$，$e^{-x}$，$a^{n+1}$，$x \in A$"
        )
    )
    assert spoken == (
        "根为x等于(负b正负根号(b的平方减四ac)除以二a，e的负x次方，"
        "a的n加一次方，x 属于 A"
    )


def test_formulas_are_spoken_in_english() -> None:
    spoken = normalize_english(
        clean(r"So \(\frac{a-1}{b}\), $\int_0^1 e^{-x}dx$ and $x_1^2 \neq \tau$")
    ).strip()
    assert spoken == (
        "So (a minus one) divided by b, integral of (zero, one) "
        "e to the power of minus x dx and x one squared not equal to tau"
    )


def test_formulas_are_spoken_in_japanese_and_korean() -> None:
    formula = r"$a-b \times 2^{n}$"
    assert normalize_japanese(clean(f"式は{formula}")) == (
        "式はaマイナスbカケル ニのn乗"
    )
    assert normalize_korean(clean(f"식 {formula}")) == "식 a 빼기 b 곱하기 이의 n제곱"


@given(st.text(r"\$(){}[]^_ fracsqrt1ab-", max_size=80))
def test_any_text_is_read(text: str) -> None:
    assert len(read_formulas(f"$${text}$$")) <= 4 * len(text) + 8
