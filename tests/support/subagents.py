"""Generated work of subagents: one instruction, then a long run of file reads."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

Message = dict[str, Any]

SENTENCES = {
    "en": [
        "The harbour was quiet when the last boat came in.",
        "Nobody had told the night watch about the change of plans.",
        "A ledger with water-stained pages lay open on the table.",
        "She counted the lanterns twice and found one missing.",
        "By noon the whole town spoke of nothing else.",
    ],
    "ru": [
        "Гавань была тиха, когда вернулась последняя лодка.",
        "Никто не сказал ночному сторожу о перемене планов.",
        "На столе лежала раскрытая книга с пятнами воды.",
        "Она дважды пересчитала фонари и одного не нашла.",
        "К полудню весь город говорил только об этом.",
    ],
    "zh": [
        "最后一条船回来时，港口一片寂静。",
        "没有人把计划的改变告诉守夜人。",
        "桌上摊着一本被水渍浸过的账簿。",
        "她数了两遍灯笼，发现少了一盏。",
        "到了中午，全镇的人都在谈论这件事。",
    ],
    "hi": [
        "जब आख़िरी नाव लौटी तो बंदरगाह शांत था।",
        "रात के पहरेदार को किसी ने योजना बदलने की बात नहीं बताई।",
        "मेज़ पर पानी के दाग़ वाली एक बही खुली पड़ी थी।",
        "उसने लालटेनें दो बार गिनीं और एक कम निकली।",
        "दोपहर तक पूरा शहर इसी की बात कर रहा था।",
    ],
}


def chapter(rng: random.Random, language: str, sentences: int) -> str:
    """A text of so many sentences in one language."""
    return " ".join(rng.choice(SENTENCES[language]) for _ in range(sentences))


def rounds(seed: int, sentences: tuple[int, int] = (100, 900)) -> Iterator[list[Message]]:
    """Rounds without end: a call that reads a file, and the file."""
    rng = random.Random(seed)
    number = 0
    while True:
        number += 1
        language = rng.choice(sorted(SENTENCES))
        call = {
            "id": f"call_{seed}_{number}",
            "type": "function",
            "function": {
                "name": "read_file",
                "arguments": f'{{"path":"book/{language}/chapter-{number:03}.txt"}}',
            },
        }
        yield [
            {"role": "assistant", "content": f"Chapter {number} is next.", "tool_calls": [call]},
            {
                "role": "tool",
                "tool_call_id": call["id"],
                "content": chapter(rng, language, rng.randint(*sentences)),
            },
        ]


def opening(seed: int) -> list[Message]:
    """A system message and the one instruction."""
    return [
        {"role": "system", "content": "You read books and write down what you find in them."},
        {"role": "user", "content": f"Read volume {seed} to its end and keep a list of names."},
    ]
