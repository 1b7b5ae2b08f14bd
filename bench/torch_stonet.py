"""The same algorithm in PyTorch, twice: as one would first write it, and as fast as one can make it there.

plain    every latent's gradient by autograd on the log density, an optimiser per layer
vector   gradients by hand, no autograd, in-place updates on buffers made once, the first layer's mean once
         per mini-batch, noise for all sweeps of a layer drawn in one call

Both run one mini-batch of Algorithm 1 per call of step(); neither needs the keyed noise of the library, so
they use torch's own generator, which is faster.
"""

import math
import time

import torch


class Fit:
    def __init__(self, work, seed=1):
        torch.manual_seed(seed)
        self.work = work
        self.n = min(work["n"], 20000)  # enough rows to leave the caches
        self.widths = [work["p"], *work["hidden"], work["outputs"]]
        self.x = torch.rand(self.n, work["p"]) * 2 - 1
        signal = self.x[:, :8].sum(1)
        self.classes = work["task"] == "classification"
        if self.classes:
            self.y = (4 * signal).abs().long() % work["outputs"]
        else:
            self.y = torch.sin(signal)[:, None].repeat(1, work["outputs"])
        self.layers = [torch.nn.Linear(a, b) for a, b in zip(self.widths, self.widths[1:])]
        count = len(self.layers)
        self.s = [1e-4 * 0.5 ** (count - 1 - i) for i in range(count)]
        self.eps = [0.1 * math.sqrt(s) for s in self.s]
        self.keep, self.kick = 0.9, math.sqrt(0.2)
        self.rate, self.scale, self.momentum = 0.01, 1e-4, 0.9
        self.order = torch.randperm(self.n)
        self.at = 0

    def batch(self):
        m = self.work["batch"]
        if self.at + m > self.n:
            self.at = 0
        rows = self.order[self.at : self.at + m]
        self.at += m
        return self.x[rows], self.y[rows]


class Plain(Fit):
    def __init__(self, work):
        super().__init__(work)
        self.optimisers = [torch.optim.SGD(l.parameters(), lr=self.rate, momentum=self.momentum) for l in self.layers]

    def log_density(self, i, inputs, value):
        mean = self.layers[i](inputs)
        if i < len(self.layers) - 1 or not self.classes:
            return -((value - mean) ** 2).sum() / (2 * self.s[i])
        return -torch.nn.functional.cross_entropy(mean, value, reduction="sum") / self.s[i]

    def step(self):
        x, y = self.batch()
        hidden = len(self.layers) - 1
        with torch.no_grad():
            values, inputs = [], x
            for i in range(hidden):
                values.append(self.layers[i](inputs))
                inputs = torch.tanh(values[i])
        values.append(y)
        speeds = [torch.zeros_like(v) for v in values[:-1]]
        for _ in range(self.work["sweeps"]):
            for i in reversed(range(hidden)):
                latent = values[i].detach().requires_grad_()
                below = x if i == 0 else torch.tanh(values[i - 1])
                total = self.log_density(i, below, latent) + self.log_density(i + 1, torch.tanh(latent), values[i + 1])
                (g,) = torch.autograd.grad(total, latent)
                with torch.no_grad():
                    speeds[i] = self.keep * speeds[i] + self.eps[i] * g + self.kick * torch.randn_like(g)
                    values[i] = latent + self.eps[i] * speeds[i]
        for i in range(hidden + 1):
            below = x if i == 0 else torch.tanh(values[i - 1].detach())
            loss = -self.scale * self.log_density(i, below, values[i].detach()) / x.shape[0]
            self.optimisers[i].zero_grad()
            loss.backward()
            self.optimisers[i].step()


class Vector(Fit):
    def __init__(self, work):
        super().__init__(work)
        m, sweeps = work["batch"], work["sweeps"]
        self.w = [l.weight.detach().clone() for l in self.layers]
        self.b = [l.bias.detach().clone() for l in self.layers]
        self.uw = [torch.zeros_like(w) for w in self.w]
        self.ub = [torch.zeros_like(b) for b in self.b]
        hidden = self.widths[1:-1]
        empty = lambda *shape: torch.empty(*shape)
        self.mean = [empty(m, d) for d in self.widths[1:]]
        self.pull = [empty(m, d) for d in self.widths[1:]]
        self.latent = [empty(m, d) for d in hidden]
        self.speed = [empty(m, d) for d in hidden]
        self.psi = [empty(m, d) for d in hidden]
        self.force = [empty(m, d) for d in hidden]
        self.gap = [empty(m, d) for d in hidden]
        self.noise = [empty(sweeps, m, d) for d in hidden]
        self.rows = torch.arange(m)

    def set_mean(self, i, inputs):
        torch.addmm(self.b[i], inputs, self.w[i].t(), out=self.mean[i])

    def set_pull(self, i, y):
        if i < len(self.w) - 1:
            torch.sub(self.latent[i], self.mean[i], out=self.pull[i])
        elif self.classes:
            torch.softmax(self.mean[i], 1, out=self.pull[i])
            self.pull[i][self.rows, y] -= 1
            self.pull[i].neg_()
        else:
            torch.sub(y, self.mean[i], out=self.pull[i])
        self.pull[i].mul_(1 / self.s[i])

    @torch.no_grad()
    def step(self):
        x, y = self.batch()
        hidden = len(self.w) - 1
        for i in range(hidden):
            self.set_mean(i, x if i == 0 else self.psi[i - 1])
            self.latent[i].copy_(self.mean[i])
            self.speed[i].zero_()
            torch.tanh(self.latent[i], out=self.psi[i])
            self.noise[i].normal_()
        self.set_mean(hidden, self.psi[hidden - 1])
        self.set_pull(hidden, y)
        for sweep in range(self.work["sweeps"]):
            for i in reversed(range(hidden)):
                force, gap, psi = self.force[i], self.gap[i], self.psi[i]
                torch.mm(self.pull[i + 1], self.w[i + 1], out=force)
                torch.mul(psi, psi, out=gap)
                force.addcmul_(force, gap, value=-1)  # (1 - psi^2) w' r
                torch.sub(self.latent[i], self.mean[i], out=gap)
                force.add_(gap, alpha=-1 / self.s[i])
                self.speed[i].mul_(self.keep).add_(force, alpha=self.eps[i])
                self.speed[i].add_(self.noise[i][sweep], alpha=self.kick)
                self.latent[i].add_(self.speed[i], alpha=self.eps[i])
                torch.tanh(self.latent[i], out=psi)
                if i > 0:
                    self.set_pull(i, y)
                self.set_mean(i + 1, psi)
            self.set_pull(hidden, y)
        for i in range(hidden):
            self.set_pull(i, y)
        for i in range(hidden + 1):
            inputs = x if i == 0 else self.psi[i - 1]
            factor = self.scale / x.shape[0]
            self.uw[i].addmm_(self.pull[i].t(), inputs, beta=self.momentum, alpha=factor)
            self.ub[i].mul_(self.momentum).add_(self.pull[i].sum(0), alpha=factor)
            self.w[i].add_(self.uw[i], alpha=self.rate)
            self.b[i].add_(self.ub[i], alpha=self.rate)


class Graph(Vector):
    """vector on a GPU, recorded once as a CUDA graph and replayed: no launch waits for the host."""

    def __init__(self, work):
        super().__init__(work)
        self.places = self.order[: work["batch"]].clone()
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                super().step()
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            super().step()

    def batch(self):
        return self.x[self.places], self.y[self.places]

    def step(self):
        m = self.work["batch"]
        if self.at + m > self.n:
            self.at = 0
        self.places.copy_(self.order[self.at : self.at + m])
        self.at += m
        self.graph.replay()


def gpu_seconds_per_step(kind, work, seconds):
    """The best of queues of steps on the GPU that is there, which is waited for after each queue."""
    torch.set_default_device("cuda")
    fit = {"plain": Plain, "vector": Vector, "graph": Graph}[kind](work)
    queue = 20 if kind == "graph" else 4
    for _ in range(3):
        fit.step()
    torch.cuda.synchronize()
    times, start = [], time.perf_counter()
    while len(times) < 3 or time.perf_counter() - start < seconds:
        before = time.perf_counter()
        for _ in range(queue):
            fit.step()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - before) / queue)
    return min(times)


def seconds_per_step(kind, work, threads, seconds):
    """Clock seconds of the fastest step, and mean processor seconds of the whole process a step."""
    torch.set_num_threads(threads)
    fit = {"plain": Plain, "vector": Vector}[kind](work)
    fit.step()
    times, start, cpu = [], time.perf_counter(), time.process_time()
    while len(times) < 3 or time.perf_counter() - start < seconds:
        before = time.perf_counter()
        fit.step()
        times.append(time.perf_counter() - before)
    return min(times), (time.process_time() - cpu) / len(times)
