"""The words that hold a sentence together, by what they do in it."""


def word_set(words: str) -> frozenset[str]:
    """Make a set of words that are separated by spaces."""
    return frozenset(words.split())


ARTICLES = word_set(
    "a an the this these those my your his her its our their every each some any no"
    " another"
)
DETERMINERS = ARTICLES | word_set(
    "which whose what whatever both all many few several much more most less such one"
    " two three four five six seven eight nine ten first second third next last other"
    " same only single"
)
PREPOSITIONS = word_set(
    "of in on at by for with from into about between through during without under over"
    " after before against within among across behind beyond near upon per via as like"
    " than towards toward off onto despite"
)
SUBJECTS = word_set("i you he she it we they who there")
OBJECTS = word_set(
    "me him them us it you myself yourself himself herself itself ourselves themselves"
    " everything everyone something someone anything anyone nothing"
)
AUXILIARIES = word_set(
    "will would can could shall should may might must do does did cannot let lets let's"
    " please won't can't help helps helped"
)
BE = word_set(
    "am is are was were be been being i'm you're he's she's it's we're they're that's"
    " there's become becomes became seem seems seemed feel feels felt remain remains"
    " remained"
)
HAVE = word_set("have has had having")
ADVERBS = word_set(
    "not never always often also just still then now ever even soon usually sometimes"
    " again already once actually really later first further therefore thus"
)
DEGREES = word_set("very so too quite rather how extremely")
CONJUNCTIONS = word_set("and or but nor")
_OTHERS = word_set("to that when where while if because whether although")

_ALL = (
    DETERMINERS | PREPOSITIONS | SUBJECTS | OBJECTS | AUXILIARIES | BE | HAVE | ADVERBS
    | DEGREES | CONJUNCTIONS | _OTHERS
)  # fmt: skip


def is_function_word(word: str) -> bool:
    """Tell whether a word is no noun, adjective or full verb."""
    return word in _ALL
