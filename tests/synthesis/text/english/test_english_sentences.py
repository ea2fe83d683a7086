"""How a word's sentence decides its sound."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from cosykit.synthesis.text.english.phonemizer import EnglishPhonemizer

HETERONYMS = [
    ("I read it every day.", "ˌI ɹˈid ɪt"),
    ("I read it yesterday.", "ˌI ɹˈɛd ɪt"),
    ("I have read it.", "hæv ɹˈɛd"),
    ("Have you read it?", "ju ɹˈɛd"),
    ("He read it.", "hˌi ɹˈɛd"),
    ("He will read it.", "wɪl ɹˈid"),
    ("Read this!", "ɹˈid"),
    ("a good read", "ɡˈʊd ɹˈid"),
    ("They live in a house.", "ðˌA lˈɪv"),
    ("We heard live music.", "lˈIv mjˈuzɪk"),
    ("He lives here.", "hˌi lˈɪvz"),
    ("It saved many lives.", "mˈɛni lˈIvz"),
    ("We lead the market.", "wˌi lˈid"),
    ("The lead pipe broke.", "lˈɛd pˈIp"),
    ("The wind was strong.", "ðə wˈɪnd"),
    ("Wind the clock.", "wˈInd ðə"),
    ("She shed a tear.", "ɐ tˈɪɹ"),
    ("Do not tear the paper.", "tˈɛɹ ðə"),
    ("Close the door.", "klˈOz ðə"),
    ("We are close to home.", "klˈOs tə"),
    ("Use the tool.", "jˈuz ðə"),
    ("It is of no use.", "nˈO jˈus"),
    ("He uses it.", "jˈuzᵻz ɪt"),
    ("It has many uses.", "mˈɛni jˈusᵻz"),
    ("Record your voice.", "ɹəkˈɔɹd"),
    ("It broke the record.", "ðə ɹˈɛkəɹd"),
    ("I object to that.", "əbʤˈɛkt"),
    ("A strange object.", "ˈɑbʤəkt"),
    ("I will present it.", "pɹizˈɛnt"),
    ("At the present time.", "pɹˈɛzᵊnt"),
    ("She is content.", "kəntˈɛnt"),
    ("The content is new.", "kˈɑntɛnt"),
    ("We project a loss.", "pɹəʤˈɛkt"),
    ("The project ends.", "pɹˈɑʤˌɛkt"),
    ("Wait a minute.", "mˈɪnət"),
    ("A minute amount.", "mInˈut"),
    ("He took a bow.", "ɐ bˈW"),
    ("A bow and arrow.", "ɐ bˈO"),
    ("The white dove sang.", "dˈʌv"),
    ("He dove into the pool.", "dˈOv"),
    ("I refuse to go.", "ɹəfjˈuz"),
    ("The refuse smells.", "ɹˈɛfjˌus"),
    ("The desert is dry.", "dˈɛzəɹt"),
    ("They desert the ship.", "dəzˈɜɹt"),
    ("A perfect plan.", "pˈɜɹfəkt"),
    ("We perfect the plan.", "pəɹfˈɛkt"),
    ("Show me the permit.", "pˈɜɹmɪt"),
    ("They permit it.", "pəɹmˈɪt"),
    ("We produce cars.", "pɹədˈus"),
    ("Buy fresh produce.", "pɹˈOdˌus"),
    ("A separate file.", "sˈɛpəɹət"),
    ("Separate the files.", "sˈɛpəɹˌAt"),
    ("We estimate the cost.", "ˈɛstəmˌAt"),
    ("A rough estimate.", "ˈɛstəmət"),
    ("Catch a bass in the lake.", "bˈæs"),
    ("He plays the bass guitar.", "bˈAs"),
    ("Send me your resume.", "ɹˈɛzəmˌA"),
    ("Please resume.", "ɹəzˈum"),
    ("The bandage was wound around it.", "wˈWnd"),
    ("The wound healed.", "wˈund"),
    ("Prices increase.", "ɪnkɹˈis"),
    ("The increase is big.", "ˈɪnkɹˌis"),
    ("House the guests.", "hˈWz"),
    ("The house is old.", "hˈWs"),
]

WEAK_FORMS = [
    ("the apple", "ði ˈæpᵊl"),
    ("the dog", "ðə dˈɔɡ"),
    ("the hour", "ði ˈWəɹ"),
    ("the user", "ðə jˈuzəɹ"),
    ("THE END", "ði ˈɛnd"),
    ("IT IS UP TO US NOW", "ɪt ɪz ˌʌp tʊ ˌʌs nˈW"),
    ("a dog", "ɐ dˈɔɡ"),
    ("A dog", "ɐ dˈɔɡ"),
    ("plan A", "plˈæn ˈA"),
    ("an egg", "ɐn ˈɛɡ"),
    ("to go", "tə ɡˌO"),
    ("to eat", "tʊ ˈit"),
    ("Where to?", "wˌɛɹ tu?"),
    ("I am here.", "ˌI ɐm hˈɪɹ."),
    ("Yes, I am.", "jˈɛs, ˌI æm."),
    ("Come in.", "kˈʌm ˈɪn."),
    ("in time", "ɪn tˈIm"),
    ("Yes, I can.", "jˈɛs, ˌI kˈæn."),
    ("I can go.", "ˌI kæn ɡˌO."),
    ("That is it.", "ðˈæt ɪz ɪt."),
    ("the fact that he left", "ðə fˈækt ðæt hi lˈɛft"),
    ("She used to sing.", "ʃˌi jˈust tə sˈɪŋ."),
    ("It is used to cut.", "ˌɪt ɪz jˈuzd tə kˈʌt."),
    ("I am used to it.", "ˌI ɐm jˈust tʊ ɪt."),
]

PUNCTUATION = [
    ("Hello, world!", "həlˈO, wˈɜɹld!"),
    ("One; two: three?", "wˈʌn; tˈu: θɹˈi?"),
    ('"Yes" (no)', "“jˈɛs” (nˈO)"),
    ("“Yes”", "“jˈɛs”"),
    ("[yes] {no}", "(jˈɛs) (nˈO)"),
    ("well...", "wˈɛl…"),
    ("yes - no", "jˈɛs — nˈO"),
    ("yes -- no", "jˈɛs — nˈO"),
    ("yes – no", "jˈɛs — nˈO"),
    ("  yes \n no\t", "jˈɛs nˈO"),
    ("yes，no。", "jˈɛs, nˈO."),
    ("Dr. Smith", "dˈɑktəɹ smˈɪθ"),
    ("the U.S. market", "ðə jˌuˈɛs mˈɑɹkət"),
    ("in the U.S.", "ɪn ðə jˌuˈɛs."),
    ("and/or", "ænd ɔɹ"),
    ("node.js", "nˈOd dˈɑt ʤˌAˈɛs"),
    ("fifty%", "fˈɪfti pəɹsˈɛnt"),
    ("", ""),
    ("🙂", ""),
]


@pytest.mark.parametrize(("text", "part"), HETERONYMS)
def test_heteronyms_follow_their_neighbours(
    phonemizer: EnglishPhonemizer, text: str, part: str
) -> None:
    assert part in phonemizer.phonemes(text)


@pytest.mark.parametrize(("text", "phonemes"), WEAK_FORMS)
def test_small_words_sound_by_what_follows(
    phonemizer: EnglishPhonemizer, text: str, phonemes: str
) -> None:
    assert phonemizer.phonemes(text) == phonemes


@pytest.mark.parametrize(("text", "phonemes"), PUNCTUATION)
def test_punctuation_stays(
    phonemizer: EnglishPhonemizer, text: str, phonemes: str
) -> None:
    assert phonemizer.phonemes(text) == phonemes


def test_threads_share_one_phonemizer(phonemizer: EnglishPhonemizer) -> None:
    texts = [f"the zorblax of frobnicated grumbles {word}" for word, _ in WEAK_FORMS]
    alone = [phonemizer.phonemes(text) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(phonemizer.phonemes, texts)) == alone
