"""Compiles JAX programs for one GPU that need not be there, and leaves XLA's dumps.

`aliascheck compile` runs this in the user's own Python, one process a target. On
standard input stands the job, one JSON object:

    {"target": NAME, "config": GpuTargetConfigProto as text, "dump": DIR,
     "programs": [{"what", "args", "donate", "static", "mesh", "name"}...],
     "skip": [KEY...]       programs that an earlier process of this target had
     "needs_ptxas": bool}

On the file descriptor that ALIASCHECK_EVENTS names it writes one JSON object a line:

    {"event": "ready", "jax", "jaxlib", "python", "dropped": [FIELD...]}
    {"event": "refused", "error", "mend"}      nothing can be compiled here
    {"event": "start", "key", "name"}          a program's turn has come
    {"event": "end", "key", "name", "modules": [NUMBER...], "seconds", "placeholders": [TARGET...],
     "without": [WHAT...]}   what this XLA does not know, or had to do without
    {"event": "fail", "key", "name", "error", "mend", "place": "file:line"}
    {"event": "done"}

A key is the program's place in the job and its place in what that WHAT yields: "2/0".
A number is the one in XLA's file names: module_NUMBER.NAME.STAGE. What the program
prints goes to standard error.
"""

import json
import os
import sys
import time
import traceback

import aliascheck_programs
import aliascheck_target
from aliascheck_target import Trouble


class Events:
    """The pipe to aliascheck."""

    def __init__(self):
        fd = int(os.environ.pop("ALIASCHECK_EVENTS"))
        os.set_inheritable(fd, False)  # nor for what the program starts
        self.file = os.fdopen(fd, "w", buffering=1)

    def write(self, event, **fields):
        self.file.write(json.dumps(dict(fields, event=event)) + "\n")


def main():
    events = Events()
    job = json.load(sys.stdin)
    try:
        target = aliascheck_target.Target(job)
    except Trouble as trouble:
        events.write("refused", error=str(trouble), mend=trouble.mend)
        return
    events.write("ready", jax=target.jax, jaxlib=target.jaxlib, python=sys.version.split()[0], dropped=target.dropped)
    skip = set(job.get("skip") or ())
    for number, entry in enumerate(job["programs"]):
        if "%d/*" % number not in skip:
            one_what(events, target, number, entry, skip)
    events.write("done")


def one_what(events, target, number, entry, skip):
    """Compiles every program that one WHAT stands for."""
    key = "%d/*" % number  # until its programs are known
    events.write("start", key=key, name=entry["what"])
    try:
        with target.answering():
            programs = iter(aliascheck_programs.programs(target, entry))
        place = 0
        while True:
            key = "%d/*" % number
            with target.answering():
                program = next(programs, None)
            if program is None:
                break
            key = "%d/%d" % (number, place)
            place += 1
            if key not in skip:
                events.write("start", key=key, name=program.name)
                one_program(events, target, key, program)
                events.write("start", key="%d/*" % number, name=entry["what"])
        if place == 0:
            raise Trouble("%s yields no program" % entry["what"])
        events.write("end", key="%d/*" % number, name=entry["what"], modules=[], seconds=0, placeholders=[], without=[])
    except BaseException as error:
        failed(events, target, "%d/*" % number, entry["what"], error)


def one_program(events, target, key, program):
    start = time.monotonic()
    try:
        modules, placeholders, without = compiled(target, program)
        if not modules:
            # JAX still had it, from an equal program before it.
            sys.modules["jax"].clear_caches()
            modules, placeholders, without = compiled(target, program)
        if not modules:
            raise Trouble("it was compiled, and XLA left no dump")
    except BaseException as error:
        failed(events, target, key, program.name, error)
        return
    events.write("end", key=key, name=program.name, modules=modules, seconds=time.monotonic() - start,
                 placeholders=placeholders, without=without)


def compiled(target, program):
    with target.answering():
        return target.compile(program)


def failed(events, target, key, name, error):
    if isinstance(error, KeyboardInterrupt):
        raise error
    place = "" if isinstance(error, Trouble) else place_of(error)
    traceback.print_exception(type(error), error, error.__traceback__)
    text, mend = aliascheck_target.explain(error, target)
    events.write("fail", key=key, name=name, error=text, mend=mend, place=place)


def place_of(error):
    """The innermost frame of the user's own code that an error passed through."""
    if isinstance(error, SyntaxError) and error.filename:
        return "%s:%d" % (error.filename, error.lineno or 0)
    place = ""
    while error is not None and not place:  # JAX keeps where a traced function was as the cause
        for frame, line in traceback.walk_tb(error.__traceback__):
            name = frame.f_code.co_filename
            if "site-packages" not in name and "dist-packages" not in name and not name.startswith("<") and not in_library(name):
                place = "%s:%d" % (name, line)
        error = error.__cause__
    return place


def in_library(name):
    return os.path.abspath(name).startswith(os.path.dirname(os.__file__) + os.sep)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # what the program left running, or for its exit, is not our business
