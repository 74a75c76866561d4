/* All values of the slider at once: what the best guess of a word is worth, and, where there is a sentence, what is
   read of it. */
(function (T) {
  "use strict";

  T.VIEWS ??= {};

  const PLACES = 17; // values of the slider
  const DRAWS = 10; // of the sentence at each of them
  const WIDTH = 640, HEIGHT = 320, LEFT = 56, RIGHT = 14, TOP = 14, BOTTOM = 58;
  const LINES = {
    posterior: ["best guess of a word, V(X | Y)", ""],
    blind: ["blind guess, V(X)", "2 4"],
    alone: ["your sentence: guessed from each word", "6 3"],
    together: ["your sentence: guessed from the sentence", ""],
    named: ["your sentence: named among its rivals", "8 3 2 3"],
  };

  const BY_WORD = { posterior: true, blind: true }; // what needs no sentence

  const svg = (tag, attributes, ...children) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };

  /* The success of all attacks on a sentence at one value, over draws that are the same every time. */
  class Success {
    constructor(state, tokens) {
      Object.assign(this, { state, tokens, uniform: T.seededUniform(1), draws: 0 });
      this.sums = { attacked: 0, alone: 0, together: 0, named: 0 };
    }

    draw() {
      const hits = T.hits(T.read(this.state, this.tokens, this.uniform));
      for (const name of Object.keys(this.sums)) this.sums[name] += hits[name];
      this.draws += 1;
    }

    get shares() {
      const { attacked, alone, together, named } = this.sums;
      const share = (hits) => (attacked ? hits / attacked : 0);
      return { alone: share(alone), together: share(together), named: named / this.draws };
    }
  }

  T.VIEWS.curves = (state, { single }) => {
    const drawn = Object.fromEntries(Object.entries(LINES).filter(([name]) => !single || name in BY_WORD));
    const exact = new Map(); // of a mechanism's values, which no sentence changes
    let points = [], made = "", work = 0;

    const chart = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", class: "chart" });
    const key = T.element("ul", { class: "legend" });
    const summary = T.said();
    const table = T.element("div", { class: "numbers" });

    /* One draw after another, so that the page answers meanwhile. */
    function compute() {
      const mine = ++work, { name, about } = state, tokens = state.tokens;
      const values = Array.from({ length: PLACES }, (_, i) => about.min + ((about.max - about.min) * i) / (PLACES - 1));
      points = [];
      let success = null;
      const next = () => {
        if (mine !== work) return;
        const value = values[points.length];
        if (!single) (success ??= new Success(asIf(name, value), tokens)).draw();
        if (single || success.draws === DRAWS) {
          points.push({ value, ...at(name, value), ...success?.shares });
          success = null;
          show();
        }
        if (points.length < values.length) setTimeout(next, 0);
      };
      setTimeout(next, 0);
    }

    function asIf(name, value) {
      const mechanism = T.MECHANISMS[name](state.world, value);
      return { world: state.world, source: state.source, mechanism, prior: T.prior(mechanism) };
    }

    function at(name, value) {
      const known = `${name} ${value}`;
      if (!exact.has(known)) {
        const { mechanism, prior } = asIf(name, value);
        exact.set(known, T.vulnerability(mechanism, prior));
      }
      return exact.get(known);
    }

    function show() {
      const { min, max } = state.about, letter = T.parameter(state.about);
      const x = (value) => LEFT + ((value - min) / (max - min)) * (WIDTH - LEFT - RIGHT);
      const y = (p) => HEIGHT - BOTTOM - p * (HEIGHT - TOP - BOTTOM);
      const text = (more, said) => svg("text", more, said);
      const axes = [0, 0.25, 0.5, 0.75, 1].flatMap((p) => [
        svg("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(p), y2: y(p), class: "grid" }),
        text({ x: LEFT - 6, y: y(p) + 5, "text-anchor": "end" }, String(p)),
      ]);
      const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) => {
        const value = min + share * (max - min);
        return text({ x: x(value), y: HEIGHT - BOTTOM + 24, "text-anchor": "middle" }, String(value));
      });
      const name = text({ x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 6, "text-anchor": "middle" }, letter);
      const lines = Object.entries(drawn).map(([key, [, dashes]]) =>
        svg("polyline", {
          points: points.map((point) => `${x(point.value)},${y(point[key])}`).join(" "),
          class: `line ${key}`,
          "stroke-dasharray": dashes,
        }),
      );
      const mark = svg("line", { x1: x(state.value), x2: x(state.value), y1: y(0), y2: y(1), class: "mark" });
      chart.replaceChildren(...axes, ...ticks, name, mark, ...lines);
      const off = (point) => Math.abs(point.value - state.value);
      const near = points.reduce((best, one) => (off(one) < off(best) ? one : best));
      chart.setAttribute("aria-label", `Success of the attacks on ${state.about.label} over ${letter}; the table below has the numbers.`);
      if (points.length < PLACES) summary.textContent = "Computing …";
      else {
        summary.textContent =
          `Near ${letter} = ${near.value}: best guess of a word ${T.percent(near.posterior)}, blind ${T.percent(near.blind)}` +
          (single
            ? "."
            : `; of your sentence ${T.percent(near.alone)} is guessed from each word, ${T.percent(near.together)} from the ` +
              `sentence, and it is named in ${T.percent(near.named)} of ${DRAWS} draws.`);
        table.replaceChildren(numbers(letter));
      }
    }

    function numbers(letter) {
      const heads = [letter, ...Object.values(drawn).map(([said]) => said)];
      return T.element(
        "details",
        {},
        T.element("summary", {}, "The numbers"),
        T.element(
          "table",
          {},
          T.element("thead", {}, T.element("tr", {}, heads.map((head) => T.element("th", { scope: "col" }, head)))),
          T.element(
            "tbody",
            {},
            points.map((point) =>
              T.element(
                "tr",
                {},
                T.element("th", { scope: "row" }, String(point.value)),
                Object.keys(drawn).map((key) => T.element("td", {}, T.percent(point[key]))),
              ),
            ),
          ),
        ),
      );
    }

    key.append(
      ...Object.entries(drawn).map(([name, [said, dashes]]) =>
        T.element(
          "li",
          {},
          svg("svg", { viewBox: "0 0 28 8", width: 28, height: 8, "aria-hidden": "true" }, svg("line", { x1: 0, x2: 28, y1: 4, y2: 4, class: `line ${name}`, "stroke-dasharray": dashes })),
          ` ${said}`,
        ),
      ),
    );
    const explained = T.element(
      "p",
      { class: "hint" },
      "V(X | Y) is exact, for a word as frequent as in the texts that were counted." +
        (single
          ? ""
          : ` Your sentence is drawn ${DRAWS} times at each value, with noise that is the same every time; a sentence of one's own ` +
            "may be easier or harder to read than words on average."),
    );
    return {
      element: T.element("div", { class: "curves" }, chart, key, summary, table, explained),
      changed() {
        const wanted = `${state.name} ${state.tokens.join(" ")}`;
        if (wanted !== made) compute();
        made = wanted;
        if (points.length) show();
      },
    };
  };
})((globalThis.textsanExplorer ??= {}));
