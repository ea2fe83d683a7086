"""Numbers and signs in Korean text are written out as they are spoken."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosykit.synthesis.text.korean import korean_sentences
from cosykit.synthesis.text.normalize.korean import normalize_korean


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("2024년 6월 10일", "이천이십사년 유월 십일"),
        ("2024-10-06", "이천이십사년 시월 육일"),
        ("오후 3시 30분", "오후 세 시 삼십분"),
        ("13시", "십삼 시"),
        ("3시간", "세 시간"),
        ("12:30", "열두 시 삼십분"),
        ("9:00", "아홉 시"),
        ("사과 5개", "사과 다섯 개"),
        ("고양이 20마리", "고양이 스무 마리"),
        ("맥주 21 병", "맥주 스물한 병"),
        ("5개월", "오개월"),
        ("3달 동안", "세 달 동안"),
        ("100달러", "백달러"),
        ("1번째 2번째", "첫 번째 두 번째"),
        ("35,000원", "삼만 오천원"),
        ("10000", "만"),
        ("100000000", "일억"),
        ("110000", "십일만"),
        ("0", "영"),
        ("007", "공공칠"),
        ("12.5%", "십이 점 오 퍼센트"),
        ("3.14", "삼 점 일사"),
        ("-3°C", "마이너스 삼 도"),
        ("5kg", "오 킬로그램"),
        ("60km/h", "시속 육십 킬로미터"),
        ("$5.50", "오 점 오영 달러"),
        ("3~5일", "삼에서 오일"),
        ("3-5일", "삼에서 오일"),
        ("1일~3일", "일일에서 삼일"),
        ("50%~60%", "오십 퍼센트에서 육십 퍼센트"),
        ("3/4컵", "사분의 삼컵"),
        ("3:2로 이겼다", "삼 대 이로 이겼다"),
        ("5-3=2", "오 빼기 삼은 이"),
        ("2+2=4", "이 더하기 이는 사"),
        ("2024/05/01", "이천이십사년 오월 일일"),
        ("010-1234-5678", "공일공, 일이삼사, 오육칠팔"),
        ("-3°C~5°C", "마이너스 삼 도에서 오 도"),
        ("오전 9시~오후 6시", "오전 아홉 시에서 오후 여섯 시"),
        ("5월 20일(월)", "오월 이십일 월요일"),
        ("+12.5%", "플러스 십이 점 오 퍼센트"),
        ("3-2로 승리", "삼 대 이로 승리"),
        ("120/80mmHg", "백이십에 팔십 밀리미터에이치지"),
        ("72회/분", "분당 칠십이회"),
        ("120m^2", "백이십 제곱미터"),
        ("x^2", "x 제곱"),
        ("2^10", "이의 십제곱"),
        ("10^-7m", "십의 마이너스 칠제곱 미터"),
        ("3×10^8m/s", "초속 삼 곱하기 십의 팔제곱 미터"),
        ("주문번호 12345-678", "주문번호 일이삼사오, 육칠팔"),
        ("인증번호는 834920입니다", "인증번호는 팔삼사구이공입니다"),
        ("비밀번호는 4자리", "비밀번호는 사자리"),
        ("iPhone 15", "iPhone 십오"),
        ("A4 용지", "A4 용지"),
        ("1" * 21, "일" * 21),
        ("2" * 5000 + ".5", "이" * 5000 + " 점 오"),
    ],
)
def test_numbers_are_written_out(text: str, spoken: str) -> None:
    assert normalize_korean(text) == spoken


@given(st.text("0123456789.,:-~% 개시월원$안", max_size=60))
def test_no_digits_are_left(text: str) -> None:
    spoken = normalize_korean(text)
    assert not any(char.isdigit() for char in spoken)


def test_markup_and_emoji_are_removed_and_letters_kept() -> None:
    (sentence,) = korean_sentences("ㅋㅋㅋ **안녕** 😀 café")
    assert sentence.text == "ㅋㅋㅋ 안녕 cafe"


def test_sentences_and_paragraphs_end_where_the_text_has_them() -> None:
    sentences = korean_sentences("안녕하세요. 반가워요!\n다음 줄")
    assert [each.text for each in sentences] == ["안녕하세요.", "반가워요!", "다음 줄"]
    assert [each.ends_paragraph for each in sentences] == [False, True, False]


def test_numbers_stay_where_they_are_not_to_be_written_out() -> None:
    (sentence,) = korean_sentences("사과 5개", normalize=False)
    assert sentence.text == "사과 5개"
