/* The page of `stonet report`: the sections of the JSON in #report, drawn with plots.js. */
(function () {
  const report = JSON.parse(document.getElementById("report").textContent);
  const main = document.getElementById("main");
  const isClassifier = ["classification", "ordinal"].includes(report.task);
  const hasLaw = !["classification", "regression", "none"].includes(report.task);

  function section(title, note, wide) {
    const node = make("section", wide ? { class: "wide" } : {}, make("h2", {}, title));
    if (note) node.append(make("p", { class: "soft" }, note));
    main.append(node);
    return node;
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

  function rampOf(values) {
    const sorted = values.filter((value) => value !== null).sort(d3.ascending);
    return d3.scaleSequential(shade)
      .domain([d3.quantile(sorted, 0.02), d3.quantile(sorted, 0.98)]).clamp(true);
  }
  function rampBar(name, of) {
    const bar = make("span", { class: "ramp" });
    bar.style.background = `linear-gradient(to right, ${d3.range(0, 1.01, 0.1).map(shade).join(",")})`;
    return make("li", {}, `${short(name, 40)}: ${number(of.domain()[0])}`, bar, number(of.domain()[1]));
  }
  function pointColour(i) {
    const value = responseOf(i);
    if (value === null) return colourOf("--point");
    return isClassifier ? seriesColour(value) : ramp(value);
  }
  function rowLines(i) {
    const lines = [`row ${count(points.row[i])}`];
    if (points.y) lines.push(`${short(report.targets[output] || "response", 40)}: ${responseText(responseOf(i))}` +
      (points.event && points.event[i] === 0 ? " (censored)" : ""));
    if (points.predicted) lines.push(`predicted: ${responseText(predictedOf(i))}` +
      (isClassifier ? ` (${number(points.probability[i])})` : ""));
    if (points.low) lines.push(`interval: ${number(points.low[output][i])} to ${number(points.high[output][i])}`);
    points.z.forEach((z, k) => lines.push(`Z${k + 1}: ${number(z[i])}`));
    points.x.forEach((column) => lines.push(`${short(column.name, 40)}: ${number(column.values[i])}`));
    return lines;
  }
  const sampled = report.shown < report.rows
    ? `${count(report.shown)} of ${count(report.rows)} rows, drawn at random, are shown. Counts, curves and scores use all rows.` : "";

  /* ---- sections ---- */

  /* What the fit reached on rows that it held out, beside a constant guess and a linear model: [what, model, standard error,
     constant, linear]. The loss of numbers is the sum over the outputs, of variance 1, of half the squared error. */
  function heldOut(fitted) {
    if (!Number.isFinite(fitted.held_out_loss)) return [];
    const unit = isClassifier || hasLaw || !fitted.widths ? 1 : 2 / fitted.widths[fitted.widths.length - 1];
    const line = (what, key, scale) => [what, ...["_" + key, `_${key}_se`, "_constant_" + key, "_linear_" + key]
      .map((name) => (Number.isFinite(fitted["held_out" + name]) ? scale * fitted["held_out" + name] : null))];
    if (isClassifier) return [line("error rate", "error", 1), line("log loss", "loss", 1)].filter((row) => row[1] !== null);
    const what = { mean: "squared error / variance", ensemble: "squared error of functions" }[fitted.response];
    return [line((!hasLaw && what) || "minus log likelihood", "loss", unit)];
  }

  function head() {
    const top = document.getElementById("top"), about = report.about;
    const variables = (about.support || about.inputs).length;
    const what = report.targets.length > 0 ? short(report.targets.join(", "), 80) : count(about.dim, "number");
    const title = `${report.model}: ${what} from ${count(variables, "variable")}`;
    document.title = `${short(title, 100)} – stonet report`;
    top.append(make("h1", {}, title));
    top.append(make("p", { class: "soft" }, `${about.title}, fitted on ${count(about.rows, "row")}. Shown here: ${count(report.rows, "row")} of ${report.data}.`));
    top.append(make("p", {}, `Z is what the model computes from the variables of a row: ${count(about.dim, "number")}` +
      (report.targets.length > 0 ? ` that should keep all that the variables say about ${what}.` : ".")));
    if (report.met) top.append(make("p", {}, "These look like the training rows: scores on them are too good."));
    const cards = make("ul", { class: "cards" });
    for (const [name, value] of report.scores) cards.append(make("li", {}, make("b", {}, number(value)), name));
    top.append(cards);
    const lines = heldOut(about.fitted || {});
    if (lines.length > 0) {
      top.append(make("p", { class: "soft" }, `Measured in the fit, on ${count(about.fitted.held_out_rows, "held-out row")}:`));
      top.append(table(["", "this model", "standard error", "constant guess", "linear model"], lines, "held-out error"));
    }
  }

  /* Classes: buttons that hide and show their points. Numbers: the ramp of colours. */
  function legend(node, hidden, onChange) {
    const list = make("ul", { class: "legend" });
    if (isClassifier && points.y) {
      report.classes.slice(0, 84).forEach((label, code) => {
        const button = action("", () => { if (!hidden.delete(code)) hidden.add(code); onChange(code); });
        button.append(swatch(seriesColour(code), SHAPES[code % SHAPES.length]), short(label, 40));
        button.setAttribute("aria-pressed", String(!hidden.has(code)));
        button.title = "Click to hide or show";
        list.append(make("li", {}, button));
      });
    } else if (points.y && ramp.domain()[0] !== undefined) list.append(rampBar(report.targets[output] || "response", ramp));
    node.replaceChildren(list);
  }

  function reduction() {
    const share = (report.about.fitted || {}).explained_share || [];
    const node = section(points.y ? "Z by response" : "Z", [sampled, share.length > 0
      ? "In brackets: the share of each Z in the effect on the output." : "", "Drag to select rows, or give a range.",
      isClassifier && points.y ? "Click a class to hide or show it." : ""].join(" ").trim(), true);
    const names = points.z.map((_, k) => `Z${k + 1}` + (share[k] > 0 ? ` (${Number((100 * share[k]).toPrecision(3))} %)` : ""));
    const columns = points.z.slice();
    if (points.y) { names.push(short(report.targets[0] || (isClassifier ? "class" : "response"), 40)); columns.push(null); }
    if (names.length === 1) { names.push("row"); columns.push(points.row); }
    /* Classes on an axis are spread a little, so that points do not hide each other. */
    const spread = (i) => 0.6 * (((i * 0.618034) % 1) - 0.5);
    const valueOf = (k) => (i) => columns[k] ? columns[k][i] : isClassifier ? responseOf(i) + spread(i) : responseOf(i);
    const classesOf = (k) => (columns[k] || !isClassifier ? null : report.classes);
    const flat = points.z.length > 1 && new Set(points.z[1]).size < 2; // a second column that says nothing
    const hidden = new Set();
    let horizontal = 0, vertical = flat && points.y ? points.z.length : 1;
    const colours = make("div", {}), chosen = make("div", { "aria-live": "polite" });
    const holder = make("div", { class: "plot", id: "z-plot" });
    const controls = make("div", { class: "controls" });
    node.append(controls, colours, holder, chosen);
    const toggled = (code) => {
      plot.draw();
      if (plot.brushed()) plot.select(plot.brushed());
      colours.querySelectorAll("button")[code].focus();
    };
    const spec = () => {
      ramp = rampOf(points.y ? points.y[output] : []);
      legend(colours, hidden, toggled);
      return { n: report.shown, x: valueOf(horizontal), y: valueOf(vertical), colour: pointColour,
        shape: isClassifier && points.y ? responseOf : null, seen: (i) => !isClassifier || !hidden.has(responseOf(i)),
        xLabel: names[horizontal], yLabel: names[vertical], xNames: classesOf(horizontal), yNames: classesOf(vertical) };
    };
    const plot = scatter(holder, "Z by response", spec, rowLines, 460, (range, seen, now) => selection(chosen, range, seen, now));
    const again = () => { chosen.replaceChildren(); plot.zoom(null); };
    controls.append(choice("across", names, 0, (k) => { horizontal = k; again(); }), choice("up", names, vertical, (k) => { vertical = k; again(); }));
    if (outputs > 1) controls.append(choice("response", report.targets, 0, (k) => { output = k; redraw(); }));
    const fields = ["x from", "x to", "y from", "y to"].map((text) => {
      const input = make("input", { type: "number", step: "any" });
      controls.append(make("label", {}, text, input));
      return input;
    });
    controls.append(action("select", () => {
      const given = fields.map((field, k) => (field.value === "" ? plot.domains()[k] : Number(field.value)));
      plot.select(fields.every((field) => field.value === "") ? null : given);
    }), action("zoom in", () => { if (plot.brushed()) plot.zoom(plot.brushed()); }), action("show all", again));
  }

  /* The rows inside a range: how many, what their responses are, and the first of them. */
  function selection(node, range, usable, now) {
    node.replaceChildren();
    if (!range) return;
    const rows = usable.filter((i) => now.x(i) >= range[0] && now.x(i) <= range[1] && now.y(i) >= range[2] && now.y(i) <= range[3]);
    let what = `${count(rows.length, "row")} selected`;
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
    const all = rows.map((i) => [points.row[i], ...(points.y ? [responseText(responseOf(i))] : []),
      ...(points.predicted ? [responseText(predictedOf(i))] : []), ...points.z.map((z) => z[i]), ...points.x.map((column) => column.values[i])]);
    node.append(action("save as CSV", () => saveCsv("selected.csv", [heads, ...all])),
      table(heads, all.slice(0, 50), "the first selected rows"));
    if (rows.length > 50) node.append(make("p", { class: "soft" }, "The first 50 of them."));
  }

  function predictions() {
    if (!points.predicted || !points.y) return;
    if (points.event) return survival();
    if (isClassifier) return confusion();
    const score = new Map(report.scores);
    const node = section("Predicted against observed", points.low
      ? `The lines are intervals. They should cover ${number(100 * score.get("nominal coverage"))} % of new rows, and cover ` +
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

  /* Kaplan and Meier's curves by thirds of Z1. */
  function survival() {
    const names = ["lowest", "middle", "highest"], p = report.survival.p_value;
    const node = section("Survival by Z1", "Kaplan-Meier curves of the rows in thirds by Z1." +
      (p === null ? "" : ` Log-rank test that the thirds have one law: p = ${number(p)}.`));
    namedCurves(node, report.targets[0] || "time", "still without the event", report.survival.curves.map((one) => ({
      name: `${names[one.third - 1]} third: ${count(one.n, "row")}, ${count(one.events, "event")}`, x: one.time, y: one.survival })));
  }

  /* Curves of {name, x, y} below a legend. */
  function namedCurves(node, xLabel, yLabel, series) {
    const list = make("ul", { class: "legend" });
    series.forEach((one, k) => { one.colour = () => seriesColour(k); });
    node.append(list);
    drawn(() => list.replaceChildren(...series.map((one) => make("li", {}, swatch(one.colour()), one.name))));
    curve(node, 300, xLabel, yLabel, series);
  }

  function confusion() {
    const most = 25, shown = report.classes.slice(0, most);
    const node = section("Confusion table", `Rows: true class; columns: predicted class. Counts over ${count(report.rows)} rows.` +
      (report.classes.length > most ? ` The first ${most} of ${report.classes.length} classes.` : ""), shown.length > 6);
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

  function calibration() {
    if (!report.calibration) return;
    const bins = report.calibration.filter((bin) => bin.n > 0);
    const node = section("Calibration", isClassifier
      ? "Share of right predictions, by the probability of the predicted class. On the dashed line both agree."
      : "Mean of the response by the prediction, in groups of equal size. On the dashed line both agree." +
        (outputs > 1 ? ` Of ${short(report.targets[0], 40)}.` : ""));
    const ends = d3.extent(bins.map((bin) => bin.mean));
    const line = isClassifier ? [0, 1] : ends;
    curve(node, 300, isClassifier ? "probability" : "predicted", isClassifier ? "share right" : "mean response", [
      { x: line, y: line, colour: () => colourOf("--soft"), thin: true },
      { x: bins.map((bin) => bin.mean), y: bins.map((bin) => bin.observed), marks: 4 }]);
    node.append(make("details", {}, make("summary", {}, "as a table"),
      table([isClassifier ? "probability" : "predicted", isClassifier ? "share right" : "mean response", "rows"],
        bins.map((bin) => [bin.mean, bin.observed, bin.n]), "calibration")));
  }

  function residuals() {
    if (!report.histogram) return;
    const { edges, counts, label } = report.histogram;
    const node = section(isClassifier ? "Probability of the true class" : "Residuals", isClassifier
      ? "The probability that the model gave to the true class. Rows far left surprised the model." : (points.residual
        ? "Standard normal where the law of the counts is right; below, against the expected count." : "Observed less predicted; below, against the prediction.") +
        (outputs > 1 ? ` The counts are of ${short(report.targets[0], 40)}.` : ""));
    const holder = make("div", { class: "plot", role: "img", "aria-label": "histogram of " + label });
    node.append(holder);
    drawn(() => {
      const box = frame(holder, isClassifier ? 300 : 220);
      const svg = blank(holder, box), x = d3.scaleLinear().domain(d3.extent(edges)), y = d3.scaleLinear().domain([0, d3.max(counts)]).nice();
      axes(svg, box, x, y, label, "rows");
      counts.forEach((height, k) => svg.append("rect").attr("x", x(edges[k]) + 0.5).attr("width", Math.max(0.5, x(edges[k + 1]) - x(edges[k]) - 1))
        .attr("y", y(height)).attr("height", box.bottom - y(height)).attr("fill", colourOf("--point")));
    });
    if (isClassifier) return;
    const against = make("div", { class: "plot" });
    node.append(against);
    const residual = (i) => points.residual ? points.residual[i] : (predictedOf(i) === null ? NaN : responseOf(i) - predictedOf(i));
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
    const what = { permutation: "How much the loss grows when the variable comes from another row", gradient: "Mean derivative of the prediction, for one standard deviation of the variable",
      shapley: "How much the variable lowers the loss" }[report.importance.kind];
    const node = section("Which variables", `${what}; the lines show one standard error. Measured on ${count(report.importance.measured, "row")}.` +
      (all.length > rows.length ? ` The first 30 of ${count(all.length)}.` : ""));
    const holder = make("div", { class: "plot", role: "img", "aria-label": "importance of the variables" });
    node.append(holder);
    drawn(() => {
      const height = 24 * rows.length + 30, box = frame(holder, height), width = box.width, svg = blank(holder, box);
      const room = Math.min(190, 0.4 * width, d3.max(rows, (row) => widthOf(row.variable)) + 12);
      const low = Math.min(0, d3.min(rows, (row) => row.importance - row.se)), high = d3.max(rows, (row) => row.importance + row.se);
      const x = d3.scaleLinear().domain([low, high > low ? high : low + 1]).nice().range([room + 8, width - 20]);
      svg.append("g").attr("class", "axis").attr("transform", `translate(0,${height - 24})`)
        .call(axis(d3.axisBottom, x, ticksOf(x, Math.max(2, Math.floor((width - room) / 90)), null, false)));
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
      : "Means over the rows, in units of the variables. Beside them: the leading directions of all derivatives" +
        (shares.length > 0 ? ` (shares ${shares.map((share) => number(share)).join(", ")}).` : "."));
    const values = table(heads, rows.slice(0, most).map((row) => heads.map((key) => row[key])), "coefficients");
    const channels = channelsOf(rows.map((row) => row.feature));
    if (channels) namedCurves(node, "channel", kind === "directions" ? "coefficient" : "mean derivative",
      heads.filter((key) => /^z\d+$/.test(key)).map((key) => ({ name: key, x: channels, y: rows.map((row) => row[key]) })));
    if (rows.length > most) node.append(make("p", { class: "soft" }, `The first ${most} of ${count(rows.length)}: 'stonet coef' has all.`));
    node.append(channels ? make("details", {}, make("summary", {}, "as a table"), values) : values);
  }

  /* Rows as curves, as the model sees them. */
  function curvesByZ() {
    if (report.curves.length === 0) return;
    const way = report.about.curves, node = section("Rows by Z1", (way === "none" ? "" : `Prepared by ${way}. `) +
      `${count(report.curves[0].lines.length, "row")}, coloured by Z1.`);
    for (const { axis, lines, z } of report.curves) {
      const of = rampOf(z[0]), list = make("ul", { class: "legend" });
      node.append(list);
      drawn(() => list.replaceChildren(rampBar("Z1", of)));
      curve(node, 300, "channel", way === "none" ? "value" : way, lines.map((y, i) => ({ x: axis, y, width: 0.8, colour: () => of(z[0][i]) })));
    }
  }

  /* The axis of a curve where the names of the variables are its numbers in order ("850", "852 snv", ..); null for others. */
  function channelsOf(names) {
    const axis = names.map((name) => parseFloat(name));
    const rises = (at) => at > 0 && Math.sign(axis[at] - axis[at - 1]) === Math.sign(axis[1] - axis[0]) && axis[at] !== axis[at - 1];
    return axis.length >= 10 && axis.every((value, at) => Number.isFinite(value) && (at === 0 || rises(at))) ? axis : null;
  }

  function order() {
    if (!report.order) return;
    const found = report.order, heads = Object.keys(found.rows[0] || { k: 0 });
    const node = section("How many dimensions", `${found.chosen}, by ${found.rule} of ${found.method}: ${found.reason}.`);
    if (found.rows.filter((row) => row[heads[1]] !== null).length > 1) {
      const k = found.rows.map((row) => row.k), chosen = found.rows.filter((row) => row.k === found.chosen);
      curve(node, 240, "dimension k", heads[1], [{ x: k, y: found.rows.map((row) => row[heads[1]]), marks: 4 },
        { x: chosen.map((row) => row.k), y: chosen.map((row) => row[heads[1]]), marks: 7, alone: true, colour: () => seriesColour(1) }]);
    }
    const holder = table(heads, found.rows.map((row) => heads.map((key) => row[key])), "dimensions");
    holder.querySelectorAll("tbody tr").forEach((row, i) => { if (found.rows[i].k === found.chosen) row.className = "chosen"; });
    node.append(holder);
  }

  /* A word on a curve whose last tenth is above its lowest tenth by more than twice the noise of that; "" for others. */
  function riseOf(values) {
    const finite = values.filter((value) => value !== null), each = Math.max(2, Math.ceil(finite.length / 10));
    const parts = d3.range(0, finite.length - each + 1, each).map((from) => finite.slice(from, from + each));
    const lowest = parts.reduce((best, part) => (best && d3.mean(best) <= d3.mean(part) ? best : part), null);
    const last = finite.slice(-each);
    if (!lowest || d3.mean(last) <= d3.mean(lowest) + 2 * d3.deviation(lowest)) return "";
    const decay = Number((report.about.fitted || {}).weight_decay);
    return `The loss rises from ${number(d3.mean(lowest))} to ${number(d3.mean(last))} at the end (means of ${each} epochs). ` +
      (decay > 0 ? `Training lowers the loss plus a penalty on large weights (weight decay ${number(decay)}), so the loss alone may rise. ` : "") +
      "If it rises far, the steps are too long: set a smaller lr.";
  }

  function training() {
    if (!report.history) return;
    const node = section("Training", "Loss by epoch, all stages in a row.");
    const [names, ...epochs] = d3.csvParseRows(report.history), number = (cell) => cell === "" || isNaN(cell) ? null : +cell;
    const lines = names.map((name, k) => [name, epochs.map((row) => number(row[k]))]).filter(([name]) => /loss/.test(name));
    const series = lines.map(([name, values], k) => ({ name, x: values.map((_, i) => i + 1), y: values, colour: () => seriesColour(k) }));
    if (series.length > 1) {
      const list = make("ul", { class: "legend" });
      node.append(list);
      drawn(() => list.replaceChildren(...series.map((one) => make("li", {}, swatch(one.colour()), one.name.replace(/_/g, " ")))));
    }
    const rise = riseOf(series[0] ? series[0].y : []);
    if (rise) node.append(make("p", {}, rise));
    curve(node, 260, "epoch", "loss", series);
  }

  /* "a network, its settings; held-out loss 0.23", the chosen one first. */
  function choices() {
    const lines = (report.about.fitted || {}).choice || [];
    if (lines.length === 0) return;
    const node = section("Which StoNet", "The best candidates. The lowest loss on held-out rows wins.", true);
    node.append(table(["network", "held-out loss", ""], lines.map((line, k) => {
      const [network, loss] = line.split("; held-out loss ");
      return [network, loss === undefined ? null : Number(loss), k === 0 ? "chosen" : ""];
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
  curvesByZ();
  coefficients();
  choices();
  training();
  settings();
  document.documentElement.setAttribute("data-ready", "yes");
})();
