/* The page of `stonet report`: charts and tables of the JSON in #report, drawn with d3. Text of the data gets into the
   page as textContent and attributes alone, never as markup. */
"use strict";
(function () {
  const report = JSON.parse(document.getElementById("report").textContent);
  const main = document.getElementById("main");
  const isClassifier = report.task === "classification";
  const CLASS_COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d31", "#882255", "#999999"];
  const LONGEST = 60;

  /* ---- small things ---- */

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
  function count(value) {
    return value.toLocaleString("en-US");
  }
  function colourOf(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }
  function classColour(code) {
    return CLASS_COLOURS[code % CLASS_COLOURS.length];
  }
  function section(title, note, wide) {
    const node = make("section", wide ? { class: "wide" } : {}, make("h2", {}, title));
    if (note) node.append(make("p", { class: "soft" }, note));
    main.append(node);
    return node;
  }
  function choice(label, options, chosen, onChange) {
    const select = make("select", {});
    options.forEach((name, k) => select.append(make("option", { value: k }, short(name, 40))));
    select.value = chosen;
    select.addEventListener("change", () => onChange(Number(select.value)));
    return make("label", {}, label, select);
  }
  function table(heads, rows, caption) {
    const cell = (tag, value) => {
      const text = typeof value === "number" || value === null ? number(value) : String(value);
      const node = make(tag, text.length > 24 ? { class: "long" } : {}, short(text, 80));
      if (text.length > 80) node.title = short(text, 2000);
      return node;
    };
    const body = make("tbody", {});
    for (const row of rows) body.append(make("tr", {}, ...row.map((value) => cell("td", value))));
    const head = make("tr", {}, ...heads.map((value) => cell("th", value)));
    const whole = make("table", {}, make("thead", {}, head), body);
    if (caption) whole.prepend(make("caption", { class: "hide" }, caption));
    return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption || "table" }, whole);
  }

  /* Everything that is drawn again when the width or the colours change. */
  const drawings = [];
  function drawn(draw) {
    drawings.push(draw);
    draw();
  }
  let waiting = 0;
  function redraw() {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => drawings.forEach((draw) => draw()));
  }
  window.addEventListener("resize", redraw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

  /* ---- axes ---- */

  const MARGIN = { left: 62, right: 16, top: 10, bottom: 46 };

  function frame(holder, height) {
    const width = Math.max(220, holder.clientWidth);
    holder.style.height = height + "px";
    return { width, height, right: width - MARGIN.right, bottom: height - MARGIN.bottom };
  }
  function scaleOf(values, from, to) {
    let [low, high] = d3.extent(values);
    if (low === undefined) [low, high] = [0, 1];
    if (low === high) [low, high] = [low - 1, high + 1];
    return d3.scaleLinear().domain([low, high]).nice().range([from, to]);
  }
  function axes(svg, box, x, y, xLabel, yLabel) {
    const ticks = Math.max(2, Math.floor((box.right - MARGIN.left) / 90));
    svg.append("g").attr("class", "axis").attr("transform", `translate(0,${box.bottom})`)
      .call(d3.axisBottom(x).ticks(ticks));
    svg.append("g").attr("class", "axis").attr("transform", `translate(${MARGIN.left},0)`)
      .call(d3.axisLeft(y).ticks(6));
    svg.append("text").attr("class", "name").attr("text-anchor", "middle")
      .attr("x", (MARGIN.left + box.right) / 2).attr("y", box.height - 8).text(short(xLabel, 50));
    svg.append("text").attr("class", "name").attr("text-anchor", "middle")
      .attr("transform", `translate(14,${(MARGIN.top + box.bottom) / 2}) rotate(-90)`).text(short(yLabel, 40));
  }

  /* ---- points on a canvas ---- */

  /* spec(): {n, x, y: index -> number, colour: index -> text, xLabel, yLabel, under: (context, x, y) => {}}.
     lines: index -> texts of the hover. onSelect: with the range chosen, or null. */
  function scatter(holder, label, spec, lines, height, onSelect) {
    const canvas = make("canvas", {});
    const tip = make("div", { class: "tip", hidden: "" });
    const spoken = make("p", { class: "hide", "aria-live": "polite" });
    holder.append(canvas, tip, spoken);
    holder.tabIndex = 0;
    holder.setAttribute("role", "application");
    holder.setAttribute("aria-label", label + ". Arrow keys go from point to point, Escape hides the text.");
    let state = null, cursor = -1, brush = null, brushed = null;

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

    function draw() {
      const box = frame(holder, height), now = spec(), all = d3.range(now.n);
      const usable = all.filter((i) => Number.isFinite(now.x(i)) && Number.isFinite(now.y(i)));
      const x = scaleOf(usable.map(now.x), MARGIN.left, box.right);
      const y = scaleOf(usable.map(now.y), box.bottom, MARGIN.top);
      const ratio = window.devicePixelRatio || 1;
      canvas.width = box.width * ratio;
      canvas.height = box.height * ratio;
      canvas.style.width = box.width + "px";
      canvas.style.height = box.height + "px";
      const context = canvas.getContext("2d");
      context.scale(ratio, ratio);
      if (now.under) now.under(context, x, y, usable);
      const radius = usable.length > 5000 ? 1.6 : usable.length > 1000 ? 2.3 : 3.2;
      context.globalAlpha = usable.length > 1000 ? 0.5 : 0.75;
      for (const i of usable) {
        context.fillStyle = now.colour(i);
        context.beginPath();
        context.arc(x(now.x(i)), y(now.y(i)), radius, 0, 2 * Math.PI);
        context.fill();
      }
      d3.select(holder).select("svg").remove();
      const svg = d3.select(holder).insert("svg", ".tip").attr("width", box.width).attr("height", box.height)
        .attr("aria-hidden", "true");
      axes(svg, box, x, y, now.xLabel, now.yLabel);
      const tree = d3.quadtree(usable, (i) => x(now.x(i)), (i) => y(now.y(i)));
      const byX = usable.slice().sort((a, b) => now.x(a) - now.x(b) || a - b);
      state = { box, now, x, y, tree, byX, rank: new Map(byX.map((i, k) => [i, k])), ring: null, svg };
      if (onSelect) {
        brush = d3.brush().extent([[MARGIN.left, MARGIN.top], [box.right, box.bottom]]).on("end", () => {
          const range = d3.event.selection;
          if (!d3.event.sourceEvent) return;
          brushed = range && [x.invert(range[0][0]), x.invert(range[1][0]), y.invert(range[1][1]), y.invert(range[0][1])];
          onSelect(brushed, usable, now);
        });
        svg.append("g").attr("class", "brush").call(brush);
      }
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
        const [left, right] = [state.x(range[0]), state.x(range[1])].map((v) => inside(v, [MARGIN.left, state.box.right]));
        const [low, high] = [state.y(range[2]), state.y(range[3])].map((v) => inside(v, [MARGIN.top, state.box.bottom]));
        group.call(brush.move, [[left, high], [right, low]]);
      }
    }
    function select(range) {
      place(range);
      const usable = state.byX.slice().sort((a, b) => a - b);
      onSelect(range, usable, state.now);
    }
    drawn(draw);
    return { draw: () => { brushed = null; draw(); }, select, domains: () => [...state.x.domain(), ...state.y.domain()] };
  }

  /* ---- the rows ---- */

  const points = report.points;
  const outputs = isClassifier || !points.y ? 1 : points.y.length;
  let output = 0;
  const responseOf = (i) => (points.y ? points.y[output][i] : null);
  const predictedOf = (i) => (points.predicted ? points.predicted[output][i] : null);
  const classText = (code) => (code === null ? "–" : short(report.classes[code], 40));
  const responseText = (value) => (isClassifier ? classText(value) : number(value));
  let ramp = null;

  /* Viridis without the end that the background swallows. */
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const shade = (share) => d3.interpolateViridis(dark.matches ? 0.25 + 0.75 * share : 0.92 * share);
  function rampOf() {
    const finite = points.y ? points.y[output].filter((value) => value !== null) : [];
    const sorted = finite.slice().sort(d3.ascending);
    return d3.scaleSequential(shade)
      .domain([d3.quantile(sorted, 0.02), d3.quantile(sorted, 0.98)]).clamp(true);
  }
  function pointColour(i) {
    const value = responseOf(i);
    if (value === null) return colourOf("--point");
    return isClassifier ? classColour(value) : ramp(value);
  }
  function rowLines(i) {
    const lines = [`row ${count(points.row[i])}`];
    if (points.y) lines.push(`${short(report.targets[output] || "response", 40)}: ${responseText(responseOf(i))}`);
    if (points.predicted) lines.push(`predicted: ${responseText(predictedOf(i))}` +
      (isClassifier ? ` (${number(points.probability[i])})` : ""));
    if (points.low) lines.push(`interval: ${number(points.low[output][i])} to ${number(points.high[output][i])}`);
    points.z.forEach((z, k) => lines.push(`Z${k + 1}: ${number(z[i])}`));
    points.x.forEach((column) => lines.push(`${short(column.name, 40)}: ${number(column.values[i])}`));
    return lines;
  }
  const sampled = report.shown < report.rows
    ? `${count(report.shown)} of ${count(report.rows)} rows, drawn at random, are shown; counts, curves and scores are of all.` : "";

  /* ---- sections ---- */

  function head() {
    const top = document.getElementById("top");
    const about = report.about;
    const what = report.targets.length > 0 ? short(report.targets.join(", "), 80) : `${about.dim} numbers`;
    top.append(make("h1", {}, `${report.model}: ${what} from ${about.inputs.length} variables`));
    top.append(make("p", { class: "soft" }, `${about.title}. ${about.dim} reduced variable${about.dim > 1 ? "s" : ""}, fitted on ` +
      `${count(about.rows)} rows; shown here for the ${count(report.rows)} rows of ${report.data}.`));
    if (report.met) {
      top.append(make("p", {}, "These rows are as many as the model was fitted on and have the same means. If they are the same, " +
        "it looks better here than it would for new rows."));
    }
    const cards = make("ul", { class: "cards" });
    for (const [name, value] of report.scores) cards.append(make("li", {}, make("b", {}, number(value)), name));
    top.append(cards);
  }

  function legend(node) {
    const list = make("ul", { class: "legend" });
    if (isClassifier && points.y) {
      report.classes.slice(0, 30).forEach((label, code) => {
        const swatch = make("span", { class: "swatch" });
        swatch.style.background = classColour(code);
        list.append(make("li", {}, swatch, short(label, 40)));
      });
    } else if (points.y && ramp.domain()[0] !== undefined) {
      const bar = make("span", { class: "ramp" });
      bar.style.background = `linear-gradient(to right, ${d3.range(0, 1.01, 0.1).map(shade).join(",")})`;
      list.append(make("li", {}, short(report.targets[output] || "response", 40) + ": " + number(ramp.domain()[0]), bar, number(ramp.domain()[1])));
    }
    node.replaceChildren(list);
  }

  function reduction() {
    const node = section(points.y ? "Z by response" : "Z", [sampled, (report.about.fitted || {}).explained_share
      ? "In brackets: the share of each Z in the effect on the output." : "", "Drag to select rows, or give a range."].join(" ").trim(), true);
    const share = (report.about.fitted || {}).explained_share || [];
    const names = points.z.map((_, k) => `Z${k + 1}` + (share[k] > 0 ? ` (${Number((100 * share[k]).toPrecision(3))} %)` : ""));
    const columns = points.z.slice();
    if (points.y) { names.push(isClassifier ? "class" : "response"); columns.push(null); }
    if (names.length === 1) { names.push("row"); columns.push(points.row); }
    /* Classes on an axis are spread a little, so that points do not hide each other. */
    const spread = (i) => 0.6 * (((i * 0.618034) % 1) - 0.5);
    const valueOf = (k) => (i) => columns[k] ? columns[k][i] : isClassifier ? responseOf(i) + spread(i) : responseOf(i);
    const flat = points.z.length > 1 && new Set(points.z[1]).size < 2; // a second column that says nothing
    let horizontal = 0, vertical = flat && points.y ? points.z.length : 1;
    const colours = make("div", {}), chosen = make("div", { "aria-live": "polite" });
    const holder = make("div", { class: "plot", id: "z-plot" });
    const controls = make("div", { class: "controls" });
    node.append(controls, colours, holder, chosen);
    const spec = () => {
      ramp = rampOf();
      legend(colours);
      return { n: report.shown, x: valueOf(horizontal), y: valueOf(vertical), colour: pointColour, xLabel: names[horizontal], yLabel: names[vertical] };
    };
    const plot = scatter(holder, "Z by response", spec, rowLines, 460, (range, usable, now) => selection(chosen, range, usable, now));
    const again = () => { plot.draw(); chosen.replaceChildren(); };
    controls.append(choice("across", names, 0, (k) => { horizontal = k; again(); }), choice("up", names, vertical, (k) => { vertical = k; again(); }));
    if (outputs > 1) controls.append(choice("response", report.targets, 0, (k) => { output = k; redraw(); }));
    const fields = ["x from", "x to", "y from", "y to"].map((text) => {
      const input = make("input", { type: "number", step: "any" });
      controls.append(make("label", {}, text, input));
      return input;
    });
    const button = make("button", { type: "button" }, "select");
    button.addEventListener("click", () => {
      const given = fields.map((field, k) => (field.value === "" ? plot.domains()[k] : Number(field.value)));
      plot.select(fields.every((field) => field.value === "") ? null : given);
    });
    controls.append(button);
  }

  /* The rows inside a range: how many, what their responses are, and the first of them. */
  function selection(node, range, usable, now) {
    node.replaceChildren();
    if (!range) return;
    const rows = usable.filter((i) => now.x(i) >= range[0] && now.x(i) <= range[1] && now.y(i) >= range[2] && now.y(i) <= range[3]);
    let what = `${count(rows.length)} rows selected`;
    if (points.y && rows.length > 0) {
      if (isClassifier) {
        const counts = d3.nest().key((i) => responseOf(i)).rollup((group) => group.length).entries(rows)
          .sort((a, b) => b.value - a.value).slice(0, 8);
        what += ": " + counts.map((entry) => `${classText(Number(entry.key))} ${count(entry.value)}`).join(", ");
      } else what += `: mean response ${number(d3.mean(rows, responseOf))}, standard deviation ${number(d3.deviation(rows, responseOf))}`;
    }
    node.append(make("p", { id: "selected" }, what + "."));
    if (rows.length === 0) return;
    const heads = ["row", ...(points.y ? ["response"] : []), ...(points.predicted ? ["predicted"] : []),
      ...points.z.map((_, k) => `Z${k + 1}`), ...points.x.map((column) => column.name)];
    const cells = rows.slice(0, 50).map((i) => [points.row[i], ...(points.y ? [responseText(responseOf(i))] : []),
      ...(points.predicted ? [responseText(predictedOf(i))] : []), ...points.z.map((z) => z[i]), ...points.x.map((column) => column.values[i])]);
    node.append(table(heads, cells, "the first selected rows"));
    if (rows.length > 50) node.append(make("p", { class: "soft" }, "The first 50 of them."));
  }

  function predictions() {
    if (!points.predicted || !points.y) return;
    if (isClassifier) return confusion();
    const score = new Map(report.scores);
    const node = section("Predicted against observed", points.low
      ? `With intervals (lines) that are to hold ${number(100 * score.get("asked coverage"))} % of new rows, and hold ` +
        `${number(100 * score.get("coverage"))} % of these.` : "");
    const holder = make("div", { class: "plot" });
    node.append(holder);
    const under = (context, x, y, usable) => {
      context.strokeStyle = colourOf("--soft");
      if (points.low && usable.length <= 2000) {
        context.globalAlpha = 0.35;
        for (const i of usable) {
          context.beginPath();
          context.moveTo(x(predictedOf(i)), y(Math.max(points.low[output][i] === null ? -Infinity : points.low[output][i], y.domain()[0])));
          context.lineTo(x(predictedOf(i)), y(Math.min(points.high[output][i] === null ? Infinity : points.high[output][i], y.domain()[1])));
          context.stroke();
        }
        context.globalAlpha = 1;
      }
      const low = Math.max(x.domain()[0], y.domain()[0]), high = Math.min(x.domain()[1], y.domain()[1]);
      context.strokeStyle = colourOf("--soft");
      context.beginPath();
      context.moveTo(x(low), y(low));
      context.lineTo(x(high), y(high));
      if (high > low) context.stroke();
    };
    scatter(holder, "Predicted against observed", () => ({ n: report.shown, x: predictedOf, y: responseOf, colour: () => colourOf("--point"),
      xLabel: "predicted", yLabel: "observed", under }), rowLines, 340);
  }

  function confusion() {
    const most = 25, shown = report.classes.slice(0, most);
    const node = section("Confusion table", `Rows: true class; columns: predicted class. Counts over ${count(report.rows)} rows.` +
      (report.classes.length > most ? ` The first ${most} of ${report.classes.length} classes.` : ""));
    const largest = d3.max(report.confusion, (row) => d3.max(row)) || 1;
    const holder = table(["true \\ predicted", ...shown.map((label) => short(label, 24))],
      shown.map((label, i) => [short(label, 24), ...report.confusion[i].slice(0, most)]), "confusion table");
    holder.querySelectorAll("tbody tr").forEach((row, i) => Array.from(row.children).slice(1).forEach((cell, j) => {
      const share = report.confusion[i][j] / largest;
      cell.textContent = count(report.confusion[i][j]);
      cell.style.background = `color-mix(in srgb, ${i === j ? "#009e73" : "#d55e00"} ${Math.round(45 * share)}%, transparent)`;
    }));
    node.append(holder);
  }

  /* Lines with marks: series of {name, x, y, colour, marks}. */
  function curve(node, height, xLabel, yLabel, series, options) {
    const holder = make("div", { class: "plot", role: "img", "aria-label": `${yLabel} against ${xLabel}` });
    node.append(holder);
    drawn(() => {
      const box = frame(holder, height);
      d3.select(holder).select("svg").remove();
      const svg = d3.select(holder).append("svg").attr("width", box.width).attr("height", box.height).attr("aria-hidden", "true");
      const finite = (values) => values.filter((value) => value !== null && Number.isFinite(value));
      const span = (key) => [].concat(...series.map((one) => finite(one[key])), (options && options[key]) || []);
      const x = scaleOf(span("x"), MARGIN.left, box.right), y = scaleOf(span("y"), box.bottom, MARGIN.top);
      axes(svg, box, x, y, xLabel, yLabel);
      for (const one of series) {
        const path = d3.line().defined((k) => one.x[k] !== null && one.y[k] !== null).x((k) => x(one.x[k])).y((k) => y(one.y[k]));
        const colour = one.colour || colourOf("--point");
        if (!one.alone) svg.append("path").attr("fill", "none").attr("stroke", colour).attr("stroke-width", one.thin ? 1 : 2)
          .attr("stroke-dasharray", one.thin ? "4 4" : null).attr("d", path(d3.range(one.x.length)));
        if (one.marks) d3.range(one.x.length).filter((k) => one.y[k] !== null).forEach((k) =>
          svg.append("circle").attr("r", one.marks).attr("cx", x(one.x[k])).attr("cy", y(one.y[k])).attr("fill", colour));
      }
    });
  }

  function calibration() {
    if (!report.calibration) return;
    const bins = report.calibration.filter((bin) => bin.n > 0);
    const node = section("Calibration", isClassifier
      ? "Share of rows that are right, by the probability of the predicted class; on the dashed line it is what was promised."
      : "Mean of the response by the prediction, in groups of equal size; on the dashed line it is what was predicted." +
        (outputs > 1 ? ` Of ${short(report.targets[0], 40)}.` : ""));
    const ends = d3.extent(bins.map((bin) => bin.mean));
    const line = isClassifier ? [0, 1] : ends;
    curve(node, 300, isClassifier ? "probability" : "predicted", isClassifier ? "share right" : "mean response", [
      { x: line, y: line, colour: colourOf("--soft"), thin: true },
      { x: bins.map((bin) => bin.mean), y: bins.map((bin) => bin.observed), marks: 4 }]);
    node.append(make("details", {}, make("summary", {}, "as a table"),
      table([isClassifier ? "probability" : "predicted", isClassifier ? "share right" : "mean response", "rows"],
        bins.map((bin) => [bin.mean, bin.observed, bin.n]), "calibration")));
  }

  function residuals() {
    if (!report.histogram) return;
    const { edges, counts, label } = report.histogram;
    const node = section(isClassifier ? "Probability of the true class" : "Residuals", isClassifier
      ? "How sure the model was of what is true; far left are its surprises." : "Observed less predicted; below, against the prediction." +
        (outputs > 1 ? ` The counts are of ${short(report.targets[0], 40)}.` : ""));
    const holder = make("div", { class: "plot", role: "img", "aria-label": "histogram of " + label });
    node.append(holder);
    drawn(() => {
      const box = frame(holder, isClassifier ? 300 : 220);
      d3.select(holder).select("svg").remove();
      const svg = d3.select(holder).append("svg").attr("width", box.width).attr("height", box.height).attr("aria-hidden", "true");
      const x = d3.scaleLinear().domain(d3.extent(edges)).range([MARGIN.left, box.right]);
      const y = d3.scaleLinear().domain([0, d3.max(counts)]).nice().range([box.bottom, MARGIN.top]);
      axes(svg, box, x, y, label, "rows");
      counts.forEach((height, k) => svg.append("rect").attr("x", x(edges[k]) + 0.5).attr("width", Math.max(0.5, x(edges[k + 1]) - x(edges[k]) - 1))
        .attr("y", y(height)).attr("height", box.bottom - y(height)).attr("fill", colourOf("--point")));
    });
    if (isClassifier) return;
    const against = make("div", { class: "plot" });
    node.append(against);
    const residual = (i) => (predictedOf(i) === null ? NaN : responseOf(i) - predictedOf(i));
    const under = (context, x, y) => {
      context.strokeStyle = colourOf("--soft");
      context.beginPath();
      context.moveTo(x.range()[0], y(0));
      context.lineTo(x.range()[1], y(0));
      context.stroke();
    };
    scatter(against, "Residual against prediction", () => ({ n: report.shown, x: predictedOf, y: residual, colour: () => colourOf("--point"),
      xLabel: "predicted", yLabel: "residual", under }), rowLines, 260);
  }

  function importance() {
    if (!report.importance) return;
    const all = report.importance.rows.slice().sort((a, b) => b.importance - a.importance), rows = all.slice(0, 30);
    const what = { permutation: "Growth of the loss when the variable comes from another row", gradient: "Mean derivative of the prediction, for one deviation of the variable",
      shapley: "What the variable takes off the loss" }[report.importance.kind];
    const node = section("Which variables", `${what}; lines are one standard error either way. Asked of ${count(report.importance.asked)} rows.` +
      (all.length > rows.length ? ` The first 30 of ${count(all.length)}.` : ""));
    const holder = make("div", { class: "plot", role: "img", "aria-label": "importance of the variables" });
    node.append(holder);
    drawn(() => {
      const width = Math.max(220, holder.clientWidth), longest = d3.max(rows, (row) => row.variable.length) || 1, room = Math.min(190, 0.4 * width, 8 * longest + 4), height = 24 * rows.length + 30;
      holder.style.height = height + "px";
      d3.select(holder).select("svg").remove();
      const svg = d3.select(holder).append("svg").attr("width", width).attr("height", height).attr("aria-hidden", "true");
      const low = Math.min(0, d3.min(rows, (row) => row.importance - row.se)), high = d3.max(rows, (row) => row.importance + row.se);
      const x = d3.scaleLinear().domain([low, high > low ? high : low + 1]).nice().range([room + 8, width - 14]);
      svg.append("g").attr("class", "axis").attr("transform", `translate(0,${height - 24})`)
        .call(d3.axisBottom(x).ticks(Math.max(2, Math.floor((width - room) / 90))));
      rows.forEach((row, k) => {
        const top = 24 * k + 3;
        svg.append("text").attr("class", "name").attr("text-anchor", "end").attr("x", room).attr("y", top + 14)
          .text(short(row.variable, Math.max(2, Math.floor(room / 7.2)))).append("title").text(short(row.variable, 400));
        svg.append("rect").attr("x", x(Math.min(0, row.importance))).attr("width", Math.abs(x(row.importance) - x(0))).attr("y", top)
          .attr("height", 18).attr("fill", colourOf("--point"));
        svg.append("line").attr("x1", x(row.importance - row.se)).attr("x2", x(row.importance + row.se)).attr("y1", top + 9).attr("y2", top + 9)
          .attr("stroke", colourOf("--ink")).attr("stroke-width", 1.5);
      });
    });
    const heads = ["variable", "importance", "se", ...Object.keys(all[0] || {}).filter((key) => /^z\d+$/.test(key))];
    node.append(make("details", {}, make("summary", {}, "as a table"),
      table(heads, all.slice(0, 500).map((row) => heads.map((key) => row[key])), "importance")));
  }

  function coefficients() {
    if (!report.coef) return;
    const { kind, rows, shares } = report.coef, most = 300;
    const heads = Object.keys(rows[0] || { feature: 0 });
    const node = section(kind === "directions" ? "Directions" : "Mean derivatives of Z", kind === "directions"
      ? "Z is a constant and the sum of the variables times these."
      : "In units of the variables, means over the rows; then the leading directions of all derivatives together" +
        (shares.length > 0 ? ` (shares ${shares.map((share) => number(share)).join(", ")}).` : "."));
    if (rows.length > most) node.append(make("p", { class: "soft" }, `The first ${most} of ${count(rows.length)}: 'stonet coef' has all.`));
    node.append(table(heads, rows.slice(0, most).map((row) => heads.map((key) => row[key])), "coefficients"));
  }

  function order() {
    if (!report.order) return;
    const found = report.order, heads = Object.keys(found.rows[0] || { k: 0 });
    const node = section("How many dimensions", `${found.chosen}, by ${found.rule} of ${found.method}: ${found.reason}.`);
    if (found.rows.filter((row) => row[heads[1]] !== null).length > 1) {
      const k = found.rows.map((row) => row.k), chosen = found.rows.filter((row) => row.k === found.chosen);
      curve(node, 240, "dimension k", heads[1], [{ x: k, y: found.rows.map((row) => row[heads[1]]), marks: 4 },
        { x: chosen.map((row) => row.k), y: chosen.map((row) => row[heads[1]]), marks: 7, alone: true, colour: "#d55e00" }]);
    }
    const holder = table(heads, found.rows.map((row) => heads.map((key) => row[key])), "dimensions");
    holder.querySelectorAll("tbody tr").forEach((row, i) => { if (found.rows[i].k === found.chosen) row.className = "chosen"; });
    node.append(holder);
  }

  function training() {
    if (!report.history) return;
    const node = section("Training", "Loss by epoch, over all stages one after the other.");
    const [names, ...epochs] = d3.csvParseRows(report.history), number = (cell) => cell === "" || isNaN(cell) ? null : +cell;
    const lines = names.map((name, k) => [name, epochs.map((row) => number(row[k]))]).filter(([name]) => /loss/.test(name));
    const colours = [colourOf("--point"), "#d55e00", "#009e73"];
    const series = lines.map(([name, values], k) => ({ name, x: values.map((_, i) => i + 1), y: values, colour: colours[k % 3] }));
    if (series.length > 1) {
      node.append(make("ul", { class: "legend" }, ...series.map((one) => {
        const swatch = make("span", { class: "swatch" });
        swatch.style.background = one.colour;
        return make("li", {}, swatch, one.name.replace(/_/g, " "));
      })));
    }
    curve(node, 260, "epoch", "loss", series);
  }

  /* "a network, its settings; held-out loss 0.23", the chosen one first. */
  function choices() {
    const lines = (report.about.fitted || {}).choice || [];
    if (lines.length === 0) return;
    const node = section("Which StoNet", "The networks of the table of candidates that came furthest. The lowest loss on held-out rows decides.", true);
    node.append(table(["", "network", "held-out loss"], lines.map((line, k) => {
      const [network, loss] = line.split("; held-out loss ");
      return [k === 0 ? "chosen" : "", network, loss === undefined ? null : Number(loss)];
    }), "candidates"));
    node.querySelector("tbody tr").className = "chosen";
  }

  function settings() {
    const about = report.about, rows = [];
    for (const [key, value] of Object.entries(about.settings)) rows.push([key, Array.isArray(value) ? value.join(", ") : String(value)]);
    if (about.learner) for (const [key, value] of Object.entries(about.learner.settings)) rows.push([`${about.learner.name}: ${key}`, String(value)]);
    const node = section("Settings and versions", `stonet ${report.version}, method ${about.method}, seed ${about.seed}, scale ${about.scale}; page drawn with d3 ${d3.version}.`);
    node.append(make("details", {}, make("summary", {}, "settings"), table(["setting", "value"], rows, "settings")));
    const facts = Object.entries(about.fitted || {}).map(([key, value]) => [key, typeof value === "object" ? short(JSON.stringify(value), 300) : value]);
    if (facts.length > 0) node.append(make("details", {}, make("summary", {}, "what the fit found"), table(["fact", "value"], facts, "facts")));
  }

  head();
  reduction();
  predictions();
  importance();
  calibration();
  residuals();
  order();
  coefficients();
  choices();
  training();
  settings();
  document.documentElement.setAttribute("data-ready", "yes");
})();
