"""Texts in many scripts, made from short banks of sentences."""

from __future__ import annotations

from functools import cache
from random import Random

from benches import sizes

__all__ = ["ASCII_CODE", "BANKS", "KINDS", "RANDOM", "data", "stored_bytes", "text"]

BANKS: dict[str, tuple[str, ...]] = {
    "English": (
        "The parser keeps one token of lookahead and never backtracks. ",
        "Every request is logged with its latency and the size of its body. ",
        "We moved the retry loop out of the client, since two callers had their own. ",
        "A cache that is never invalidated is only a slow way to be wrong. ",
        "The third test fails on a machine whose clock runs backwards. ",
        "Please check whether the migration has been applied to the replica too.\n",
    ),
    "Russian": (
        "Разборщик хранит один символ наперёд и никогда не возвращается. ",
        "Каждый запрос записывается вместе с задержкой и размером тела. ",
        "Повторы мы вынесли из клиента: у двух вызывающих уже были свои. ",
        "Кэш, который никто не сбрасывает, лишь медленный способ ошибаться. ",
        "Третий тест падает на машине, часы которой идут назад. ",
        "Проверьте, пожалуйста, применена ли миграция и на реплике.\n",
    ),
    "Chinese": (
        "解析器只向前看一个符号，从不回溯。",
        "每个请求都会连同延迟和正文大小一起记录下来。",
        "重试循环已经从客户端移出，因为两个调用方各有自己的一份。",
        "从不失效的缓存，不过是一种缓慢的出错方式。",
        "第三个测试在时钟倒走的机器上会失败。",
        "请检查迁移是否也已应用到副本上（编号 42）。\n",
    ),
    "Hindi": (
        "पार्सर केवल एक चिह्न आगे देखता है और कभी पीछे नहीं लौटता। ",
        "हर अनुरोध अपनी देरी और आकार के साथ दर्ज होता है। ",
        "हमने दोबारा कोशिश का चक्र ग्राहक से बाहर कर दिया। ",
        "जो कैश कभी खाली नहीं होता वह धीरे-धीरे ग़लत होने का तरीका है। ",
        "तीसरी जाँच उस मशीन पर विफल होती है जिसकी घड़ी उलटी चलती है। ",
        "कृपया देखें कि बदलाव दूसरी प्रति पर भी लागू हुआ या नहीं।\n",
    ),
    "emoji": (
        "🎉🚀 shipped! ",
        "👩‍💻👨‍👩‍👧‍👦 ",
        "🔥🔥🔥 ",
        "🇺🇦🇯🇵🇧🇷 ",
        "✅ 🟢 done ",
        "🤔…👀 ",
        "❤️‍🔥👍🏽\n",
    ),
    "source code": (
        "def read(path: Path) -> bytes:\n    return path.read_bytes()\n\n",
        "for (const [key, value] of Object.entries(head)) {\n  out.push(`${key}: ${value}`);\n}\n",
        "    # Порядок важен: сначала закрываем поток, затем удаляем файл.\n",
        "impl Drop for Guard {\n    fn drop(&mut self) {\n        self.lock.release();\n    }\n}\n",
        "    // 这里不能用缓存，见 issue #214\n",
        'log.warning("retry %d of %d after %.1f s", attempt, limit, delay)\n',
        "SELECT id, name FROM users WHERE deleted_at IS NULL ORDER BY id LIMIT 50;\n",
        'raise ValueError(f"größe must be positive, not {size!r}")\n',
    ),
}

ASCII_CODE = "code, all ASCII"
RANDOM = "random bytes"
KINDS = (*BANKS, RANDOM)


def data(kind: str, size: int) -> bytes:
    """Bytes of this kind, of which there is no str where they are random."""
    if kind == RANDOM:
        return Random(size).randbytes(size)
    if size <= sizes.PIECE:
        return text(kind, size).encode()
    piece = text(kind, sizes.PIECE).encode()
    return (piece * (size // len(piece) + 1))[:size]


def stored_bytes(text: str) -> int:
    """The bytes in which CPython keeps a text's characters."""
    last = max(text, default="")
    return len(text) * (1 if last < "\u0100" else 2 if last < "\U00010000" else 4)


@cache
def text(kind: str, size: int, seed: int = 0) -> str:
    """A text of this kind whose UTF-8 is `size` bytes, less what cuts a character."""
    return text_uncached(kind, size, seed)


def _bank(kind: str) -> tuple[str, ...]:
    if kind == ASCII_CODE:
        return tuple(line for line in BANKS["source code"] if line.isascii())
    return BANKS[kind]


def text_uncached(kind: str, size: int, seed: int) -> str:
    random = Random(f"{kind} {seed}")
    bank = _bank(kind)
    mean = sum(len(sentence.encode()) for sentence in bank) / len(bank)
    parts: list[str] = []
    written = 0
    while written < size:
        some = random.choices(bank, k=int((size - written) / mean) + 1)
        written += sum(len(sentence.encode()) for sentence in some)
        parts += some
    return "".join(parts).encode()[:size].decode("utf-8", "ignore")
