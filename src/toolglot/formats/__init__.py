"""The wire formats: one file a family, declarations only. `ORDER` is the order of preference of `format="auto"`."""

ORDER = (
    "hermes",
    "qwen3_xml",
    "glm",
    "mistral",
    "deepseek",
    "kimi",
    "header_json",
    "gigachat",
    "minimax",
    "gemma",
    "cwm",
    "json_lists",
    "lfm2",
    "xml_invoke",
    "harmony",
    "plain",
    "llama3",
)
