r"""Formulas of LaTeX, as language models write them, with signs that can be read out.

    $\frac{1}{2}$          1/2         \(x_1^{2} \leq \pi\)    x1^2 ≤ π
    \[ \frac{a-1}{b} \]    (a⊖1)÷b     $\sqrt{2}$              √2

Whatever is not known loses its backslash: most commands are the names of functions.
"""

import re

from cosykit.synthesis.text.normalize.rules import paired

MINUS = "⊖"
"""A minus before a name or between terms, where a hyphen need not be one."""

# Not over paragraphs, and as long as dollars cannot be two prices: $5和$6.
_FORMULA = re.compile(
    r"(?<![A-Za-z0-9_])\\\(((?:[^\\\n]|\\[^()\n]){1,400}?)\\\)"
    r"|\\\[((?:[^\\\n]|\n(?!\n)|\\[^\[\]]){1,1200}?)\\\]"
    r"|(?<![\\$])\$\$((?:[^$\n]|\n(?!\n)){1,1200})\$\$(?!\$)"
    r"|(?<![A-Za-z0-9$\\])\$(?=\S)([^$\n]{1,300})(?<=\S)\$(?![\d$])"
)
_STYLES = re.compile(
    r"\\(?:displaystyle|textstyle|limits|left|right|[bB]igg?[lrm]?|,|;|:|!|quad|qquad)"
    r"(?![A-Za-z])|\\(?=\s)"
)
_NAMED = re.compile(
    r"\\(?:text(?:bf|it|rm)?|math(?:rm|bf|it|bb|cal|sf)|operatorname|boxed|overline|vec"
    r"|bar|hat|underline)\*?\{([^{}]*)\}"
)
_FRACTION = re.compile(r"\\[dtc]?frac\s?(?:\{([^{}]*)\}\s?\{([^{}]*)\}|(\d)\s?(\d))")
_ROOT = re.compile(r"\\sqrt\s?(?:\[([^\[\]{}]{1,9})\])?\s?(?:\{([^{}]*)\}|(\w))")
_LIMITS = re.compile(
    r"(\\(?:sum|prod|int)) ?_(?:\{([^{}]*)\}|(\w)) ?\^(?:\{([^{}]*)\}|(\w)|(\\infty))"
)
_RAISED = re.compile(r"\^\s?\{([^{}]*)\}")
_LOWERED = re.compile(r"_\s?(?:\{([^{}]*)\}|(\w))")
_BREAK = re.compile(r"\\\\|&|\\(?:begin|end)\{[a-z]{1,12}\*?\}")
_SUBTRACTION = re.compile(r"(?<=[\w)}°%]) ?- ?(?=[\w(√\\{])")
_NEGATION = re.compile(r"(?:(?<=[({\[=,])|\A) ?- ?(?=[A-Za-z\\])")
# 30^\circ is an angle.
_DEGREE = re.compile(
    r"\^\s?(?:\{\s?(\\circ|\\degree)\s?\}|(\\circ|\\degree)(?![A-Za-z]))"
)
_COMMAND = re.compile(r"\\([A-Za-z]+|[%$#&_{}|])")
_DEEPEST = 8


_SIGNS = paired(r"""
    times ×  div ÷  cdot ×  ast ×  pm ±  mp ±  leq ≤  le ≤  leqslant ≤  geq ≥  ge ≥
    geqslant ≥  neq ≠  ne ≠  approx ≈  sim ≈  equiv =  lt <  gt >  to →  rightarrow →
    Rightarrow →  implies →  iff →  infty ∞  circ °  degree °  sum ∑  prod ∏  int ∫
    partial ∂  nabla ∇  in ∈  notin ∉  subset ⊂  subseteq ⊂  cup ∪  cap ∩  forall ∀
    exists ∃  emptyset ∅  ldots …  cdots …  dots …  alpha α  beta β  gamma γ  delta δ
    Delta Δ  epsilon ε  varepsilon ε  zeta ζ  eta η  theta θ  kappa κ  lambda λ  mu μ
    nu ν  xi ξ  pi π  rho ρ  sigma σ  Sigma Σ  tau τ  phi φ  varphi φ  chi χ  psi ψ
    omega ω  Omega Ω  mid |  colon :
""")


def read_formulas(text: str) -> str:
    """Write the formulas of a text in plain signs."""
    if "$" not in text and "\\" not in text:
        return text
    return _FORMULA.sub(_plain, text)


def _plain(formula: re.Match[str]) -> str:
    text = next(filter(None, formula.groups()))
    text = _STYLES.sub(" ", _BREAK.sub(", ", text))
    text = _NEGATION.sub(MINUS, _SUBTRACTION.sub(MINUS, text))
    text = _DEGREE.sub(lambda degree: degree[1] or degree[2], text)
    for _ in range(_DEEPEST):
        before = text
        text = _LIMITS.sub(_limits, text)
        text = _RAISED.sub(_raised, _LOWERED.sub(_lowered, _NAMED.sub(r" \1 ", text)))
        text = _FRACTION.sub(_fraction, _ROOT.sub(_root, text))
        if text == before:
            break
    text = _COMMAND.sub(lambda command: _SIGNS.get(command[1], command[1]), text)
    text = re.sub(r"\s+", " ", re.sub(r"[{}]", "", text))
    return re.sub(r" (?=[,)])|(?<=\() ", "", text).strip(" ,")


def _limits(match: re.Match[str]) -> str:
    sign, *limits = match.groups(default="")
    return f"{sign} ({limits[0]}{limits[1]} → {''.join(limits[2:])}) "


def _raised(match: re.Match[str]) -> str:
    exponent = match[1].strip()
    return f"^{exponent}" if re.fullmatch(r"-?\d+", exponent) else f"^({exponent})"


def _lowered(match: re.Match[str]) -> str:
    index = (match[1] or match[2] or "").strip()
    return index if re.fullmatch(r"\d{1,3}", index) else f" {index} "


def _fraction(match: re.Match[str]) -> str:
    above, below = ((match[n] or match[n + 2]).strip() for n in (1, 2))
    if above.isdecimal() and below.isdecimal():
        return f"{above}/{below}"
    return f"{_as_one(above)}÷{_as_one(below)}"


def _root(match: re.Match[str]) -> str:
    of = _as_one((match[2] or match[3] or "").strip())
    return f"{of}^(1/{match[1]})" if match[1] else f"√{of}"


def _as_one(term: str) -> str:
    """Put what is more than a number or a name into brackets."""
    return term if re.fullmatch(r"-?\w+|\\[A-Za-z]+", term) else f"({term})"
