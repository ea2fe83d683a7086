"""What was written for Alibaba's voices is spoken with the embedded one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cosykit.config.schema import EngineSettings, Settings
from tests.server.conftest import Running, running
from tests.server.dashscope.conftest import BareSocket, talking


@pytest.fixture(scope="module")
def lite(lite_models: Path) -> Iterator[Running]:
    engine = EngineSettings(warm_up=False)
    settings = Settings(model="lite", models_dir=lite_models, engine=engine)
    with running(settings) as server:
        yield server


def spoken(talk: BareSocket, task_id: str, text: str, **parameters: object) -> bytes:
    talk.run(task_id, **{"voice": "longxiaochun_v2", "format": "wav", **parameters})
    talk.say(text, task_id)
    talk.finish(task_id)
    return b"".join(told.audio for told in talk.until("task-finished"))


def test_hosted_voices_are_of_their_gender_and_words_read_as_asked(
    lite: Running,
) -> None:
    text = "重庆。"
    hot_fix = {"pronunciation": [{"重庆": "zhong4 qing4"}]}
    with talking(lite) as talk:
        usual = spoken(talk, "1", text)
        assert usual[:4] == b"RIFF"
        assert spoken(talk, "2", text, voice="zf_xiaoxiao") == usual
        male = spoken(talk, "3", text, voice="longcheng_v2")
        assert spoken(talk, "4", text, voice="zm_yunxi") == male != usual
        asked = spoken(talk, "5", text, hot_fix=hot_fix)
        replaced = spoken(talk, "6", text, hot_fix={"replace": [{"重庆": "众庆"}]})
        assert len({usual, asked, replaced}) == 3


def test_reading_that_is_no_pinyin_fails_the_task(lite: Running) -> None:
    with talking(lite) as talk:
        talk.run(hot_fix={"pronunciation": [{"重庆": "chong9 qing4"}]}, voice="alloy")
        talk.say("重庆。")
        talk.finish()
        failure = talk.failure()
    assert failure["error_code"] == "InvalidParameter"
    assert "'重庆'" in failure["error_message"]
