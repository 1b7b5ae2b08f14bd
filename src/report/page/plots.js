/* What page.js draws with: nodes, tables, colours, axes, points and lines. Text of the data gets into the page as
   textContent and attributes alone, never as markup. */
"use strict";

/* ---- small things ---- */

const LONGEST = 60;

function make(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
  for (const child of children) node.append(child); // a string becomes a text node
  return node;
}
function short(text, most) {
  const letters = Array.from(String(text));
  const limit = most || LONGEST;
  return letters.length > limit ? letters.slice(0, limit - 1).join("") + "…" : String(text);
}
function number(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (typeof value !== "number") return short(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return String(value);
  return String(Number(value.toPrecision(4)));
}
function count(value, noun) {
  return value.toLocaleString("en-US") + (noun ? ` ${noun}${value === 1 ? "" : "s"}` : "");
}
function choice(label, options, chosen, onChange) {
  const select = make("select", {});
  options.forEach((name, k) => select.append(make("option", { value: k }, short(name, 40))));
  select.value = chosen;
  select.addEventListener("change", () => onChange(Number(select.value)));
  return make("label", {}, label, select);
}
function action(text, onClick) {
  const node = make("button", { type: "button" }, text);
  node.addEventListener("click", onClick);
  return node;
}
/* A table that scrolls inside its box. The first cell of each row names the row. */
function table(heads, rows, caption) {
  const cell = (tag, value, scope) => {
    const text = typeof value === "number" || value === null ? number(value) : String(value);
    const node = make(tag, scope ? { scope } : {}, short(text, 160));
    if (text.length > 24) node.className = "long";
    if (text.length > 160) node.title = short(text, 2000);
    return node;
  };
  const body = make("tbody", {});
  for (const [first, ...rest] of rows)
    body.append(make("tr", {}, cell("th", first, "row"), ...rest.map((value) => cell("td", value))));
  const head = make("tr", {}, ...heads.map((value) => cell("th", value, "col")));
  const whole = make("table", {}, make("caption", { class: "hide" }, caption), make("thead", {}, head), body);
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, whole);
}
/* A file of these rows, kept by the browser as any download is. */
function saveCsv(name, rows) {
  const field = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  const text = rows.map((row) => row.map(field).join(",") + "\n").join("");
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/* ---- colours ---- */

/* Okabe and Ito's, then others, moved in lightness until each has a contrast of 3:1 with its background. Twelve colours and
   seven shapes go round apart from each other: 84 classes look different. */
const LIGHT_COLOURS = ["#0072b2", "#c85200", "#007a58", "#b0508a", "#966800", "#17808f", "#6a3d9a", "#7a4a1e", "#d0021b", "#4d5560", "#5f7f00", "#1b1f4f"];
const DARK_COLOURS = ["#3d9fe0", "#ff7f2a", "#00b386", "#e68fc0", "#e69f00", "#8fd0f7", "#b48cf2", "#c49a6c", "#ff6b6b", "#d3d8de", "#f0e442", "#7fe0d0"];
const SHAPES = [d3.symbolCircle, d3.symbolTriangle, d3.symbolSquare, d3.symbolDiamond, d3.symbolCross, d3.symbolStar, d3.symbolWye];
const OPACITY = 0.85;
const darkScreen = window.matchMedia("(prefers-color-scheme: dark)");
let printing = false;

function isDark() {
  return darkScreen.matches && !printing;
}
function colourOf(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
function seriesColour(k) {
  const colours = isDark() ? DARK_COLOURS : LIGHT_COLOURS;
  return colours[k % colours.length];
}
/* Plasma without the half that the background swallows. */
function shade(share) {
  return d3.interpolatePlasma(isDark() ? 0.5 + 0.5 * share : 0.55 * share);
}
/* A mark of a legend, as in the plot. */
function swatch(colour, shape) {
  const svg = d3.create("svg").attr("class", "swatch").attr("viewBox", "-8 -8 16 16").attr("aria-hidden", "true");
  svg.append("path").attr("d", d3.symbol().type(shape || d3.symbolSquare).size(110)()).attr("fill", colour);
  return svg.node();
}

/* ---- drawing ---- */

/* Everything that is drawn again when the width or the colours change. */
const drawings = [];
function drawn(draw) {
  drawings.push(draw);
  draw();
}
function drawAll() {
  drawings.forEach((draw) => draw());
}
let waiting = 0;
function redraw() {
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(drawAll);
}
/* Paper is light, and as wide as its text. */
function print(on) {
  printing = on;
  document.documentElement.toggleAttribute("data-print", on);
  drawAll();
}
window.addEventListener("resize", redraw);
darkScreen.addEventListener("change", redraw);
window.addEventListener("beforeprint", () => print(true));
window.addEventListener("afterprint", () => print(false));

/* ---- axes ---- */

const MARGIN = { right: 16, top: 10, bottom: 46 }, PAPER = 640;
const ruler = document.createElement("canvas").getContext("2d");

function widthOf(text) {
  ruler.font = "12px " + getComputedStyle(document.body).fontFamily;
  return ruler.measureText(text).width;
}
function frame(holder, height) {
  const width = printing ? PAPER : Math.max(220, holder.clientWidth);
  holder.style.height = height + "px";
  return { width, height, left: 62, right: width - MARGIN.right, bottom: height - MARGIN.bottom };
}
function blank(holder, box, before) {
  d3.select(holder).select("svg").remove();
  return d3.select(holder).insert("svg", before).attr("viewBox", `0 0 ${box.width} ${box.height}`)
    .attr("width", box.width).attr("height", box.height).attr("aria-hidden", "true");
}
/* names: the classes of an axis that has them. */
function scaleOf(values, names) {
  if (names) return d3.scaleLinear().domain([-0.5, names.length - 0.5]);
  let [low, high] = d3.extent(values);
  if (low === undefined) [low, high] = [0, 1];
  if (low === high) [low, high] = [low - 1, high + 1];
  return d3.scaleLinear().domain([low, high]).nice();
}
/* Values and texts of the ticks of a scale, so few that the texts do not meet. */
function ticksOf(scale, most, names, upright) {
  const [from, to] = scale.range(), length = Math.abs(to - from), [low, high] = scale.domain();
  const room = (text) => (upright ? 15 : widthOf(text) + 12);
  if (names) {
    const each = length / (high - low), letters = upright ? 14 : Math.min(14, Math.max(3, Math.floor((each - 8) / 8)));
    const step = Math.max(1, Math.ceil(room("abc") / each));
    return d3.range(0, names.length, step).filter((k) => k >= low && k <= high).map((k) => [k, short(names[k], letters)]);
  }
  for (let wanted = most; ; wanted--) {
    const values = scale.ticks(wanted), text = scale.tickFormat(wanted), found = values.map((value) => [value, text(value)]);
    if (wanted <= 2 || values.length < 2 || d3.max(found, (one) => room(one[1])) < length / (values.length - 1)) return found;
  }
}
function axis(side, scale, ticks) {
  const texts = new Map(ticks);
  return side(scale).tickValues(ticks.map((one) => one[0])).tickFormat((value) => texts.get(value));
}
/* Sets the ranges of both scales, so that the texts of the upright axis have their room, and draws the axes. */
function axes(svg, box, x, y, xLabel, yLabel, names) {
  const { xNames, yNames } = names || {};
  y.range([box.bottom, MARGIN.top]);
  const upright = ticksOf(y, 6, yNames, true);
  box.left = 36 + (d3.max(upright, (one) => widthOf(one[1])) || 0);
  x.range([box.left, box.right]);
  const across = ticksOf(x, Math.max(2, Math.floor((box.right - box.left) / 90)), xNames, false);
  svg.append("g").attr("class", "axis").attr("transform", `translate(0,${box.bottom})`).call(axis(d3.axisBottom, x, across));
  svg.append("g").attr("class", "axis").attr("transform", `translate(${box.left},0)`).call(axis(d3.axisLeft, y, upright));
  svg.append("text").attr("class", "name").attr("text-anchor", "middle")
    .attr("x", (box.left + box.right) / 2).attr("y", box.height - 8).text(short(xLabel, Math.floor(box.width / 8)));
  svg.append("text").attr("class", "name").attr("text-anchor", "middle")
    .attr("transform", `translate(14,${(MARGIN.top + box.bottom) / 2}) rotate(-90)`).text(short(yLabel, Math.floor(box.height / 9)));
}

/* ---- points on a canvas ---- */

/* spec(): {n, x, y: index -> number, colour: index -> text, shape: index -> its number, seen: index -> is it shown, xLabel,
   yLabel, xNames, yNames, under: (context, x, y, indices) => {}}. lines: index -> texts of the hover. onSelect: with the range
   chosen, or null. */
function scatter(holder, label, spec, lines, height, onSelect) {
  const canvas = make("canvas", {});
  const tip = make("div", { class: "tip", hidden: "" });
  const spoken = make("p", { class: "hide", "aria-live": "polite" });
  holder.append(canvas, tip, spoken);
  holder.tabIndex = 0;
  holder.setAttribute("role", "application");
  holder.setAttribute("aria-label", label + ". Arrow keys go from point to point, Escape hides the text.");
  let state = null, cursor = -1, brush = null, brushed = null, zoomed = null;

  function show(index) {
    cursor = index;
    const px = state.x(state.now.x(index)), py = state.y(state.now.y(index));
    tip.replaceChildren(...lines(index).map((line) => make("div", {}, line)));
    tip.hidden = false;
    const left = px > state.box.width / 2 ? px - tip.offsetWidth - 12 : px + 12;
    tip.style.left = Math.max(0, left) + "px";
    tip.style.top = Math.min(Math.max(0, py - 20), Math.max(0, state.box.height - tip.offsetHeight)) + "px";
    state.ring.attr("cx", px).attr("cy", py).attr("visibility", "visible");
  }
  function hide() {
    cursor = -1;
    tip.hidden = true;
    if (state) state.ring.attr("visibility", "hidden");
  }
  holder.addEventListener("keydown", (event) => {
    const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: -10, PageDown: 10 };
    if (event.target !== holder || state.byX.length === 0) return;
    if (event.key === "Escape") return hide();
    let at = cursor < 0 ? -1 : state.rank.get(cursor);
    if (event.key === "Home") at = 0;
    else if (event.key === "End") at = state.byX.length - 1;
    else if (event.key in steps) at = Math.min(Math.max(0, at + steps[event.key]), state.byX.length - 1);
    else return;
    event.preventDefault();
    show(state.byX[at]);
    spoken.textContent = lines(cursor).join("; ");
  });
  holder.addEventListener("blur", hide);
  holder.addEventListener("mouseleave", hide);
  holder.addEventListener("mousemove", (event) => {
    const place = holder.getBoundingClientRect();
    const found = state.tree.find(event.clientX - place.left, event.clientY - place.top, 24);
    if (found !== undefined) show(found); else hide();
  });

  function dots(box, now, x, y, seen) {
    const ratio = window.devicePixelRatio || 1;
    canvas.width = box.width * ratio;
    canvas.height = box.height * ratio;
    canvas.style.width = box.width + "px";
    canvas.style.height = box.height + "px";
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    if (now.under) now.under(context, x, y, seen);
    const radius = seen.length > 5000 ? 1.8 : seen.length > 1000 ? 2.5 : 3.4;
    const shapes = SHAPES.map((type) => new Path2D(d3.symbol().type(type).size(Math.PI * radius * radius)()));
    context.globalAlpha = OPACITY;
    for (const i of seen) {
      context.setTransform(ratio, 0, 0, ratio, ratio * x(now.x(i)), ratio * y(now.y(i)));
      context.fillStyle = now.colour(i);
      context.fill(shapes[now.shape ? now.shape(i) % shapes.length : 0]);
    }
    context.globalAlpha = 1;
  }
  function addBrush(svg, box, x, y) {
    brush = d3.brush().extent([[box.left, MARGIN.top], [box.right, box.bottom]]).on("end", () => {
      const range = d3.event.selection;
      if (!d3.event.sourceEvent) return;
      brushed = range && [x.invert(range[0][0]), x.invert(range[1][0]), y.invert(range[1][1]), y.invert(range[0][1])];
      onSelect(brushed, state.seen, state.now);
    });
    svg.append("g").attr("class", "brush").call(brush);
  }
  function draw() {
    const box = frame(holder, height), now = spec();
    const usable = d3.range(now.n).filter((i) => Number.isFinite(now.x(i)) && Number.isFinite(now.y(i)));
    const x = scaleOf(usable.map(now.x), now.xNames), y = scaleOf(usable.map(now.y), now.yNames);
    if (zoomed) { x.domain(zoomed.slice(0, 2)); y.domain(zoomed.slice(2)); }
    const inside = (value, [low, high]) => value >= low && value <= high;
    const seen = usable.filter((i) => (!now.seen || now.seen(i)) && inside(now.x(i), x.domain()) && inside(now.y(i), y.domain()));
    const svg = blank(holder, box, ".tip");
    axes(svg, box, x, y, now.xLabel, now.yLabel, now);
    dots(box, now, x, y, seen);
    const tree = d3.quadtree(seen, (i) => x(now.x(i)), (i) => y(now.y(i)));
    const byX = seen.slice().sort((a, b) => now.x(a) - now.x(b) || a - b);
    state = { box, now, x, y, seen, tree, byX, rank: new Map(byX.map((i, k) => [i, k])), ring: null, svg };
    if (onSelect) addBrush(svg, box, x, y);
    state.ring = svg.append("circle").attr("r", 6).attr("fill", "none").attr("stroke", colourOf("--ink"))
      .attr("stroke-width", 2).attr("visibility", "hidden").attr("pointer-events", "none");
    hide();
    if (brushed) place(brushed);
  }
  /* Shows a range (x from, to, y from, to) as brushed; null: none. */
  function place(range) {
    brushed = range;
    const group = state.svg.select(".brush");
    if (!range) group.call(brush.move, null);
    else {
      const inside = (value, [low, high]) => Math.min(Math.max(value, low), high);
      const [left, right] = [state.x(range[0]), state.x(range[1])].map((v) => inside(v, [state.box.left, state.box.right]));
      const [low, high] = [state.y(range[2]), state.y(range[3])].map((v) => inside(v, [MARGIN.top, state.box.bottom]));
      group.call(brush.move, [[left, high], [right, low]]);
    }
  }
  function select(range) {
    place(range);
    onSelect(range, state.seen, state.now);
  }
  /* To a range; null: to all points. */
  function zoom(range) {
    zoomed = range;
    brushed = null;
    draw();
  }
  drawn(draw);
  return { draw, zoom, select, brushed: () => brushed, domains: () => [...state.x.domain(), ...state.y.domain()] };
}

/* ---- lines ---- */

/* Series of {x, y, colour: () => text, marks: radius, alone: no line, thin: dashed}. */
function curve(node, height, xLabel, yLabel, series) {
  const holder = make("div", { class: "plot", role: "img", "aria-label": `${yLabel} against ${xLabel}` });
  node.append(holder);
  drawn(() => {
    const box = frame(holder, height), svg = blank(holder, box);
    const finite = (values) => values.filter((value) => value !== null && Number.isFinite(value));
    const span = (key) => [].concat(...series.map((one) => finite(one[key])));
    const x = scaleOf(span("x")), y = scaleOf(span("y"));
    axes(svg, box, x, y, xLabel, yLabel);
    for (const one of series) {
      const path = d3.line().defined((k) => one.x[k] !== null && one.y[k] !== null).x((k) => x(one.x[k])).y((k) => y(one.y[k]));
      const colour = one.colour ? one.colour() : colourOf("--point");
      if (!one.alone) svg.append("path").attr("fill", "none").attr("stroke", colour).attr("stroke-width", one.width || (one.thin ? 1 : 2))
        .attr("stroke-dasharray", one.thin ? "4 4" : null).attr("d", path(d3.range(one.x.length)));
      if (one.marks) d3.range(one.x.length).filter((k) => one.y[k] !== null).forEach((k) =>
        svg.append("circle").attr("r", one.marks).attr("cx", x(one.x[k])).attr("cy", y(one.y[k])).attr("fill", colour));
    }
  });
}
