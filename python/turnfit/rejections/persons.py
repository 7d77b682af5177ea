"""What to tell the person who waits for an answer, in their language.

A new language is a new block in `MESSAGES`, with the same seven entries.
"""

from __future__ import annotations

import re

from turnfit.rejections.rejection import Kind, Retry

__all__ = ["LOCALES", "person_message"]

_TOPICS: dict[Kind, str] = {
    "context_overflow": "too_long",
    "payload_too_large": "too_large",
    "rate_limit": "busy",
    "server": "down",
    "content_policy": "declined",
    "reasoning_prefix": "stuck",
}

MESSAGES: dict[str, dict[str, str]] = {
    "en": {
        "too_long": (
            "This conversation has grown too long for the model to read at once. Please "
            "start a new one for the next step. What has been built so far stays."
        ),
        "too_large": (
            "What was sent is too large for the model to accept. Please send fewer or "
            "smaller files, or split the text into parts. What has been built so far stays."
        ),
        "busy": "The model is in high demand right now. Please try again in a little while.",
        "down": "The model can't be reached right now. Please try again in a little while.",
        "declined": (
            "The model's provider declined this request because of its content rules. Please "
            "word it differently."
        ),
        "stuck": (
            "This conversation can't be continued in its present form. Please start a new "
            "one for the next step. What has been built so far stays."
        ),
        "fault": (
            "Something isn't right on our side, not yours. Please try again later, or let us "
            "know if it happens again. What has been built so far stays."
        ),
    },
    "es": {
        "too_long": (
            "Esta conversación ya es demasiado larga para que el modelo la lea de una vez. "
            "Empieza una nueva para el siguiente paso. Lo que ya está hecho se conserva."
        ),
        "too_large": (
            "Lo que se ha enviado es demasiado grande para el modelo. Envía menos archivos o "
            "archivos más pequeños, o divide el texto en partes. Lo que ya está hecho se "
            "conserva."
        ),
        "busy": (
            "El modelo está muy solicitado en este momento. Vuelve a intentarlo dentro de un rato."
        ),
        "down": (
            "Ahora mismo no se puede acceder al modelo. Vuelve a intentarlo dentro de un rato."
        ),
        "declined": (
            "El proveedor del modelo ha rechazado esta petición por sus normas de contenido. "
            "Prueba a formularla de otra manera."
        ),
        "stuck": (
            "Esta conversación no puede continuar tal como está. Empieza una nueva para el "
            "siguiente paso. Lo que ya está hecho se conserva."
        ),
        "fault": (
            "Algo no va bien por nuestra parte; no es culpa tuya. Vuelve a intentarlo más "
            "tarde y, si se repite, avísanos. Lo que ya está hecho se conserva."
        ),
    },
    "pt": {
        "too_long": (
            "Esta conversa ficou longa demais para o modelo ler de uma só vez. Comece uma "
            "nova para o próximo passo. O que já foi feito continua guardado."
        ),
        "too_large": (
            "O que foi enviado é grande demais para o modelo. Envie menos arquivos ou "
            "arquivos menores, ou divida o texto em partes. O que já foi feito continua "
            "guardado."
        ),
        "busy": "O modelo está com muita demanda neste momento. Tente de novo daqui a pouco.",
        "down": "Não é possível acessar o modelo neste momento. Tente de novo daqui a pouco.",
        "declined": (
            "O provedor do modelo recusou este pedido por causa das suas regras de conteúdo. "
            "Tente escrevê-lo de outra forma."
        ),
        "stuck": (
            "Esta conversa não pode continuar como está. Comece uma nova para o próximo "
            "passo. O que já foi feito continua guardado."
        ),
        "fault": (
            "Algo não está certo do nosso lado, não do seu. Tente de novo mais tarde e "
            "avise-nos se acontecer outra vez. O que já foi feito continua guardado."
        ),
    },
    "ru": {
        "too_long": (
            "Разговор стал слишком длинным: модель не может прочитать его за один раз. Начните "
            "новый для следующего шага. Всё, что уже сделано, сохранится."
        ),
        "too_large": (
            "Отправлено слишком много данных, модель их не принимает. Приложите меньше "
            "файлов, возьмите файлы поменьше или разбейте текст на части. Всё, что уже "
            "сделано, сохранится."
        ),
        "busy": "Сейчас модель перегружена запросами. Попробуйте ещё раз чуть позже.",
        "down": "Сейчас модель недоступна. Попробуйте ещё раз чуть позже.",
        "declined": (
            "Поставщик модели отклонил этот запрос из-за своих правил о содержании. "
            "Попробуйте сформулировать его иначе."
        ),
        "stuck": (
            "Этот разговор нельзя продолжить в его нынешнем виде. Начните новый для "
            "следующего шага. Всё, что уже сделано, сохранится."
        ),
        "fault": (
            "Что-то не так на нашей стороне, вы ни при чём. Попробуйте позже, а если это "
            "повторится, сообщите нам. Всё, что уже сделано, сохранится."
        ),
    },
    "hi": {
        "too_long": (
            "यह बातचीत इतनी लंबी हो गई है कि मॉडल इसे एक बार में नहीं पढ़ सकता। अगले चरण के "
            "लिए कृपया नई बातचीत शुरू करें। अब तक जो बना है, वह बना रहेगा।"
        ),
        "too_large": (
            "भेजी गई सामग्री मॉडल के लिए बहुत बड़ी है। कृपया कम या छोटी फ़ाइलें भेजें, या "
            "पाठ को हिस्सों में बाँट दें। अब तक जो बना है, वह बना रहेगा।"
        ),
        "busy": "मॉडल पर इस समय बहुत भार है। कृपया थोड़ी देर बाद फिर कोशिश करें।",
        "down": "मॉडल से अभी संपर्क नहीं हो पा रहा है। कृपया थोड़ी देर बाद फिर कोशिश करें।",
        "declined": (
            "मॉडल के प्रदाता ने अपने सामग्री नियमों के कारण यह अनुरोध स्वीकार नहीं किया। "
            "कृपया इसे दूसरे शब्दों में लिखें।"
        ),
        "stuck": (
            "यह बातचीत इस रूप में आगे नहीं बढ़ सकती। अगले चरण के लिए कृपया नई बातचीत शुरू "
            "करें। अब तक जो बना है, वह बना रहेगा।"
        ),
        "fault": (
            "हमारी ओर से कुछ गड़बड़ है, आपकी ओर से नहीं। कृपया बाद में फिर कोशिश करें, और "
            "दोबारा ऐसा हो तो हमें बताएँ। अब तक जो बना है, वह बना रहेगा।"
        ),
    },
    "zh": {
        "too_long": (
            "这个对话已经太长，模型无法一次读完。请为下一步新开一个对话。已经完成的内容都会保留。"
        ),
        "too_large": (
            "发送的内容太大，模型无法接收。请减少或缩小文件，或者把文字分成几部分发送。已经完"
            "成的内容都会保留。"
        ),
        "busy": "目前使用模型的人太多，请稍后再试。",
        "down": "目前无法连接到模型，请稍后再试。",
        "declined": "模型提供方根据其内容规则拒绝了这个请求，请换一种说法再试。",
        "stuck": "这个对话无法以现在的状态继续。请为下一步新开一个对话。已经完成的内容都会保留。",
        "fault": (
            "问题出在我们这边，与您无关。请稍后再试；如果再次出现，请告诉我们。已经完成的内容"
            "都会保留。"
        ),
    },
    "ja": {
        "too_long": (
            "この会話は長くなりすぎて、モデルが一度に読み切れません。次のステップは新しい会話"
            "で始めてください。これまでに作られたものはそのまま残ります。"
        ),
        "too_large": (
            "送信された内容が大きすぎて、モデルが受け付けられません。ファイルを減らすか小さく"
            "するか、文章を分けて送ってください。これまでに作られたものはそのまま残ります。"
        ),
        "busy": (
            "現在、モデルへのアクセスが集中しています。しばらくしてからもう一度お試しください。"
        ),
        "down": "現在、モデルに接続できません。しばらくしてからもう一度お試しください。",
        "declined": (
            "モデルの提供元のコンテンツに関する規則により、このリクエストは受け付けられません"
            "でした。表現を変えてお試しください。"
        ),
        "stuck": (
            "この会話は今の状態のままでは続けられません。次のステップは新しい会話で始めてくだ"
            "さい。これまでに作られたものはそのまま残ります。"
        ),
        "fault": (
            "こちら側で問題が起きています。お客様の操作が原因ではありません。後ほどもう一度お"
            "試しいただき、繰り返す場合はお知らせください。これまでに作られたものはそのまま残"
            "ります。"
        ),
    },
}

LOCALES = tuple(MESSAGES)
"""The languages that there are messages in."""


def person_message(kind: Kind, retry: Retry, locale: str) -> str:
    """What to tell the person.

    A request that alone is over a rate or a plan's limit is, to them, a conversation that has
    grown too long.

    >>> person_message("server", "later", "pt_BR.UTF-8")
    'Não é possível acessar o modelo neste momento. Tente de novo daqui a pouco.'
    """
    language = re.split(r"[-_.]", locale.strip().lower(), maxsplit=1)[0]
    messages = MESSAGES.get(language, MESSAGES["en"])
    if retry == "smaller" and kind != "payload_too_large":
        return messages["too_long"]
    return messages[_TOPICS.get(kind, "fault")]
