"""Write out what is not words in English text."""

import re

from cosykit.synthesis.text.formulas import MINUS
from cosykit.synthesis.text.normalize.abbreviations import ABBREVIATIONS
from cosykit.synthesis.text.normalize.addresses import AddressWords, address_rules
from cosykit.synthesis.text.normalize.english_codes import CODES, MODELS
from cosykit.synthesis.text.normalize.english_dates import DATES, TIMES
from cosykit.synthesis.text.normalize.english_numbers import cardinal, ordinal, spell
from cosykit.synthesis.text.normalize.english_quantities import (
    COUNTS,
    QUANTITIES,
    RANGES,
    RATIOS,
)
from cosykit.synthesis.text.normalize.roman import in_digits, roman_value
from cosykit.synthesis.text.normalize.rules import (
    NUMBER,
    NUMBER_START,
    Rule,
    one_of,
    rewrite,
    rule,
)
from cosykit.synthesis.text.normalize.symbols import ONE_SPELLING, only_words

_ADDRESS_WORDS = AddressWords(
    signs={
        ".": "dot",
        "/": "slash",
        "\\": "backslash",
        ":": "colon",
        "-": "dash",
        "_": "underscore",
        "@": "at",
        "?": "question mark",
        "=": "equals",
        "&": "and",
        "#": "hash",
        "+": "plus",
        "%": "percent",
        "~": "tilde",
    },
    spell=spell,
    hashtag="hashtag ",
    spaced=True,
)

# Digits beyond any number are spelt in one go: no later rule walks through them.
_LONG_NUMBERS: tuple[Rule, ...] = (
    rule(
        r"(?<![\d.])(\d{1,15})\.(\d{17,})",
        lambda match: f"{cardinal(match[1])} point {spell(match[2])}",
    ),
    rule(r"\d{17,}", lambda match: spell(match.group())),
)

_MONARCHS = one_of(
    "Alexander Benedict Catherine Charles Edward Elizabeth Francis Frederick George"
    " Henry James John Louis Mary Napoleon Nicholas Paul Peter Philip Pius Richard"
    " William Wilhelm"
)
_NUMBERED = one_of(
    "Act Appendix Article Book Bowl Chapter Class Figure Grade Level Mark Module Part"
    " Phase Scene Section Stage Step Table Tier Title Type Unit Vol Volume War"
)


def _monarch(match: re.Match[str]) -> str:
    value = roman_value(match[2])
    return f"{match[1]} the {ordinal(str(value))}" if value else match.group()


_PREPARED: tuple[Rule, ...] = (
    rule(rf"\b({_MONARCHS}) ([IVX]{{2,5}})\b", _monarch),
    rule(rf"\b(?:{_NUMBERED}) ([IVXLC]{{1,6}})\b", in_digits),
    rule(
        r"\b(?!The|His|Her|And|For)[A-Z][a-z]{2,} (II|III|VII|VIII|IX|XI+|XI?V)\b",
        in_digits,
    ),
    rule(r"(?<=\d) : (?=\d)", ":"),
    rule(r"(?<![\w.])(\d+(?:\.\d+)?)[eE]\+?(-?\d{1,3})(?!\w|\.\d)", r"\1 times 10^\2"),
    # Sizes, but 2x3=6 is a product.
    rule(rf"{NUMBER_START}({NUMBER}) ?[xX] ?(?={NUMBER}(?![\d.]| ?=))", r"\1 by "),
    rule(r"(?<=[1-9]) ?[×xX*] ?(?=\d)|(?<=\d\d) ?[×xX*] ?(?=\d)", " times "),
    rule(r"\bw/o\b", "without"),
    rule(r"\bw/(?= ?[a-z])", "with "),
)

_SIGNS: tuple[Rule, ...] = (
    rule(r"\b([CF])#(?!\w)", r"\1 sharp"),
    rule(r"(?<=[A-Za-z])\+\+", " plus plus"),
    rule(r"\^2(?!\d)", " squared"),
    rule(r"\^3(?!\d)", " cubed"),
    rule(r"\^\((\w{1,3})/(\w{1,3})\)", r" to the power of \1 over \2"),
    rule(r"\^\(([^()]{1,40})\)(?=\w)", r" to the power of \1 "),
    rule(r"\^\(([^()]{1,40})\)", r" to the power of \1"),
    rule(r"\^\(?((?:minus )?[A-Za-z\dα-ω]{1,16})\)?", r" to the power of \1"),
    rule(r" ?= ?(?=[\w(√-])", " equals "),
    rule(r"(?<=[\w)%])\+(?!\w)", " plus"),
    rule(r" ?\+ ?(?=[\w(])", " plus "),
    rule(r" ?÷ ?|(?<=\))/(?=\d)", " divided by "),
    rule(r"(?<=\w) ?× ?(?=\w)", " times "),
    rule(r" ?≥ ?", " greater than or equal to "),
    rule(r" ?≤ ?", " less than or equal to "),
    rule(r" ?≠ ?", " not equal to "),
    rule(r" ?[≈≒] ?", " approximately "),
    rule(r" ?± ?", " plus or minus "),
    rule(r"√ ?", " square root of "),
    rule(r"(?<=[\w)]) ?> ?(?=[\w(-])| ?(?<![-=>])> ?(?=\d)", " greater than "),
    rule(r"(?<=[\w)]) ?< ?(?=[\w(-])|(?<!<)< ?(?=\d)", " less than "),
    rule(r" ?& ?", " and "),
    rule(r" ?@ ?(?=\S)", " at "),
    rule(r" ?% ?", " percent "),
    rule(r" ?° ?", " degrees "),
)
_SIGN_NAMES = str.maketrans(
    {
        "‰": " per mille ",
        "$": " dollar ",
        "€": " euro ",
        "£": " pound ",
        "∞": " infinity ",
        MINUS: " minus ",
        "∑": " sum of ",
        "∏": " product of ",
        "∫": " integral of ",
        "∂": " partial ",
        "∇": " nabla ",
        "∈": " in ",
        "∉": " not in ",
        "⊂": " a subset of ",
        "∪": " union ",
        "∩": " intersection ",
        "∀": " for all ",
        "∃": " there is ",
        "∅": " the empty set ",
        "α": " alpha ",
        "β": " beta ",
        "γ": " gamma ",
        "δ": " delta ",
        "Δ": " delta ",
        "ε": " epsilon ",
        "ζ": " zeta ",
        "η": " eta ",
        "κ": " kappa ",
        "ν": " nu ",
        "ξ": " xi ",
        "ρ": " rho ",
        "τ": " tau ",
        "χ": " chi ",
        "ψ": " psi ",
        "θ": " theta ",
        "λ": " lambda ",
        "μ": " mu ",
        "π": " pi ",
        "σ": " sigma ",
        "Σ": " sigma ",
        "φ": " phi ",
        "ω": " omega ",
        "Ω": " omega ",
    }
)

# Each kind of thing is read before the kinds that its parts could pass for.
_RULES: tuple[Rule, ...] = (
    # Order #A1029 is no topic.
    rule(r"(?<!\w)#(?=[A-Z]{1,3}-?\d{3})", "number "),
    *address_rules(_ADDRESS_WORDS),
    *ONE_SPELLING,
    *_LONG_NUMBERS,
    *ABBREVIATIONS,
    *_PREPARED,
    *DATES,
    *CODES,
    *TIMES,
    *RANGES,
    *RATIOS,
    *QUANTITIES,
    *MODELS,
    *_SIGNS,
    *COUNTS,
)


def normalize_english(text: str) -> str:
    """Write numbers, dates, units and signs as American English speaks them.

    Line breaks are not expected.
    """
    return only_words(rewrite(text, _RULES).translate(_SIGN_NAMES), pause=", ")
