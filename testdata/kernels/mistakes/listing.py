def programs():
    return 3


def needs(a, b):
    return a + b


def odd():
    yield "name without a function"


def empty():
    return []
