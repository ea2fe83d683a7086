"""What an American says for everything that is not written in words."""

import pytest

from cosykit.synthesis.text.clean import clean
from cosykit.synthesis.text.normalize.english import normalize_english
from cosykit.synthesis.text.normalize.english_numbers import cardinal, ordinal, year


def read(text: str) -> str:
    return normalize_english(clean(text)).strip()


@pytest.mark.parametrize(
    ("digits", "words"),
    [
        ("0", "zero"),
        ("13", "thirteen"),
        ("40", "forty"),
        ("99", "ninety-nine"),
        ("100", "one hundred"),
        ("1001", "one thousand one"),
        ("1234", "one thousand two hundred thirty-four"),
        ("1000000", "one million"),
        ("2000000000003", "two trillion three"),
        ("007", "zero zero seven"),
    ],
)
def test_whole_numbers(digits: str, words: str) -> None:
    assert cardinal(digits) == words


@pytest.mark.parametrize(
    ("digits", "words"),
    [
        ("1", "first"),
        ("2", "second"),
        ("3", "third"),
        ("12", "twelfth"),
        ("20", "twentieth"),
        ("21", "twenty-first"),
        ("100", "one hundredth"),
        ("105", "one hundred fifth"),
    ],
)
def test_ranks(digits: str, words: str) -> None:
    assert ordinal(digits) == words


@pytest.mark.parametrize(
    ("digits", "words"),
    [
        ("1066", "ten sixty-six"),
        ("1900", "nineteen hundred"),
        ("1905", "nineteen oh five"),
        ("1999", "nineteen ninety-nine"),
        ("2000", "two thousand"),
        ("2005", "two thousand five"),
        ("2024", "twenty twenty-four"),
    ],
)
def test_years(digits: str, words: str) -> None:
    assert year(digits) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("3.14", "three point one four"),
        (".5", "point five"),
        ("Lv.5", "Lv five"),
        ("LLaMA-3-70B", "LLaMA three seventy B"),
        ("Your OTP is 482913", "Your OTP is four eight two nine one three"),
        ("<5 people and >10 dogs", "less than five people and greater than ten dogs"),
        ("100 m2", "one hundred square meters"),
        ("-5 degrees", "minus five degrees"),
        (
            "1,234,567",
            "one million two hundred thirty-four thousand five hundred sixty-seven",
        ),
        ("1st, 2nd and 23rd", "first, second and twenty-third"),
        ("the 21st century", "the twenty-first century"),
        ("1/2 cup", "one half cup"),
        ("3/4", "three quarters"),
        ("98/100", "ninety-eight out of one hundred"),
        ("50/50", "fifty fifty"),
        ("8.5x11 in., thick", "eight point five by eleven inches, thick"),
        ("4 x 4 x 2", "four by four by two"),
        ("2x3=6", "two times three equals six"),
        ("120 lbs., tall", "one hundred twenty pounds, tall"),
        ("1-800-FLOWERS", "one eight hundred FLOWERS"),
        ("20/20 vision", "twenty twenty vision"),
        ("12/25-12/31", "December twenty-fifth to December thirty-first"),
        ("9:30am–11am", "nine thirty AM to eleven AM"),
        ("9 a.m.-5 p.m. daily", "nine AM to five PM daily"),
        ("1 tbsp oil, 2 tsp salt", "one tablespoon oil, two teaspoons salt"),
        ("Apt. 4B", "Apartment four B"),
        ("72 bpm", "seventy-two beats per minute"),
        ("100k users", "one hundred thousand users"),
        ("2x faster", "two times faster"),
        ("Super Bowl LVIII", "Super Bowl fifty-eight"),
        ("2 1/2 cups", "two and a half cups"),
        ("10%", "ten percent"),
        ("10-20%", "ten to twenty percent"),
        ("5‰", "five per mille"),
        ("3-5 days", "three to five days"),
        ("pages 10–20", "pages ten to twenty"),
        ("3:2", "three to two"),
        ("a 3-year-old child", "a three-year-old child"),
        ("a 5-km run", "a five-kilometer run"),
        ("World War II", "World War two"),
        ("Henry VIII", "Henry the eighth"),
        ("Chapter IV", "Chapter four"),
        ("I am an MD", "I am an MD"),
        ("1500 people", "one thousand five hundred people"),
    ],
)
def test_numbers(text: str, words: str) -> None:
    assert read(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("May 1st, 2024", "May first, twenty twenty-four"),
        ("May 1, 2024", "May first, twenty twenty-four"),
        ("1 May 2024", "the first of May, twenty twenty-four"),
        ("Jan. 5", "January fifth"),
        ("Jan 30 - Feb 2", "January thirtieth to February second"),
        ("May 2024", "May twenty twenty-four"),
        ("2024-05-01", "May first, twenty twenty-four"),
        ("01/05/2024", "January fifth, twenty twenty-four"),
        ("25/12/2024", "December twenty-fifth, twenty twenty-four"),
        ("In 2024, sales rose.", "In twenty twenty-four, sales rose."),
        ("since 1776", "since seventeen seventy-six"),
        ("2019–2021", "twenty nineteen to twenty twenty-one"),
        ("1939-45", "nineteen thirty-nine to nineteen forty-five"),
        ("the 1990s", "the nineteen nineties"),
        ("the '80s", "the eighties"),
        ("14:30", "fourteen thirty"),
        ("9:05", "nine oh five"),
        ("9:00", "nine o'clock"),
        ("9:00 AM", "nine AM"),
        ("3pm", "three PM"),
        ("3 p.m. today", "three PM today"),
        (
            "2024-02-29T23:59:00Z",
            "February twenty-ninth, twenty twenty-four at twenty-three fifty-nine UTC",
        ),
        ("14:30:05", "fourteen thirty and five seconds"),
        ("9:00-17:30", "nine o'clock to seventeen thirty"),
        ("24/7", "twenty-four seven"),
        ("9/11", "nine eleven"),
        ("by 12/01", "by December first"),
        ("9 a.m.-5 p.m., Mon.-Fri.", "nine AM to five PM, Monday to Friday"),
        ("1990-2000", "nineteen ninety to two thousand"),
        ("1h30m", "one hour thirty minutes"),
        ("in 1500 words", "in one thousand five hundred words"),
    ],
)
def test_dates_and_times(text: str, words: str) -> None:
    assert read(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("$1", "one dollar"),
        ("$3.50", "three dollars and fifty cents"),
        ("$.50", "fifty cents"),
        ("a $3.5B market", "a three point five billion dollar market"),
        ("a $20 bill", "a twenty dollar bill"),
        ("$0.99", "ninety-nine cents"),
        ("$3.5M", "three point five million dollars"),
        ("$5 million", "five million dollars"),
        ("$10k", "ten thousand dollars"),
        ("$5-10", "five to ten dollars"),
        ("$20/month", "twenty dollars per month"),
        ("$1,234.50", "one thousand two hundred thirty-four dollars and fifty cents"),
        ("€20", "twenty euros"),
        ("£1.01", "one pound and one penny"),
        ("¥100", "one hundred yuan"),
        ("HK$100", "one hundred Hong Kong dollars"),
        ("100 USD", "one hundred dollars"),
        ("-$5", "minus five dollars"),
    ],
)
def test_money(text: str, words: str) -> None:
    assert read(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 km", "one kilometer"),
        ("5km", "five kilometers"),
        ("100 km/h", "one hundred kilometers per hour"),
        ("70°F", "seventy degrees Fahrenheit"),
        ("16GB", "sixteen gigabytes"),
        ("60fps", "sixty frames per second"),
        ("220V", "two hundred twenty volts"),
        ("5 m²", "five square meters"),
        ("5'10\"", "five foot ten"),
        ("6 ft", "six feet"),
        ("5G network", "five G network"),
        ("4K", "four K"),
    ],
)
def test_units(text: str, words: str) -> None:
    assert read(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1-800-555-1234", "one, eight hundred, five five five, one two three four"),
        ("(555) 123-4567", "five five five, one two three, four five six seven"),
        ("call 911", "call nine one one"),
        ("705A", "seven oh five A"),
        ("E100", "E one hundred"),
        ("A380", "A three eighty"),
        ("Boeing 747", "Boeing seven forty-seven"),
        ("Go to Room 705.", "Go to Room seven oh five."),
        ("Fly RTX 4090. And", "Fly RTX forty ninety. And"),
        ("Room 705", "Room seven oh five"),
        ("RTX 4090", "RTX forty ninety"),
        ("1080p", "ten eighty p"),
        ("MP3", "MP three"),
        ("B2B", "B to B"),
        ("H2O", "H two O"),
        ("COVID-19", "COVID nineteen"),
        ("GPT-4o", "GPT four o"),
        ("iPhone 15 Pro", "iPhone fifteen Pro"),
        ("v2.0.1", "version two point zero point one"),
        ("version 2.0", "version two point zero"),
        ("192.168.1.1", "one nine two dot one six eight dot one dot one"),
        ("10.0.0.1:80", "ten dot zero dot zero dot one colon eight zero"),
        ("No. 5", "Number five"),
        ("CA 94043", "CA nine four zero four three"),
        ("#1", "number one"),
        ("mid-2020", "mid twenty twenty"),
        ("User ID: 10001", "User ID: one zero zero zero one"),
        ("QQ 12345678", "QQ one two three four five six seven eight"),
        ("ID 123 456", "ID one two three, four five six"),
        ("The ID number is 10001.", "The ID number is one zero zero zero one."),
        ("QQ has 10001 users", "QQ has ten thousand one users"),
        ("QQ 100 million", "QQ one hundred million"),
        ("The ID is 100% safe", "The ID is one hundred percent safe"),
    ],
)
def test_codes(text: str, words: str) -> None:
    assert read(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1+1=2", "one plus one equals two"),
        ("5-3=2", "five minus three equals two"),
        ("3×4", "three times four"),
        ("x²", "x squared"),
        ("10^-6", "ten to the power of minus six"),
        ("√2", "square root of two"),
        ("a ≥ b", "a greater than or equal to b"),
        ("±5", "plus or minus five"),
        ("R&D", "R and D"),
        ("C++ and C#", "C plus plus and C sharp"),
        ("50+", "fifty plus"),
        ("and/or", "and or"),
        ("~50 people", "about fifty people"),
        ("A → B", "A, B"),
        ("read this - now", "read this, now"),
        ("well-known", "well-known"),
        ("don't", "don't"),
        ("snake_case", "snake case"),
    ],
)
def test_mathematics_and_signs(text: str, words: str) -> None:
    assert read(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Dr. Smith", "Doctor Smith"),
        ("Mr. and Mrs. Brown", "Mister and Missus Brown"),
        ("St. Louis", "Saint Louis"),
        ("on Main St.", "on Main Street."),
        ("e.g. this, i.e. that", "for example this, that is that"),
        ("cats, dogs, etc.", "cats, dogs, et cetera."),
        ("one vs. two", "one versus two"),
        ("No. 1 vs. No. 2", "Number one versus Number two"),
        ("Call ext. 89.", "Call extension eighty-nine."),
        ("the U.S.A. is", "the USA is"),
        ("He left the U.S. The end.", "He left the US. The end."),
        ("J. K. Rowling", "J K Rowling"),
        ("a Ph.D. student", "a PhD student"),
        ("Fig. 3", "Figure three"),
        ("https://example.com/a-b.", "example dot com slash A dash B."),
        ("john.doe@example.com", "john dot doe at example dot com"),
        ("#MachineLearning", "hashtag Machine Learning"),
        ("Order #A1029", "Order number A ten twenty-nine"),
        ("@openai", "at openai"),
        ("see docs/config.md", "see docs slash config dot MD"),
        ("run ./install.sh", "run dot slash install dot SH"),
        ("2 tbsp. of sugar", "two tablespoons of sugar"),
        ("5 lbs. of flour", "five pounds of flour"),
        ("main.py", "main dot PY"),
        ("/usr/local/bin", "slash usr slash local slash bin"),
    ],
)
def test_addresses_and_abbreviations(text: str, words: str) -> None:
    assert read(text) == words
