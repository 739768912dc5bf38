"""Run where compiled code is kept for later: what programs do most, often enough that V8 optimises it."""

import collections
import dataclasses
import datetime
import decimal
import functools
import io
import itertools
import json
import math
import random
import re
import statistics
import string


@dataclasses.dataclass(order=True)
class Item:
    name: str
    price: float
    tags: list = dataclasses.field(default_factory=list)

    @property
    def label(self):
        return f"{self.name}: {self.price:.2f} ({', '.join(self.tags)})"


class Account:
    def __init__(self, balance=0):
        self._balance = balance

    def deposit(self, amount):
        if amount < 0:
            raise ValueError(f"negative amount: {amount}")
        self._balance += amount
        return self

    def __eq__(self, other):
        return self._balance == other._balance


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@functools.lru_cache
def cached(n):
    return n if n < 2 else cached(n - 1) + cached(n - 2)


def primes(limit):
    sieve = bytearray([1]) * limit
    for number in range(2, int(limit**0.5) + 1):
        if sieve[number]:
            sieve[number * number :: number] = bytes(len(range(number * number, limit, number)))
    return [number for number in range(2, limit) if sieve[number]]


def text_work(seed):
    words = ["".join(random.Random(seed + n).choices(string.ascii_lowercase, k=6)) for n in range(60)]
    counts = collections.Counter(letter for word in words for letter in word)
    joined = " ".join(sorted(words, key=lambda word: (len(word), word[::-1])))
    found = re.findall(r"\b([a-m]+)(\w*)\b", joined)
    return counts.most_common(3), [first.upper() + second for first, second in found], joined.title().split()


def data_work():
    items = [Item(f"item {n}", n * 1.5, ["a", "b"]) for n in range(60)]
    table = {item.name: dataclasses.asdict(item) for item in items if item.price > 3}
    again = json.loads(json.dumps(table, indent=1))
    groups = {key: list(group) for key, group in itertools.groupby(items, key=lambda item: int(item.price) % 4)}
    buffer = io.StringIO()
    for item in sorted(items, reverse=True):
        print(item.label, file=buffer)
    return again, groups, buffer.getvalue().count("\n"), repr(items)


def number_work():
    total = 0
    for n in range(4000):
        total += n * n % 7
        if total > 10**6 and total % 3 == 0:
            total //= 2
    values = [math.sin(n) * math.sqrt(n) for n in range(200)]
    matrix = [[row * column for column in range(12)] for row in range(12)]
    product = [[sum(a * b for a, b in zip(row, column)) for column in zip(*matrix)] for row in matrix]
    return total, statistics.mean(values), product, decimal.Decimal(1) / 7, 3**200 % 10**9, float("1.5e3")


def failure_work():
    caught = 0
    for action in (lambda: [][1], lambda: {}["x"], lambda: int("x"), lambda: Account().deposit(-1)):
        try:
            action()
        except (IndexError, KeyError, ValueError) as error:
            caught += len(str(error))
    return caught


def generators():
    def count(limit):
        n = 0
        while n < limit:
            yield n
            n += 1

    with open("/tmp/warm-up", "w") as file:
        file.writelines(f"{n}\n" for n in count(50))
    with open("/tmp/warm-up") as file:
        numbers = [int(line) for line in file]
    first, *rest = numbers
    return first, sum(rest), {n % 5 for n in rest}, any(n > 40 for n in rest), tuple(reversed(numbers))[1:10:2]


def compile_work(n):
    source = f"def f{n}(a, b=1, *c, **d):\n    return [x + a for x in range(b) if x % 2]\nresult = f{n}({n}, 5)"
    namespace = {}
    exec(compile(source, "<warm-up>", "exec"), namespace)
    return namespace["result"], datetime.datetime(2024, 1, 1) + datetime.timedelta(days=n)


for n in range(40):
    fibonacci(15), cached(200), primes(3000)
    text_work(n), data_work(), number_work(), failure_work(), generators(), compile_work(n)
