// The picture of a session: what filled its window at each request, and what happened in between.
"use strict";

(() => {
  const SIGNS = {
    prompt: ["●", "prompt"],
    compaction: ["▲", "compaction", true],
    break: ["✕", "cache break", true],
    limit: ["■", "limit", true],
    rules: ["◆", "rules"],
  };
  const FILLS = ["--c-system", "--c-brim", "--c-you", "--c-results", "--c-rest"];
  const STROKES = ["none", "dots", "rising", "falling", "cross"];

  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const short = (tokens) => {
    if (tokens >= 999500) return `${(tokens / 1e6).toFixed(1)}M`;
    if (tokens >= 1000) return `${(tokens / 1e3).toFixed(tokens < 99950 ? 1 : 0).replace(".0", "")}k`;
    return String(Math.round(tokens));
  };
  const element = (tag, text, name = "") => {
    const made = document.createElement(tag);
    if (name) made.className = name;
    made.textContent = text;
    return made;
  };

  // Ask for a part of the page; again, while the server answers that it's still reading the session.
  async function patiently(address, isWanted) {
    for (;;) {
      const answer = await fetch(address);
      if (answer.status !== 202) return answer;
      await new Promise((resolve) => setTimeout(resolve, 200));
      if (!isWanted()) return answer;
    }
  }

  // Each part has a texture as well as a colour.
  function texture(kind, colour) {
    const size = 8 * devicePixelRatio;
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = size;
    const pen = canvas.getContext("2d");
    pen.fillStyle = colour;
    pen.fillRect(0, 0, size, size);
    pen.strokeStyle = pen.fillStyle = css("--c-texture");
    pen.lineWidth = devicePixelRatio;
    pen.beginPath();
    if (kind === "dots") {
      pen.arc(size / 2, size / 2, devicePixelRatio * 1.1, 0, 7);
      pen.fill();
    }
    if (kind === "rising" || kind === "cross") {
      pen.moveTo(-1, size + 1);
      pen.lineTo(size + 1, -1);
    }
    if (kind === "falling" || kind === "cross") {
      pen.moveTo(-1, -1);
      pen.lineTo(size + 1, size + 1);
    }
    pen.stroke();
    return pen.createPattern(canvas, "repeat");
  }

  function swatch(at) {
    const canvas = document.createElement("canvas");
    canvas.className = "swatch";
    canvas.width = canvas.height = 16 * devicePixelRatio;
    const pen = canvas.getContext("2d");
    pen.fillStyle = texture(STROKES[at], css(FILLS[at]));
    pen.fillRect(0, 0, canvas.width, canvas.height);
    return canvas;
  }

  class Chart {
    constructor(figure) {
      this.figure = figure;
      this.plotted = figure.querySelector(".plot");
      this.slider = figure.querySelector("input[type=range]");
      this.readout = figure.querySelector(".readout");
      this.show(JSON.parse(figure.dataset.chart));
      this.slider.addEventListener("input", () => this.select(Number(this.slider.value), true));
      // The plot may be drawn anew between pressing and releasing: then a click would be lost.
      this.plotted.addEventListener("pointerup", (event) => this.press(event));
      new ResizeObserver(() => this.plot?.setSize(this.size())).observe(this.plotted);
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.show(this.data));
    }

    size() {
      return { width: this.plotted.clientWidth, height: Math.max(220, Math.min(380, this.plotted.clientWidth * 0.42)) };
    }

    show(data) {
      const followed = !this.data || Number(this.slider.value) === this.data.numbers.length;
      this.data = data;
      this.slider.max = data.numbers.length;
      const selected = followed ? data.numbers.length : Number(this.slider.value);
      this.draw();
      this.legend();
      this.signs();
      this.select(selected, false);
    }

    draw() {
      const { data } = this;
      // A lone request is drawn as wide as a request.
      const xs = data.numbers.flatMap((number) => [number - 0.5, number + 0.5]);
      const twice = (values) => values.flatMap((value) => [value, value]);
      let sum = data.numbers.map(() => 0);
      const sums = data.groups.map((group) => {
        sum = sum.map((value, at) => value + group.tokens[at]);
        return sum;
      });
      const highest = Math.max(...sums.at(-1), ...data.billed, 1);
      const top = data.window && highest > data.window * 0.45 ? Math.max(data.window, highest) * 1.02 : highest * 1.18;
      const layers = sums.map((_, at) => sums.length - 1 - at); // the highest sum is drawn first, the lowest on top
      const options = {
        ...this.size(),
        padding: [40, 20, 0, 0],
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
        scales: { x: { time: false, range: [0.5, data.numbers.length + 0.5] }, y: { range: [0, top] } },
        axes: [
          {
            stroke: css("--faint"),
            grid: { show: false },
            ticks: { stroke: css("--line"), size: 4 },
            font: "12px system-ui, sans-serif",
            values: (_, splits) => splits.map((split) => (Number.isInteger(split) ? data.clock[split - 1] || split : "")),
            space: 64,
          },
          {
            stroke: css("--faint"),
            grid: { stroke: css("--line"), width: 1 },
            ticks: { show: false },
            font: "12px system-ui, sans-serif",
            size: 48,
            values: (_, splits) => splits.map(short),
          },
        ],
        series: [
          {},
          ...layers.map((at) => ({
            label: data.groups[at].name,
            stroke: css("--ground"),
            width: 1,
            fill: texture(STROKES[at], css(FILLS[at])),
            points: { show: false },
          })),
        ],
        hooks: { draw: [(plot) => this.marks(plot)], setCursor: [(plot) => this.hover(plot)] },
      };
      this.plot?.destroy();
      this.plot = new uPlot(options, [xs, ...layers.map((at) => twice(sums[at]))], this.plotted);
      this.tip = element("div", "", "tip");
      this.tip.hidden = true;
      this.plot.over.append(this.tip);
    }

    press(event) {
      const { over } = this.plot;
      if (event.button !== 0 || !over.contains(event.target)) return;
      const left = event.clientX - over.getBoundingClientRect().left;
      this.select(Math.round(this.plot.posToVal(left, "x")), true);
    }

    marks(plot) {
      const pen = plot.ctx;
      const { left, top, height, width } = plot.bbox;
      const ratio = devicePixelRatio;
      pen.save();
      pen.textAlign = "center";
      pen.font = `${11 * ratio}px system-ui, sans-serif`;
      const line = (y, text, dash) => {
        pen.strokeStyle = pen.fillStyle = css("--faint");
        pen.setLineDash(dash);
        pen.lineWidth = ratio;
        pen.beginPath();
        pen.moveTo(left, y);
        pen.lineTo(left + width, y);
        pen.stroke();
        pen.textAlign = "left";
        pen.fillText(text, left + 6 * ratio, y + 13 * ratio);
        pen.textAlign = "center";
      };
      const inside = (tokens) => tokens && tokens <= plot.scales.y.max;
      if (inside(this.data.compacts_at)) line(plot.valToPos(this.data.compacts_at, "y", true), "the agent compacts", [6 * ratio, 4 * ratio]);
      else if (inside(this.data.window)) line(plot.valToPos(this.data.window, "y", true), "window", [2 * ratio, 3 * ratio]);
      if (inside(this.data.warns_at)) line(plot.valToPos(this.data.warns_at, "y", true), "brim warns", [2 * ratio, 4 * ratio]);
      this.names(pen, plot, ratio);
      const taken = new Map();
      for (const mark of this.data.marks) {
        const x = plot.valToPos(mark.at, "x", true);
        const strong = SIGNS[mark.kind][2];
        pen.strokeStyle = pen.fillStyle = css(`--m-${mark.kind}`);
        if (strong) {
          pen.setLineDash(mark.kind === "compaction" ? [] : [4 * ratio, 3 * ratio]);
          pen.lineWidth = (mark.kind === "compaction" ? 2 : 1.5) * ratio;
          pen.beginPath();
          pen.moveTo(x, top);
          pen.lineTo(x, top + height);
          pen.stroke();
        }
        // Signs of the same place stand above each other, the small ones at the bottom.
        const row = strong ? 0 : 1;
        const key = `${row} ${Math.round(x / (10 * ratio))}`;
        if (!strong && taken.has(key)) continue;
        taken.set(key, true);
        pen.fillText(SIGNS[mark.kind][0], x, strong ? top - this.above(mark) * ratio : top + height - 5 * ratio);
      }
      this.labels(pen, plot, ratio);
      if (this.selected) {
        const x = plot.valToPos(this.selected, "x", true);
        pen.setLineDash([]);
        pen.lineWidth = 1.5 * ratio;
        pen.strokeStyle = css("--text");
        pen.strokeRect(x - 3 * ratio, top + height - 1, 6 * ratio, 4 * ratio);
        pen.beginPath();
        pen.moveTo(x, top);
        pen.lineTo(x, top + height);
        pen.globalAlpha = 0.35;
        pen.stroke();
      }
      pen.restore();
    }

    // Each part is named where it is thickest, if there is room.
    names(pen, plot, ratio) {
      const below = this.data.numbers.map(() => 0);
      pen.font = `600 ${12 * ratio}px system-ui, sans-serif`;
      for (const group of this.data.groups) {
        const thick = group.tokens.flatMap((tokens, place) => (tokens >= Math.max(...group.tokens) * 0.97 ? [place] : []));
        const at = thick[thick.length >> 1];
        const low = plot.valToPos(below[at], "y", true);
        const high = plot.valToPos(below[at] + group.tokens[at], "y", true);
        group.tokens.forEach((tokens, place) => (below[place] += tokens));
        if (low - high < 22 * ratio) continue;
        const long = pen.measureText(group.name).width;
        let [first, last] = [at, at];
        while (first > 0 && group.tokens[first - 1] > group.tokens[at] * 0.6) first -= 1;
        while (group.tokens[last + 1] > group.tokens[at] * 0.6) last += 1;
        const [from, to] = [plot.valToPos(first + 0.5, "x", true), plot.valToPos(last + 1.5, "x", true)];
        if (to - from < long + 20 * ratio) continue;
        const x = Math.min(to - long / 2 - 10 * ratio, Math.max(from + long / 2 + 10 * ratio, plot.valToPos(at + 1, "x", true)));
        const y = (low + high) / 2 + 4 * ratio;
        pen.fillStyle = css("--ground");
        pen.globalAlpha = 0.82;
        pen.fillRect(x - long / 2 - 5 * ratio, y - 13 * ratio, long + 10 * ratio, 18 * ratio);
        pen.globalAlpha = 1;
        pen.fillStyle = css("--text");
        pen.fillText(group.name, x, y);
      }
      pen.font = `${11 * ratio}px system-ui, sans-serif`;
    }

    // How far above the plot a sign stands: compactions have a row of their own.
    above(mark) {
      return mark.kind === "compaction" ? 24 : 6;
    }

    // Compactions and expensive breaks are named where there is room.
    labels(pen, plot, ratio) {
      const { left, top, width } = plot.bbox;
      const free = {};
      pen.textAlign = "left";
      for (const mark of this.data.marks) {
        if (!SIGNS[mark.kind][2]) continue;
        const text = mark.text.split(",")[0];
        const x = plot.valToPos(mark.at, "x", true) + 8 * ratio;
        const long = pen.measureText(text).width;
        const row = this.above(mark);
        const next = this.data.marks.find((other) => other.at > mark.at && SIGNS[other.kind][2] && this.above(other) === row);
        const end = next ? plot.valToPos(next.at, "x", true) - 8 * ratio : left + width;
        if (x < (free[row] || 0) || x + long > end) continue;
        pen.fillStyle = css(`--m-${mark.kind}`);
        pen.fillText(text, x, top - row * ratio);
        free[row] = x + long + 12 * ratio;
      }
    }

    legend() {
      const list = this.figure.querySelector(".legend");
      this.values = this.data.groups.map((group, at) => {
        const item = element("li", "");
        const value = element("b", "");
        item.append(swatch(at), element("span", group.name), value);
        item.hidden = !group.tokens.some((tokens) => tokens > 0);
        return [item, value];
      });
      list.replaceChildren(...this.values.map(([item]) => item).reverse());
    }

    signs() {
      const counts = new Map();
      for (const { kind } of this.data.marks) counts.set(kind, (counts.get(kind) || 0) + 1);
      const items = [...counts].map(([kind, count]) => {
        const item = element("li", "");
        const sign = element("span", SIGNS[kind][0], `sign ${kind}`);
        sign.setAttribute("aria-hidden", "true");
        item.append(sign, element("span", ` ${count} × ${SIGNS[kind][1]}`));
        return item;
      });
      this.figure.querySelector(".signs").replaceChildren(...items);
    }

    select(number, ask) {
      const { data } = this;
      const at = Math.max(1, Math.min(data.numbers.length, number)) - 1;
      this.selected = at + 1;
      this.slider.value = at + 1;
      this.readout.value = this.told(at);
      this.values.forEach(([, value], group) => (value.textContent = short(data.groups[group].tokens[at])));
      this.plot.redraw(false);
      const session = this.figure.dataset.session;
      if (!ask || !session) return;
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.ask(session, at + 1), 80);
    }

    // An answer may come late: only the request that was selected last is shown.
    async ask(session, number) {
      const turn = (this.turn = (this.turn || 0) + 1);
      const isWanted = () => turn === this.turn;
      const answer = await patiently(`${session}/request/${number}`, isWanted);
      const html = await answer.text();
      if (answer.status === 200 && isWanted()) document.getElementById("request").innerHTML = html;
    }

    told(at) {
      const { data } = this;
      const cached = data.billed[at] ? `${Math.round((100 * data.cached[at]) / data.billed[at])}% from the cache` : "";
      const parts = [`request ${at + 1}`, data.clock[at], `${short(data.billed[at])} tokens`, cached, data.costs[at]];
      return parts.filter(Boolean).join(" · ");
    }

    hover(plot) {
      const { left } = plot.cursor;
      const at = Math.round(plot.posToVal(left, "x")) - 1;
      if (left < 0 || !(at >= 0 && at < this.data.numbers.length)) {
        this.tip.hidden = true;
        return;
      }
      const rows = [element("strong", this.told(at))];
      for (const group of [...this.data.groups].reverse()) {
        if (group.tokens[at]) rows.push(element("div", `${group.name}: ${short(group.tokens[at])}`));
      }
      if (this.data.causes[at]) rows.push(element("div", `came in: ${this.data.causes[at]}`, "cause"));
      for (const mark of this.data.marks) {
        if (Math.abs(mark.at - at - 1) <= 0.5) rows.push(element("div", `${SIGNS[mark.kind][0]} ${mark.clock} ${mark.text}`, mark.kind));
      }
      this.tip.replaceChildren(...rows);
      this.tip.hidden = false;
      const room = plot.over.clientWidth - this.tip.offsetWidth;
      this.tip.style.left = `${Math.max(0, Math.min(room, left < plot.over.clientWidth / 2 ? left + 14 : left - this.tip.offsetWidth - 14))}px`;
    }
  }

  function begin() {
    const figure = document.querySelector("figure[data-chart]");
    const chart = figure ? new Chart(figure) : null;
    const grows = document.querySelector("[data-grows]");
    if (!grows) return;
    let turn = 0;
    const refresh = async () => {
      const mine = (turn += 1);
      const answer = await patiently(`${grows.dataset.grows}/data`, () => mine === turn);
      if (answer.status !== 200) return;
      const { chart: data, parts } = await answer.json();
      if (mine !== turn) return;
      if (!chart) location.reload();
      chart?.show(data);
      for (const [id, html] of Object.entries(parts)) {
        const target = document.getElementById(id);
        if (target && !target.contains(document.activeElement)) target.innerHTML = html;
      }
      if (chart) chart.select(chart.selected, true);
    };
    new EventSource(`${grows.dataset.grows}/events`).onmessage = refresh;
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
