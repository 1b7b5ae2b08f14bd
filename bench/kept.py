"""Jobs side by side, what each has found kept in a file as it comes: a run that was cut goes on where it was.

    results = kept.run(work, jobs, processes=16, keep="results.jsonl", seconds=200)

A job is a tuple of texts and numbers, `work` a function at the top of a module that makes of one something JSON can hold. Jobs
whose results are in the file are not done again; none is begun after so many seconds (None: no end). What is missing then is
missing from the results.
"""
import concurrent.futures
import json
import os
import sys
import time


def read(path):
    """Results by job. The last line of a run that was cut may be half a line."""
    results = {}
    if path and os.path.exists(path):
        with open(path) as lines:
            for line in lines:
                try:
                    job, result = json.loads(line)
                except ValueError:
                    continue
                results[tuple(job)] = result
    return results


def run(work, jobs, processes=1, keep=None, seconds=None):
    results = read(keep)
    waiting = [job for job in jobs if job not in results]
    began, done, total = time.monotonic(), 0, len(waiting)
    out = open(keep, "a") if keep else None
    if out and out.tell() > 0:
        print(file=out)  # what was cut in a line ends here
    with concurrent.futures.ProcessPoolExecutor(processes) as pool:
        running, waiting = {}, iter(waiting)
        while True:
            while len(running) < processes and (seconds is None or time.monotonic() - began < seconds):
                job = next(waiting, None)
                if job is None:
                    break
                running[pool.submit(work, job)] = job
            if not running:
                break
            for future in concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED).done:
                job = running.pop(future)
                results[job], done = future.result(), done + 1
                if out:
                    print(json.dumps([list(job), results[job]]), file=out, flush=True)
                print(f"{done} of {total}: {' '.join(map(str, job))}: {results[job]}", file=sys.stderr, flush=True)
    if out:
        out.close()
    return {job: results[job] for job in jobs if job in results}
