"""Trims the dumps of make.sh to what the tests need, whole threads always:
drops the program's own helpers, empty lists of synchronizers, and library
and named threads whose frames (those of the JDK and those below) earlier
threads had.
Usage: trim.py dump... ; the first is kept fullest; files are rewritten."""
import re
import sys

seen = set()
for path in sys.argv[1:]:
    text = open(path).read().replace("\n   Locked ownable synchronizers:\n\t- None\n", "")
    head, *blocks = re.split(r'(?m)^(?=")', text)
    tail = ""
    if blocks and "\n\n" in blocks[-1]:
        blocks[-1], tail = blocks[-1].split("\n\n", 1)
    kept = []
    for b in blocks:
        name = b.split('"')[1]
        frames = [re.sub(r"\d+", "", f) for f in re.findall(r"\tat ([\w.$<>]+)\(", b)]
        jdk = next((i for i, f in enumerate(frames) if not f.startswith(("java.", "sun.", "jdk."))), len(frames))
        keys = {("jdk", *frames[:min(jdk, 5)]), ("library", *frames[jdk:jdk + 6])}
        if name.startswith("stand-") or keys <= seen:
            continue
        seen |= keys
        kept.append(b.rstrip("\n") + "\n\n")
    open(path, "w").write(head + "".join(kept) + tail)
