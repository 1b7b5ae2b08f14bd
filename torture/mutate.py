#!/usr/bin/env python3
"""Mutation testing: small changes to the arithmetic of the library, each of which a test must notice.

    torture/mutate.py BUILD [--rooms engine,stonet,methods,stats] [--sample N] [--seed S] [--jobs J] [--quick SECONDS] [--results FILE]

BUILD is a build with its tests (`make test`). Mutants are drawn at random, the same ones for the same seed and tree. Each is compiled
by itself, linked with each test of its room in front of the unchanged library, and run until one fails; a test that takes twenty times
its processor time (of which a busy machine does not ask more) has noticed, too. Quick tests come first, for all mutants, then the
others for those that are left. What passes all of them is compiled once more with the address sanitizer, under which the tests of `make
sanitize` run: it notices a loop that goes too far. A mutant that compiles to the same bytes is none. Nothing in the tree is touched;
results are kept in FILE (BUILD/mutants.jsonl), from which a run that was ended goes on.

A line whose mutants cannot be noticed says so beside it, `/* no test: WHY */`, and has none; above a function it is about
the whole function. One that takes the other of two numbers only where they are equal (a < b ? a : b) is none. Prints the survivors and
the score; fails below 95 of 100.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import random
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GOAL = 0.95
EMULATED = "_emulated"  # the name of a test that is run once more with the emulated module for GPUs ends so

# What is replaced by what: binary operators stand between blanks in this tree.
OPERATORS = [
    (r" \+ ", " - "), (r" - ", " + "), (r" \* ", " / "), (r" / ", " * "),
    (r" \+= ", " -= "), (r" -= ", " += "), (r" \*= ", " /= "), (r" /= ", " *= "),
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" == ", " != "), (r" != ", " == "),
    (r" && ", " || "), (r" \|\| ", " && "),
    (r"\bsqrtf?\(", "("), (r"\bfabsf?\(", "("), (r"\bexpf?\(", "("), (r"\blogf?\(", "("),
    (r"\b0\.5f?\b", "0.6"), (r"\b2\.0\b|(?<= )2(?= \*)", "3"), (r"(?<=[ (])1(?= [-+/])", "2"), (r"(?<= [-+] )1\b(?!\.)", "2"),
    (r"= 0;", "= 1;"), (r"= 0\.0;", "= 1.0;"), (r"= -1;", "= 1;"), (r"(?<== )-(?=[a-z(])", ""), (r"\(!", "("),
]
SKIPPED = re.compile(r"^\s*(#|/?\*|//|\}|\{|static const|const char|extern|typedef|enum|case |assert)|sn_fail|\.help|\"|_Static_assert|"
                     r"^[a-z].*\($|^\w[\w *]*\(.*|SN_NEW|sn_malloc|sn_calloc|memory_require|sizeof")


# "a < b ? a : b", "if (a > b) a = b;" and "if (a > b) b = a;": the same number where both are equal.
LESSER = re.compile(r"(?:^|[\s(,=])([^?:;,=<>]+) ([<>]=?) ([^?:;,=<>]+) \? (?:\1 : \3|\3 : \1)(?=[;,)]|$)|"
                    r"if \(([^?:;,=<>]+) ([<>]=?) ([^?:;,=<>]+)\) (?:\4 = \6|\6 = \4);")


def is_equal_case(old, new):
    """Whether a line as mutated takes the other of two numbers only where they are equal."""
    old, new = old.replace("->", "."), new.replace("->", ".")
    for match in LESSER.finditer(old):
        start, end = match.span(2) if match[2] else match.span(5)
        other = old[start] + ("" if end - start == 2 else "=")
        if new == old[:start] + other + old[end:]:
            return True
    return False


def mutants_of(path):
    """All mutants of a file: (line number from 0, old line, new line)."""
    lines = open(os.path.join(ROOT, path)).read().split("\n")
    found, comment, exempt = [], False, False
    for number, line in enumerate(lines):
        exempt = line.startswith("/* no test: ") or (exempt and not line.startswith("}"))
        if exempt or "/* no test: " in line:
            continue
        starts, ends = "/*" in line, "*/" in line
        inside, comment = comment or starts, (comment or starts) and not ends
        code = line.split("/*")[0].rstrip() if starts and ends and line.rstrip().endswith("*/") else line
        if (inside and code == line) or SKIPPED.search(code) or not code.strip():
            continue
        for pattern, new in OPERATORS:
            for match in re.finditer(pattern, code):
                changed = line[:match.start()] + new + line[match.end():]
                if not is_equal_case(line, changed):
                    found.append((number, line, changed))
    return found


SANITIZER = ["-fsanitize=address", "-O1"]  # more than that, and the kernels of the engine take minutes to compile


class Project:
    """How the tree was built: the commands for the objects, and for a test program."""

    def __init__(self, build):
        self.build = os.path.abspath(build)
        self.commands, self.digests, self.sound, self.guarded = {}, {}, {}, {}
        self.guards, self.folder = threading.Lock(), tempfile.TemporaryDirectory(prefix="stonet-guarded-")
        for entry in json.load(open(os.path.join(self.build, "compile_commands.json"))):
            words = shlex.split(entry["command"])
            if os.path.basename(words[0]) == "ccache":
                words = words[1:]
            source = os.path.relpath(entry["file"], ROOT)
            if source.startswith("src/"):
                self.commands.setdefault(source, (words, entry["directory"]))

    def compile(self, source, file, include, out, flags=()):
        """Compiles `file` in the place of `source`; None, or what the compiler says."""
        words, folder = self.commands[source]
        words = list(words)
        words[words.index("-o") + 1] = out
        words[-1] = file
        words[1:1] = ["-I", include, "-w"]
        words[words.index("-o"):words.index("-o")] = flags
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
        return None if done.returncode == 0 else done.stderr

    def digest(self, source, work):
        """Of the object that the build has of a source, or would have."""
        if source not in self.digests:
            words, folder = self.commands[source]
            original = os.path.join(work, "original.o")
            shutil.copy(os.path.join(folder, words[words.index("-o") + 1]), original)
            self.digests[source] = digest(original)
        return self.digests[source]

    def link(self, test, objects, out, flags=()):
        folder = os.path.join(self.build, "CMakeFiles", "test_%s.dir" % test.removesuffix(EMULATED))
        words = shlex.split(open(os.path.join(folder, "link.txt")).read())
        words[words.index("-o") + 1] = out
        place = next(i for i, w in enumerate(words) if w.endswith("libstonet_internal.a"))
        words[place:place] = [*objects, *flags]
        if flags:
            own = next(i for i, w in enumerate(words) if re.search(r"/test_\w+\.c\.o$", w))
            words[own] = self.guarded_test(test.removesuffix(EMULATED), flags)
        subprocess.run(words, cwd=self.build, check=True, capture_output=True)

    def guarded_test(self, test, flags):
        """The object of a test's own source under the sanitizer, which then sees steps past the end of its arrays, too."""
        with self.guards:
            if test not in self.guarded:
                room, name = test.split("_", 1)
                source = os.path.join("src", room, "test_%s.c" % name)
                self.guarded[test] = os.path.join(self.folder.name, test + ".o")
                said = self.compile(source, os.path.join(ROOT, source), os.path.join(ROOT, "src"), self.guarded[test], flags)
                if said is not None:
                    raise RuntimeError("%s does not compile with %s:\n%s" % (source, " ".join(flags), said))
            return self.guarded[test]

    def tests(self, room):
        names = os.listdir(os.path.join(ROOT, "src", room))
        plain = [room + "_" + n[5:-2] for n in names if n.startswith("test_") and n.endswith(".c")]
        costs = self.costs()
        return sorted(plain + [t + EMULATED for t in plain if t + EMULATED in costs])

    def costs(self):
        """The seconds of the tests that ctest has run in this build."""
        file = os.path.join(self.build, "Testing", "Temporary", "CTestCostData.txt")
        words = [line.split() for line in open(file)]
        return {w[0]: float(w[2]) for w in words if len(w) == 3 and int(w[1]) > 0}

    def run(self, test, program, limit):
        """Whether the test passes within so many seconds of processor time, and how many it took."""
        environment = dict(os.environ, STONET_GOLDEN=ROOT, OMP_WAIT_POLICY="passive",
                           STONET_PROGRAM=self.build + "/bin/stonet", ASAN_OPTIONS="allocator_may_return_null=1")
        environment.setdefault("OMP_NUM_THREADS", "2")
        if test.endswith(EMULATED):
            environment["STONET_CUDA"] = os.path.join(self.build, "tests", "libstonet_cuda_emulated.so")
        process = subprocess.Popen([program], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 1)))
        clock = threading.Timer(10 * limit, process.kill)  # for what waits for ever
        clock.start()
        _, status, usage = os.wait4(process.pid, 0)
        clock.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode == 0, usage.ru_utime + usage.ru_stime

    def users(self, header):
        """The sources of the room that include a header, directly or through others of the room."""
        room = os.path.dirname(header)
        files = {f: open(os.path.join(ROOT, room, f)).read() for f in os.listdir(os.path.join(ROOT, room))
                 if f.endswith((".c", ".h"))}
        reached, new = set(), {os.path.basename(header)}
        while new:
            reached |= new
            new = {f for f, text in files.items() for h in reached
                   if '#include "%s/%s"' % (os.path.basename(room), h) in text} - reached
        return sorted(os.path.join(room, f) for f in reached if f.endswith(".c") and not f.startswith("test_"))


def digest(path):
    """Of the code and constants of an object, without what names its source."""
    bare = path + ".bare"
    subprocess.run(["objcopy", "-S", "-R", ".comment", "-R", ".note*", path, bare], check=True)
    return hashlib.sha256(open(bare, "rb").read()).hexdigest()


def compile_all(project, sources, work, changed=None, flags=()):
    """The objects of the sources, with the text of `changed` (a path under work, as in the tree) where they use it; None: do not compile."""
    objects = []
    for source in sources:
        file = os.path.join(work if source == changed else ROOT, source)
        objects.append(os.path.join(work, os.path.basename(source) + ".o"))
        include = os.path.join(work if changed else ROOT, "src")
        if project.compile(source, file, include, objects[-1], flags) is not None:
            return None
    return objects


def first_to_fail(project, tests, objects, work, times, flags=()):
    for test in tests:
        program = os.path.join(work, "test")
        project.link(test, objects, program, flags)
        if not project.run(test, program, 2 + 20 * times[test] * (3 if flags else 1))[0]:
            return test
    return None


def sound(project, sources, test, times):
    """Whether the test passes when the sources are as they are, but under the sanitizer."""
    key = (test, *sources)
    if key not in project.sound:
        with tempfile.TemporaryDirectory(prefix="stonet-mutant-") as work:
            objects = compile_all(project, sources, work, flags=SANITIZER)
            project.sound[key] = first_to_fail(project, [test], objects, work, times, SANITIZER) is None
    return project.sound[key]


# What a mutant goes through: its tests of less than 1.5 s, the others, all of them under the sanitizer.
QUICK = 1.5
STAGES = ["passed the quick tests", "passed all tests", "survived"]


def try_mutant(project, mutant, times, stage, work):
    """One stage of a mutant: 'killed by TEST', 'same' (the same bytes), 'invalid' (does not compile) or what STAGES calls it now. The
    folder `work` keeps its objects from one stage to the next."""
    path, number, old, new = mutant
    sources = [path] if path.endswith(".c") else project.users(path)
    objects = [os.path.join(work, os.path.basename(source) + ".o") for source in sources]
    flags = SANITIZER if stage == 2 else []
    if flags or not all(map(os.path.exists, objects)):
        lines = open(os.path.join(ROOT, path)).read().split("\n")
        assert lines[number] == old
        lines[number] = new
        os.makedirs(os.path.join(work, os.path.dirname(path)), exist_ok=True)
        open(os.path.join(work, path), "w").write("\n".join(lines))
        if compile_all(project, sources, work, path, flags) is None:
            return "invalid"
    if stage == 0 and all(digest(out) == project.digest(source, work) for source, out in zip(sources, objects)):
        return "same"
    room = path.split("/")[1]
    stem = os.path.splitext(os.path.basename(path))[0]
    order = sorted((t for t in project.tests(room) if t in times and ("cuda" in stem or not t.endswith(EMULATED))
                    and (stage == 2 or (times[t] < QUICK) == (stage == 0))),
                   key=lambda t: (stem not in t, times[t]))
    test = first_to_fail(project, order, objects, work, times, flags)
    if test is None or (flags and not sound(project, sources, test, times)):
        return STAGES[stage]
    return "killed by " + test


def sample(rooms, count, seed):
    """As many from each room, spread over its files; room by room in turn, so that a run that is ended has tried as many of each."""
    chosen = []
    for room in rooms:
        folder = os.path.join("src", room)
        all_of_room = [(os.path.join(folder, name), *m) for name in sorted(os.listdir(os.path.join(ROOT, folder)))
                       if name.endswith((".c", ".h")) and not name.startswith(("test", "oracle", "drawn"))  # helpers of tests
                       for m in mutants_of(os.path.join(folder, name))]
        random.Random("%s %d" % (room, seed)).shuffle(all_of_room)
        chosen += enumerate(all_of_room[: count // len(rooms)] if count else all_of_room)
    return [mutant for _, mutant in sorted(chosen, key=lambda pair: pair[0])]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--rooms", default="engine,stonet,methods,stats")
    parser.add_argument("--sample", type=int, default=0, help="how many mutants; 0: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0, help="begin no mutant after so many; 0: no limit")
    parser.add_argument("--quick", type=float, default=0, help="only tests that took ctest less than so many seconds")
    parser.add_argument("--results", default=None)
    options = parser.parse_args()
    began = time.monotonic()
    project, rooms = Project(options.build), options.rooms.split(",")
    results = options.results or os.path.join(options.build, "mutants.jsonl")
    done = {}
    if os.path.exists(results):
        for line in open(results):
            entry = json.loads(line)
            done[tuple(entry["mutant"])] = entry["result"]
    chosen = sample(rooms, options.sample, options.seed)
    key = lambda m: (m[0], m[2].strip(), m[3].strip())
    times = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool, tempfile.TemporaryDirectory(prefix="stonet-mutants-") as folder:
        costs = project.costs()
        tests = [t for room in rooms for t in project.tests(room) if not options.quick or costs.get(t, 0) < options.quick]
        tests.sort(key=lambda t: -costs.get(t, 0))
        binary = lambda t: os.path.join(project.build, "tests", "test_" + t.removesuffix(EMULATED))
        for test, (passed, seconds) in zip(tests, pool.map(lambda t: project.run(t, binary(t), 1200), tests)):
            if passed:
                times[test] = seconds
            else:
                print("%s fails without any mutant: left out" % test, flush=True)

        queue = []

        def one(index, stage):
            mutant, work = chosen[index], os.path.join(folder, str(index))
            if options.seconds and time.monotonic() - began > options.seconds:
                return
            result = try_mutant(project, mutant, times, stage, work)
            with open(results, "a") as file:
                file.write(json.dumps({"mutant": key(mutant), "line": mutant[1] + 1, "result": result}) + "\n")
            done[key(mutant)] = result
            if result in STAGES[:2]:
                queue.append(pool.submit(one, index, stage + 1))
            else:
                shutil.rmtree(work)

        for index, mutant in enumerate(chosen):
            result = done.get(key(mutant))
            if result is None or result in STAGES[:2]:
                queue.append(pool.submit(one, index, 0 if result is None else STAGES.index(result) + 1))
        for task in queue:  # which grows
            task.result()
    total = killed = 0
    for room in rooms:
        count = dict.fromkeys(["killed", *STAGES[::-1], "same", "invalid", "not tried"], 0)
        for mutant in chosen:
            if not mutant[0].startswith("src/%s/" % room):
                continue
            result = done.get(key(mutant), "not tried").split(" by ")[0]
            if result in STAGES:
                print("%s:%d\n  - %s\n  + %s" % (mutant[0], mutant[1] + 1, mutant[2].strip(), mutant[3].strip()))
            count[result] += 1
        print("%-8s" % room + ", ".join("%d %s" % (n, what) for what, n in count.items() if n > 0))
        killed += count["killed"]
        total += count["killed"] + sum(count[stage] for stage in STAGES)
    print("%d of %d mutants killed (%.1f %%)" % (killed, total, 100 * killed / max(total, 1)))
    return 0 if total and killed >= GOAL * total else 1


if __name__ == "__main__":
    sys.exit(main())
