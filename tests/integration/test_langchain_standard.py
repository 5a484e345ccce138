"""LangChain's own standard suites over the wrapper, around a plain-text model that answers in three dialects."""

from typing import Any

import pytest

pytest.importorskip("langchain_tests", reason="the suites come with the group test-peers")

from langchain_core.language_models import BaseChatModel
from langchain_tests.integration_tests import ChatModelIntegrationTests
from langchain_tests.unit_tests import ChatModelUnitTests

from tests.integration.langchain_scripted import Scripted
from toolglot.langchain import ToolCallingChatModel

SIZES = {"hermes": 1, "pythonic": 3, "qwen3_xml": 7}
"""The pieces that each model streams in, in code points."""


class Dialect:
    """What the suites ask of a model. Skipped, or declared as not there:

    - images, audio and PDFs, as inputs and in tool messages: the scripted model takes text alone, and the suites
      would load files from the network;
    - `supports_json_mode`: JSON by decoding is the wrapped model's affair, structured output goes by a tool call;
    - `init_from_env_params`: no setting is read from the environment;
    - `test_serdes`: a model that holds another, live one is not serializable;
    - `enable_vcr_tests` (`test_stream_time`): there is no HTTP to record.
    """

    dialect = ""
    format = "auto"

    @property
    def chat_model_class(self) -> type[BaseChatModel]:
        return ToolCallingChatModel

    @property
    def chat_model_params(self) -> dict[str, Any]:
        inner = Scripted(dialect=self.dialect, size=SIZES[self.dialect])
        return {"llm": inner, "format": self.format, "model": "scripted-1"}

    @property
    def supports_anthropic_inputs(self) -> bool:
        return True

    @property
    def supports_model_override(self) -> bool:
        return True

    @property
    def model_override_value(self) -> str:
        return "scripted-2"


class TestHermesUnit(Dialect, ChatModelUnitTests):
    dialect = "hermes"


class TestHermes(Dialect, ChatModelIntegrationTests):
    dialect = "hermes"


class TestPythonicUnit(Dialect, ChatModelUnitTests):
    dialect = format = "pythonic"


class TestPythonic(Dialect, ChatModelIntegrationTests):
    dialect = format = "pythonic"


class TestQwen3XmlUnit(Dialect, ChatModelUnitTests):
    dialect = format = "qwen3_xml"


class TestQwen3Xml(Dialect, ChatModelIntegrationTests):
    dialect = format = "qwen3_xml"
