# SPDX-License-Identifier: BSD-3-Clause
"""100 tasks that interleave in one thread, in spans of two names. Prints the bytes that moved while any task was inside
each name, by its own account."""
import asyncio
import json

import mover
import uncore

TASKS, LINES = 100, 64
inside = {"request": 0, "reply": 0}
moved = {"request": 0, "reply": 0}


def move(n_bytes):
    mover.move(n_bytes)
    for name, count in inside.items():
        moved[name] += n_bytes if count else 0


@uncore.region("task")
async def task(number):
    """Every task is in both spans, for turns of its own."""
    for name in ("request", "reply"):
        async with uncore.span(name):
            inside[name] += 1
            for _ in range(number % 7 + 1):
                move(LINES * number)
                await asyncio.sleep(0.001 * (number % 3))
            inside[name] -= 1
        move(LINES)
        await asyncio.sleep(0.001)


async def main():
    await asyncio.gather(*(task(number) for number in range(TASKS)))


asyncio.run(main())
print(json.dumps(moved))
