"""A pytest plugin that notes which modules each test compiled.

`aliascheck run` loads it. It writes one JSON object a line to a file beside the
process's dump directory (aliascheck_run.directory() + ".tests.jsonl"):

    {"event": "begin"}                                    the plugin is at work
    {"event": "start", "test": ID}
    {"event": "end", "test": ID, "modules": [NUMBER...], "outcome": WORD, "calls": N}
                                                          compiled since the start
    {"event": "outside", "modules": [NUMBER...]}          compiled between tests
    {"event": "finish", "compiled": N, "dumped": M, "cached": K}
    {"event": "process", "test": ID}    a test started this process: see aliascheck_run

A number is the one in XLA's file names: module_NUMBER.NAME.STAGE.
"""

import json
import os
import re
import sys
import time

import pytest

import aliascheck_run

_MODULE = re.compile(r"(?:\d+\.)?module_(\d+)\.")


class Directory:
    """The dump directory, read again only when something in it has changed."""

    def __init__(self):
        self.path = aliascheck_run.directory()
        self.numbers = set()
        self._unchanged_since = None

    def new(self):
        """The numbers of the modules that appeared since the last call, sorted."""
        try:
            changed = os.stat(self.path).st_mtime_ns
            if changed == self._unchanged_since:
                return []
            names = os.listdir(self.path)
        except OSError:
            return []
        # File times are coarse: trust one only when it is well in the past.
        settled = time.time_ns() - changed > 2_000_000_000
        self._unchanged_since = changed if settled else None
        found = {int(m.group(1)) for m in map(_MODULE.match, names) if m}
        fresh = sorted(found - self.numbers)
        self.numbers |= found
        return fresh


class Compilations:
    """Counts what JAX says it compiled, to compare with what was dumped."""

    def __init__(self):
        self.compiled = self.cached = 0
        self.listening = False

    def listen(self):
        """Starts counting as soon as the program has imported JAX. True once."""
        if self.listening or "jax" not in sys.modules:
            return False
        monitoring = getattr(sys.modules["jax"], "monitoring", None)
        if monitoring is None:
            return False
        monitoring.register_event_duration_secs_listener(self._duration)
        monitoring.register_event_listener(self._event)
        self.listening = True
        return True

    def _duration(self, event, *args, **kwargs):
        if event == "/jax/core/compile/backend_compile_duration":
            self.compiled += 1

    def _event(self, event, *args, **kwargs):
        if event == "/jax/compilation_cache/cache_hits":
            self.cached += 1


class Recorder:
    """The hooks, and the file they write."""

    def __init__(self):
        self.directory = Directory()
        self.compilations = Compilations()
        self.dumped_before = 0  # modules from before the counting started
        self.file = None
        self.outcome = "skipped"
        self.write(event="begin")

    def write(self, **line):
        try:
            if self.file is None:
                self.file = open(self.directory.path + ".tests.jsonl", "ab", buffering=0)
            self.file.write(json.dumps(line).encode() + b"\n")
        except OSError:
            pass  # a full disk is the audit's to tell; the tests go on

    def between_tests(self):
        aliascheck_run.restore()
        modules = self.directory.new()
        if modules:
            self.write(event="outside", modules=modules)
        if self.compilations.listen():
            self.dumped_before = len(self.directory.numbers)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self):
        self.between_tests()

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self):
        self.between_tests()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        self.between_tests()
        self.write(event="start", test=item.nodeid)
        self.outcome, before = "skipped", absent_calls()
        yield
        self.write(event="end", test=item.nodeid, modules=self.directory.new(), outcome=self.outcome, calls=absent_calls() - before)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.outcome = "failed"
        elif report.when == "call" and report.passed and self.outcome != "failed":
            self.outcome = "passed"

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self):
        self.between_tests()
        dumped = len(self.directory.numbers) - self.dumped_before
        if os.environ.get("ALIASCHECK_TARGET"):
            self.compilations.compiled = 0  # the CPU's leave no dump, and should not
        self.write(event="finish", compiled=self.compilations.compiled, dumped=dumped,
                   cached=self.compilations.cached)


def absent_calls():
    """How many functions came to be compiled for an absent GPU: aliascheck_absent."""
    absent = getattr(sys.modules.get("aliascheck_absent"), "Absent", None)
    return absent.here.calls if absent and absent.here else 0


def pytest_configure(config):
    if aliascheck_run.directory() and not config.pluginmanager.has_plugin("aliascheck"):
        aliascheck_run.restore()
        config.pluginmanager.register(Recorder(), "aliascheck")
