"""The words of the invented handbook from which ``make_history.py`` writes its chapters.

Written for this project and dedicated to the public domain, CC0-1.0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["BANKS", "CHAPTERS", "LOG_LINES", "REMARKS", "TASK", "TERMS", "TOOLS_TOLD", "Bank"]


@dataclass(frozen=True)
class Bank:
    """What chapters in one language are made of.

    Attributes:
        sentences: sentences with slots.
        words: what may stand in a slot.
        headings: the headings of sections.
        checklist: the heading of a chapter's last section.
        sections: how many sections a chapter has before that.
        space: what stands between sentences.
    """

    sentences: Sequence[str]
    words: Mapping[str, Sequence[str]]
    headings: Sequence[str]
    checklist: str
    sections: int
    space: str = " "


TOOLS_TOLD = (
    "You are an editor of technical handbooks. You work alone, with tools: list_files, "
    "read_file, write_file, search, update_glossary and run_checks. Read before you judge, "
    "write what you find into review/, and keep the glossary in step with every chapter."
)

TASK = (
    "Please review the handbook of our weather station network, all of it, in the order of "
    "handbook/. The English chapters are the reference. For the Russian, Chinese and Hindi ones "
    "check that they say the same, that numbers and thresholds agree with the English text, and "
    "that terms follow the glossary; add the terms that are missing. Where a chapter speaks of "
    "the station software, of logs or of readings, look at the files that it names. Put your "
    "findings into review/, a file a chapter, in English. Go on until the last chapter is done "
    "and don't ask in between; at the end give me a summary with the five most serious findings."
)

REMARKS = (
    "The next chapter.",
    "The thresholds agree so far. I go on with the next file.",
    "Two figures look doubtful; I note them and go on.",
    "The terms are consistent here. Let me see what follows.",
    "One paragraph is unclear; I will come back to it in the review.",
    "Good, now the file that this chapter refers to.",
    "The order of the steps surprises me. I check it against the source.",
    "This chapter is in good condition. On to the next.",
    "I want to see the whole text before I judge this paragraph.",
    "The unit is missing in one place; noted.",
    "Let me compare that with what the station really does.",
)

LOG_LINES = (
    "INFO  logger: {n} readings written, queue {n}, free space {n} %",
    "INFO  radio: joined the gateway at {place}, signal -{n} dBm",
    "INFO  clock: set by the gateway, drift {n} ms",
    "INFO  power: battery 12.{n} V, panel {n} mA",
    "DEBUG bus: address 0x{n} answered after {n} us",
    "DEBUG {instrument}: raw 0x7a{n}, filtered over {n} samples",
    "DEBUG scheduler: next run at {clock}, {n} jobs waiting",
    "WARN  {instrument}: value unchanged for {n} minutes",
    "WARN  radio: {n} packets lost, sending again at {clock}",
    "WARN  power: panel gives {n} mA at noon; is there {trouble} on it?",
    "ERROR {instrument}: no reading in {n} attempts, last good one at {clock}",
    "ERROR logger: checksum of block {n} is wrong, block skipped",
)

TERMS: Mapping[str, Sequence[tuple[str, str]]] = {
    "en": (
        ("rain gauge", "rain gauge"),
        ("radiation shield", "radiation shield"),
        ("zero check", "zero check"),
    ),
    "ru": (
        ("осадкомер", "rain gauge"),
        ("поверка", "verification"),
        ("метеоплощадка", "observation site"),
        ("порыв ветра", "gust"),
    ),
    "zh": (
        ("雨量计", "rain gauge"),
        ("百叶箱", "instrument shelter"),
        ("零点校验", "zero check"),
        ("阵风", "gust"),
    ),
    "hi": (
        ("वर्षामापी", "rain gauge"),
        ("अंशांकन", "calibration"),
        ("पाठ्यांक", "reading"),
        ("झोंका", "gust"),
    ),
}

_TOPICS = {
    "en": (
        "Choosing a site",
        "Mounting the mast",
        "Temperature and humidity",
        "Measuring rain",
        "Measuring wind",
        "Power and batteries",
        "Radio and gateways",
        "Yearly maintenance",
        "When a station falls silent",
    ),
    "ru": (
        "Выбор места",
        "Установка мачты",
        "Температура и влажность",
        "Измерение осадков",
        "Измерение ветра",
        "Питание и аккумуляторы",
        "Радиосвязь",
        "Ежегодное обслуживание",
    ),
    "zh": (
        "选址",
        "立杆",
        "温度与湿度",
        "测量降水",
        "测量风",
        "供电与蓄电池",
        "无线电与网关",
        "年度维护",
    ),
    "hi": (
        "स्थान का चुनाव",
        "मस्तूल लगाना",
        "तापमान और आर्द्रता",
        "वर्षा मापना",
        "बिजली और बैटरी",
    ),
}

CHAPTERS: Sequence[tuple[str, str, str]] = tuple(
    (language, f"{number:02}.md", title)
    for language, titles in _TOPICS.items()
    for number, title in enumerate(titles, 1)
)
"""Language, file name and title of every chapter, in the order of the work."""

_ENGLISH = Bank(
    sections=5,
    checklist="Before you leave",
    headings=(
        "What you need",
        "How it is done",
        "What goes wrong",
        "Why it matters",
        "In winter",
        "For two people",
        "Figures to remember",
        "From the field",
    ),
    words={
        "instrument": (
            "rain gauge",
            "barometer",
            "anemometer",
            "thermometer",
            "wind vane",
            "hygrometer",
            "data logger",
            "solar panel",
        ),
        "place": (
            "the mill",
            "Upper Ford",
            "the quarry road",
            "Three Pines",
            "the school roof",
            "Salt Meadow",
            "the old ferry",
        ),
        "person": (
            "the warden",
            "a volunteer",
            "the caretaker",
            "your partner",
            "the school class",
            "the duty officer",
        ),
        "trouble": (
            "a spider's web",
            "wet leaves",
            "a loose clamp",
            "hoar frost",
            "a cracked seal",
            "a wasps' nest",
            "corroded contacts",
            "bird droppings",
        ),
        "season": ("in early spring", "after the harvest", "before the first frost", "in a thaw"),
        "unit": ("millimetres", "centimetres", "minutes", "paces", "readings", "degrees"),
        "tool": ("a soft brush", "the long spanner", "a spirit level", "contact spray", "a lamp"),
    },
    sentences=(
        "set the {instrument} at least {n} paces from the nearest wall, or the wall is what you "
        "measure.",
        "at {place} a {instrument} stood {n} {unit} too low for years, and nobody noticed until "
        "{person} compared two Julys.",
        "if the {instrument} shows the same value for more than {n} minutes, look for {trouble} "
        "before you suspect the software.",
        "write the time down first, then the value: {person} can guess a value later, but never "
        "a time.",
        "take {tool} with you; {n} of a hundred visits fail because somebody left it in the car.",
        "tighten the four bolts crosswise, a quarter of a turn each, and check the mast {season} "
        "again.",
        "the difference between two neighbouring stations should stay below {n} {unit}; more than "
        "that is a fault, not weather.",
        "{trouble} weighs little, but it is enough to stop a {instrument} on a calm day.",
        "never clean a {instrument} with water from the stream: it leaves lime, and lime reads "
        "like drought.",
        "{season} the sun stands low at {place}, and the shield of the {instrument} throws its "
        "shadow on the panel from {clock} on.",
        "a reading that looks wrong is kept and marked; a reading that was deleted can't be "
        "explained by anybody.",
        "count to {n} after you have closed the lid, so that the {instrument} settles before the "
        "first value is stored.",
        "when the battery falls below 11.{n} volts the logger keeps measuring but sends only "
        "every third value.",
        "call {person} before you climb, and again when you are down; the mast does not care "
        "about good intentions.",
        "the cable comes from below and makes a loop of {n} centimetres, so that rain drips off "
        "instead of running into the box.",
        "compare the {instrument} with the travelling one for {n} minutes in the shade, and note "
        "both values side by side.",
        "a gateway hears about {n} stations; at {place} it hears fewer, because the hill stands "
        "in the way.",
        "do not believe the first {n} readings after a visit: you have warmed the {instrument} "
        "with your hands.",
        "where cattle graze, fence the site with {n} posts; a cow is fond of anything that can be "
        "rubbed against.",
        "the second person reads the list aloud, the first one answers; that finds {trouble} more "
        "often than good eyes do.",
        "snow on the funnel of a gauge melts at noon and is then counted as rain that fell at "
        "{clock}.",
        "{person} at {place} asks every year why we paint nothing white ourselves: a second coat "
        "changes the value by {n} hundredths.",
        "replace the drying agent when it has turned pink, at the latest after {n} weeks.",
        "keep the old {instrument} running beside the new one for {n} days, or the series has a "
        "step that nobody can repair.",
        "if you can hear the {instrument}, the bearing is worn; a good one makes no sound even at "
        "{n} kilometres an hour.",
        "the form has a line for what you did not do; it is the most important one, so use it.",
        "with {tool} and a little patience {trouble} is gone in {n} minutes.",
        "an alarm at {clock} is nearly always {trouble}; an alarm at several stations at once is "
        "nearly always weather.",
    ),
)

_RUSSIAN = Bank(
    sections=6,
    checklist="Перед уходом",
    headings=(
        "Что взять с собой",
        "Порядок работы",
        "Типичные ошибки",
        "Зачем это нужно",
        "Зимой",
        "Работа вдвоём",
        "Запомните эти числа",
        "Случаи из практики",
    ),
    words={
        "прибор": ("осадкомер", "барометр", "анемометр", "термометр", "флюгер", "гигрометр"),
        "место": ("у мельницы", "на Верхнем броде", "у карьера", "на крыше школы", "у переправы"),
        "кто": ("смотритель", "доброволец", "дежурный", "напарник", "школьный кружок"),
        "помеха": ("паутина", "мокрая листва", "ослабший хомут", "изморозь", "осиное гнездо"),
        "пора": ("ранней весной", "после жатвы", "до первых заморозков", "в оттепель"),
    },
    sentences=(
        "{прибор} ставят не ближе {n} шагов от стены, иначе измеряется стена, а не погода.",
        "{место} {прибор} много лет стоял слишком низко, и заметили это лишь тогда, когда {кто} "
        "сравнил два июля подряд.",
        "если {прибор} больше {n} минут показывает одно и то же, сначала проверьте, не мешает ли "
        "ему {помеха}.",
        "сначала запишите время и только потом значение: значение ещё можно восстановить, время "
        "— никогда.",
        "болты затягивают крест-накрест, по четверти оборота, а {пора} мачту проверяют снова.",
        "разница между соседними станциями не должна превышать {n} единиц; всё, что больше, — "
        "неисправность, а не погода.",
        "{помеха} весит немного, но в тихий день этого хватает, чтобы {прибор} остановился.",
        "не мойте {прибор} водой из ручья: на нём останется известь, и данные станут похожи на "
        "засуху.",
        "сомнительное показание не стирают, а помечают: стёртое уже никто не объяснит.",
        "закрыв крышку, досчитайте до {n}, чтобы {прибор} успокоился до первой записи.",
        "когда напряжение падает ниже 11,{n} вольта, регистратор продолжает измерять, но "
        "передаёт лишь каждое третье значение.",
        "позвоните дежурному до подъёма и сразу после спуска; мачте безразличны добрые намерения.",
        "кабель подводят снизу и делают петлю в {n} сантиметров, чтобы дождь стекал, а не "
        "попадал в ящик.",
        "сравнивайте {прибор} с переносным не меньше {n} минут, в тени, и записывайте оба "
        "показания рядом.",
        "первым {n} показаниям после визита верить нельзя: {прибор} согрелся от ваших рук.",
        "там, где пасётся скот, площадку обносят оградой из {n} столбов.",
        "снег в воронке тает к полудню и записывается как дождь, прошедший в {clock}.",
        "осушитель меняют, когда он порозовел, но не реже чем раз в {n} недель.",
        "старый {прибор} оставляют рядом с новым на {n} суток, иначе в ряду появится ступенька, "
        "которую уже не исправить.",
        "если {прибор} слышно, подшипник изношен; исправный молчит и при {n} километрах в час.",
        "в бланке есть строка о том, чего вы не сделали; она самая важная, не оставляйте её "
        "пустой.",
        "тревога в {clock} — это почти всегда {помеха}; тревога сразу на нескольких станциях — "
        "почти всегда погода.",
        "{кто} читает список вслух, другой отвечает: так неполадки находят чаще, чем просто "
        "внимательным взглядом.",
    ),
)

_CHINESE = Bank(
    sections=8,
    checklist="离开之前",
    space="",
    headings=(
        "需要准备什么",
        "操作步骤",
        "常见错误",
        "为什么重要",
        "冬季注意事项",
        "两人配合",
        "必须记住的数字",
        "现场经验",
    ),
    words={
        "仪器": ("雨量计", "气压计", "风速仪", "温度计", "风向标", "湿度计", "数据记录器"),
        "地点": ("磨坊旁", "上渡口", "采石场路边", "三棵松", "学校屋顶", "盐草地"),
        "人": ("管理员", "志愿者", "值班员", "同伴", "学校的小组"),
        "故障": ("蜘蛛网", "湿树叶", "松动的卡箍", "霜", "开裂的密封圈", "鸟粪"),
        "时节": ("早春", "秋收以后", "初霜之前", "融雪期间"),
    },
    sentences=(
        "{仪器}离最近的墙至少要有{n}步，否则量到的是墙，而不是天气。",
        "{地点}的{仪器}多年来装得太低，直到{人}把两个七月的数据放在一起才发现。",
        "如果{仪器}超过{n}分钟显示同一个数值，先看看是不是有{故障}，再去怀疑软件。",
        "先记时间，再记数值：数值以后还能推算，时间却不能。",
        "四个螺栓要对角拧紧，每次四分之一圈；{时节}再检查一次立杆。",
        "相邻两站的差值应当小于{n}个单位，超过了就是故障，不是天气。",
        "{故障}虽然很轻，但在无风的日子里足以让{仪器}停住。",
        "不要用溪水清洗{仪器}：水垢会留在上面，读数看起来就像干旱。",
        "可疑的读数要保留并加上标记；删掉的读数谁也解释不了。",
        "盖上盖子以后数到{n}，让{仪器}稳定下来，再存第一个数值。",
        "电压低于11.{n}伏时，记录器继续测量，但每三个数值只发送一个。",
        "爬杆之前给值班员打电话，下来以后再打一次。",
        "电缆从下方接入，并留出{n}厘米的滴水弯，雨水就不会流进箱子里。",
        "在阴凉处把{仪器}与便携式仪器对比{n}分钟，两个数值并排记下来。",
        "检修后的前{n}个读数不可信：{仪器}已经被手焐热了。",
        "有牲畜的地方要用{n}根木桩围起来，牛喜欢蹭一切能蹭的东西。",
        "漏斗里的雪到中午才融化，于是被记成{clock}下的雨。",
        "干燥剂变成粉红色就要更换，最迟不超过{n}周。",
        "旧的{仪器}要和新的并行{n}天，否则数据序列里会留下无法修补的台阶。",
        "如果听得见{仪器}的声音，说明轴承已经磨损；好的轴承在每小时{n}公里时也没有声音。",
        "表格里有一行写“没有做的事”，这一行最重要，请不要留空。",
        "{clock}的警报几乎总是{故障}；几个站同时报警，几乎总是天气。",
        "{人}念清单，另一个人回答，这样比单靠眼力更容易发现{故障}。",
        "一个网关大约能收到{n}个站的信号；在{地点}要少一些，因为有山挡着。",
    ),
)

_HINDI = Bank(
    sections=4,
    checklist="लौटने से पहले",
    headings=(
        "क्या साथ रखें",
        "काम का क्रम",
        "आम गलतियाँ",
        "यह क्यों ज़रूरी है",
        "सर्दियों में",
        "याद रखने योग्य अंक",
    ),
    words={
        "यंत्र": ("वर्षामापी", "तापमापी", "दाबमापी", "पवनमापी", "आर्द्रतामापी"),
        "जगह": ("चक्की के पास", "ऊपरी घाट पर", "खदान की सड़क पर", "स्कूल की छत पर"),
        "कौन": ("रखवाला", "स्वयंसेवक", "ड्यूटी अधिकारी", "आपका साथी"),
        "बाधा": ("मकड़ी का जाला", "गीला पत्ता", "ढीला पेंच", "पाला"),
    },
    sentences=(
        "{यंत्र} दीवार से कम से कम {n} कदम दूर लगाएँ, नहीं तो आप मौसम नहीं, दीवार मापेंगे।",
        "{जगह} {यंत्र} कई साल तक बहुत नीचे लगा रहा और किसी ने ध्यान नहीं दिया।",
        "यदि {यंत्र} {n} मिनट से अधिक एक ही मान दिखाए, तो पहले देखें कि कहीं {बाधा} तो नहीं है।",
        "पहले समय लिखें, फिर मान: मान का अनुमान बाद में लग सकता है, समय का नहीं।",
        "पेंच आमने-सामने कसें, हर बार चौथाई घुमाव, और पाला पड़ने से पहले फिर जाँचें।",
        "दो पड़ोसी केंद्रों का अंतर {n} इकाई से कम रहना चाहिए; इससे अधिक हो तो वह खराबी है।",
        "{यंत्र} को नाले के पानी से न धोएँ, क्योंकि चूना जम जाता है।",
        "संदिग्ध पाठ्यांक मिटाएँ नहीं, उस पर निशान लगाएँ।",
        "ढक्कन बंद करके {n} तक गिनें, ताकि {यंत्र} स्थिर हो जाए।",
        "चढ़ने से पहले और उतरने के बाद ड्यूटी अधिकारी को फ़ोन करें।",
        "तार नीचे से लाएँ और {n} सेंटीमीटर का घुमाव छोड़ें, ताकि पानी डिब्बे में न जाए।",
        "छाया में {यंत्र} की तुलना साथ लाए यंत्र से {n} मिनट तक करें और दोनों मान लिखें।",
        "दौरे के बाद पहले {n} पाठ्यांकों पर भरोसा न करें।",
        "जहाँ पशु चरते हैं, वहाँ {n} खंभों की बाड़ लगाएँ।",
        "{clock} की चेतावनी में लगभग हमेशा कारण {बाधा} होता है।",
        "{कौन} सूची ज़ोर से पढ़ता है और दूसरा उत्तर देता है; इस तरह खराबी जल्दी मिलती है।",
    ),
)

BANKS: Mapping[str, Bank] = {
    "en": _ENGLISH,
    "ru": _RUSSIAN,
    "zh": _CHINESE,
    "hi": _HINDI,
}
