"""How single words are read, as the dictionary of the model's makers would say them."""

import pytest

from cosykit.synthesis.text.english.phonemizer import EnglishPhonemizer

INFLECTED = """
cats kˈæts              dogs dˈɔɡz              boxes bˈɑksᵻz
churches ʧˈɜɹʧᵻz        cities sˈɪTiz           cat's kˈæts
boss's bˈɔsᵻz           dogs' dˈɔɡz             heroes hˈɪɹOz
walked wˈɔkt            begged bˈɛɡd            wanted wˈɑntᵻd
needed nˈidᵻd           voted vˈOTᵻd            tried tɹˈId
stopped stˈɑpt          googled ɡˈuɡᵊld         reading ɹˈidɪŋ
voting vˈOTɪŋ           making mˈAkɪŋ           stopping stˈɑpɪŋ
dying dˈIɪŋ             texted tˈɛkstᵻd         debugging dˌibˈʌɡɪŋ
schemas skˈiməz         weren't wˌɜɹnt          you'll jul
it'd ˈɪTəd              there'd ðɛɹd            that'll ðætᵊl
let's lˈɛts             o'clock əklˈɑk          rock'n'roll ɹˈɑknɹˌOl
Huawei's wˈɑwˌAz        GitHub's ɡˈɪthˌʌbz      iPhones ˈIfˌOnz
"""

COMPOUND = """
well-known wˌɛlnˈOn             real-time ɹˌiᵊltˈIm
one-click wˌʌnklˈɪk             webpage wˈɛbpˌAʤ
changelog ʧˈAnʤlˌɔɡ             voiceprint vˈYspɹˌɪnt
tokenizers tˈOkənˌIzəɹz         tokenization tˌOkənəzˈAʃən
refactored ɹifˈæktəɹd           unstaged ʌnstˈAʤd
camelCase kˈæmᵊlkˌAs            WebSocket wˌɛbsˈɑkət
hyperparameter hˌIpəɹpəɹˈæməTəɹ text-to-speech tˈɛksttuspˈiʧ
"""

SPELT = """
API ˌApˌiˈI         APIs ˌApˌiˈIz       api ˌApˌiˈI
GPUs ʤˌipˌijˈuz     CPU's sˌipˌijˈuz    PDF pˌidˌiˈɛf
pdf pˌidˌiˈɛf       URL jˌuˌɑɹˈɛl       XKCD ˌɛkskˌAsˌidˈi
HTTPS ˌAʧtˌitˌipˌiˈɛs   PhD pˌiˌAʧdˈi   AT&T ˌAtˌiᵊntˈi
IT ˌItˈi            US jˌuˈɛs           AI ˌAˈI
TV tˌivˈi           ＡＢＣ ˌAbˌisˈi      b bˈi
"""

PRONOUNCED_ACRONYMS = """
NASA nˈæsə          nasa nˈæsə          JSON ʤˈAsˌɑn
json ʤˈAsˌɑn        SQL sˈikwəl         ONNX ˈɑnɪks
CUDA kˈudə          YAML jˈæmᵊl         ASCII ˈæski
RAM ɹˈæm            TODO tˈudˌu         README ɹˈidmˌi
WARNING wˈɔɹnɪŋ     STOP stˈɑp          USERS jˈuzəɹz
"""

NAMES_OF_PRODUCTS = """
CosyKit kˈOzikˌɪt           CosyVoice kˈOzivˌYs         iPhone ˈIfˌOn
GitHub ɡˈɪthˌʌb             github ɡˈɪthˌʌb             YouTube jˈutˌub
ChatGPT ʧˌætʤˌipˌitˈi       PyTorch pˈItˌɔɹʧ            WeChat wˈiʧˌæt
macOS mˌækˌOˈɛs             iOS ˌIOˈɛs                  TypeScript tˈIpskɹˌɪpt
JavaScript ʤˈɑvəskɹˌɪpt     Kubernetes kˌubəɹnˈɛTiz     nginx ˌɛnʤɪnˈɛks
MySQL mˌIˌɛskjˌuˈɛl         NumPy nˈʌmpˌI               ffmpeg ˌɛfˌɛfˈɛmpˌɛɡ
OpenAI ˌOpᵊnˌAˈI            Qwen kwˈɛn                  DeepSeek dˈipsˌik
Wi-Fi wˈIfˌI                Linux lˈɪnəks               TikTok tˈɪktˌɑk
"""

CHINESE_NAMES = """
Xiaoming ʃˌWmˈɪŋ        Zhang ʤˈɑŋ              Qingdao ʧˌɪŋdˈW
Beijing bˌAʤˈɪŋ         Shanghai ʃæŋhˈI         Alibaba ˌɑlibˈɑbə
Huawei wˈɑwˌA           Xiaomi ʃWmˈi            Baidu bˌIdˈu
Taobao tˌWbˈW           Zhihu ʤˌɜɹhˈu           Douyin dˌOjˈɪn
Zhengfei ʤˌʌŋfˈA        Zhao ʤˈW                Qiang ʧjˈɑŋ
Xue ʃwˈɛ                Jingdong ʤˌɪŋdˈʊŋ       Guoqing ɡwˌOʧˈɪŋ
Xi'an ʃˌiˈɑn            Liu ljˈO                Zhongguancun ʤˌʊŋɡwɑntsˈʊn
"""

OTHER_SCRIPTS = """
café kæfˈA      naïve nɑˈiv     Zürich zˈuɹɪk   ﬁle fˈIl        β bˈATə
"""

IN_SEVERAL_WORDS = [
    ("HTML5", "ˌAʧtˌiˌɛmˈɛl fˈIv"),
    ("GPT-4", "ʤˌipˌitˈi fˈɔɹ"),
    ("H264", "ˈAʧ tˈu sˈɪksti fˈɔɹ"),
    ("B2B", "bˈi tˈu bˈi"),
    ("SHA256", "ˌɛsˌAʧˈA tˈu fˈɪfti sˈɪks"),
    ("HTMLParser", "ˌAʧtˌiˌɛmˈɛl pˈɑɹsəɹ"),
    ("vLLM", "vˈi ˌɛlˌɛlˈɛm"),
    ("R&D", "ˈɑɹ ænd dˈi"),
    ("C++", "sˈi plˈʌs plˈʌs"),
    ("C#", "sˈi ʃˈɑɹp"),
    ("snake_case", "snˈAk kˈAs"),
    ("7", "sˈɛvən"),
    ("42", "fˈɔɹTi tˈu"),
    ("2024", "twˈɛnti twˈɛnti fˈɔɹ"),
    ("1990s", "nˌIntˈin nˈIndiz"),
    ("21st", "twˈɛnti fˈɜɹst"),
    ("3.14", "θɹˈi pˈYnt wˈʌn fˈɔɹ"),
    ("2.0.1", "tˈu dˈɑt zˈɪɹO dˈɑt wˈʌn"),
    ("10,000", "tˈɛn θˈWzᵊnd"),
    ("你好", "nˈi hˈW"),
]


def table(rows: str) -> list[tuple[str, str]]:
    fields = rows.split()
    return list(zip(fields[::2], fields[1::2], strict=True))


@pytest.mark.parametrize(("word", "phonemes"), table(INFLECTED))
def test_regular_endings(
    phonemizer: EnglishPhonemizer, word: str, phonemes: str
) -> None:
    assert phonemizer.phonemes(word) == phonemes


@pytest.mark.parametrize(("word", "phonemes"), table(COMPOUND))
def test_compounds_and_derivations(
    phonemizer: EnglishPhonemizer, word: str, phonemes: str
) -> None:
    assert phonemizer.phonemes(word) == phonemes


@pytest.mark.parametrize(("word", "phonemes"), table(SPELT))
def test_acronyms_are_spelt_with_stress_on_the_last_letter(
    phonemizer: EnglishPhonemizer, word: str, phonemes: str
) -> None:
    assert phonemizer.phonemes(word) == phonemes


@pytest.mark.parametrize(("word", "phonemes"), table(PRONOUNCED_ACRONYMS))
def test_acronyms_that_are_words(
    phonemizer: EnglishPhonemizer, word: str, phonemes: str
) -> None:
    assert phonemizer.phonemes(word) == phonemes


@pytest.mark.parametrize(("word", "phonemes"), table(NAMES_OF_PRODUCTS))
def test_names_of_products(
    phonemizer: EnglishPhonemizer, word: str, phonemes: str
) -> None:
    assert phonemizer.phonemes(word) == phonemes


@pytest.mark.parametrize(("word", "phonemes"), table(CHINESE_NAMES))
def test_romanised_chinese(
    phonemizer: EnglishPhonemizer, word: str, phonemes: str
) -> None:
    assert phonemizer.phonemes(word) == phonemes


@pytest.mark.parametrize(("word", "phonemes"), table(OTHER_SCRIPTS))
def test_accents_and_other_alphabets(
    phonemizer: EnglishPhonemizer, word: str, phonemes: str
) -> None:
    assert phonemizer.phonemes(word) == phonemes


@pytest.mark.parametrize(("word", "phonemes"), IN_SEVERAL_WORDS)
def test_one_word_read_as_several(
    phonemizer: EnglishPhonemizer, word: str, phonemes: str
) -> None:
    assert phonemizer.phonemes(word) == phonemes
