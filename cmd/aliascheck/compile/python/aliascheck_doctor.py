"""What this Python has of what aliascheck needs, as one JSON object on standard output.
JAX itself is not imported: that takes seconds, and may fail."""

import json
import os
import sys

import aliascheck_target as target


def main():
    jax = target.version("jax")
    # For the lines of a Python without JAX: the newest that it can have, and that was tried.
    newest = {(3, 10): "0.6.2", (3, 11): "0.10.2"}.get(sys.version_info[:2], "0.11.2")
    old = jax is not None and target.numbers_of(jax) < target.OLDEST
    lines = target.pip_lines(newest if jax is None or old else jax)
    if jax is None or old:
        lines["jax"] = lines["plugin"].replace("install ", "install 'jax==%s' " % newest, 1)
        lines["plugin"] = lines["ptxas"] = "with JAX, above"
    plugin = next((m for m in ("13", "12") if target.version("jax-cuda%s-plugin" % m)), None)
    print(json.dumps({
        "python": sys.version.split()[0],
        "executable": sys.executable,
        "jax": jax,
        "jaxlib": target.version("jaxlib"),
        "old": old,
        "plugin": plugin and "jax-cuda%s-plugin %s" % (plugin, target.version("jax-cuda%s-plugin" % plugin)),
        "plugin_fits": plugin is not None and target.version("jax-cuda%s-plugin" % plugin) == jax
                       and target.version("jax-cuda%s-pjrt" % plugin) is not None,
        "ptxas": target.find_ptxas(),
        "absl": target.version("absl-py"),
        "triton": target.version("triton"),
        "jax_triton": target.version("jax-triton"),
        "flatbuffers": target.version("flatbuffers"),
        "pip": dict(lines,
                    triton="%s -m pip install triton jax-triton" % sys.executable,
                    flatbuffers="%s -m pip install flatbuffers" % sys.executable,
                    sanitizer="%s -m pip install nvidia-cuda-sanitizer-api" % sys.executable),
        "cache_directory": os.environ.get("JAX_COMPILATION_CACHE_DIR") or None,
        "cache_enabled": os.environ.get("JAX_ENABLE_COMPILATION_CACHE", "").lower() not in ("false", "0"),
        "xla_flags": os.environ.get("XLA_FLAGS") or None,
    }))


main()
