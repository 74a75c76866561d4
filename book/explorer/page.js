/* What is seen: the controls that all views share, and the views by their names. Each view is made by
   T.VIEWS[name](state) and returns its element and a function that is called when something has changed. */
(function (T) {
  "use strict";

  /* An element with attributes (those that are functions listen) and children. */
  T.element = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (typeof value === "function") made.addEventListener(name, value);
      else if (value === true) made.setAttribute(name, "");
      else if (value !== false && value !== null) made.setAttribute(name, value);
    }
    made.append(...children.flat().filter((child) => child !== null));
    return made;
  };

  T.labelled = (text, control, ...more) => T.element("label", {}, T.element("span", {}, text), control, ...more);

  T.options = (pairs, change) =>
    T.element("select", { change }, pairs.map(([value, text]) => T.element("option", { value }, text)));

  /* A line for screen readers and all others, which is read out when it changes. */
  T.said = () => T.element("p", { class: "said", role: "status", "aria-live": "polite" });

  T.percent = (p) => (p > 0 && p < 0.001 ? "< 0.001" : p.toFixed(3));

  T.parameter = (about) => (about.parameter === "epsilon" ? "ε" : about.parameter);

  const PIECE = 25; // milliseconds of work at a time

  const world = () => (T.everything ??= T.world(T.data));
  const source = () => (T.everySource ??= T.source(T.data));

  /* Mechanism and value, the same for all views. */
  class State {
    constructor(name) {
      this.world = world();
      this.values = Object.fromEntries(T.data.mechanisms.map((about) => [about.name, about.value]));
      this.tokens = []; // of the sentence, the same in all views
      this.choose(name);
    }

    get source() {
      return source();
    }

    /* What a mechanism adds up over all pairs of words, in pieces, so that the page answers meanwhile. */
    ready(name, told, done) {
      const sums = T.sums(this.world, name), mine = (this.waiting = {});
      const next = () => {
        if (mine !== this.waiting) return;
        sums?.work(PIECE);
        const share = sums?.share ?? 1;
        told(share);
        if (share < 1) setTimeout(next, 0);
        else done();
      };
      next();
    }

    get about() {
      return T.data.mechanisms.find((about) => about.name === this.name);
    }

    get value() {
      return this.values[this.name];
    }

    /* The mechanism of some world: of all words, or of the three that are looked at. */
    made(of = this.world, value = this.value) {
      return T.MECHANISMS[this.name](of, value);
    }

    choose(name, value = this.values[name]) {
      this.name = name;
      this.values[name] = value;
      this.mechanism = this.made();
      this.prior = T.prior(this.mechanism);
    }
  }

  function controls(state, changed) {
    const named = T.data.mechanisms.map((about) => [about.name, about.label]);
    const shown = T.element("output");
    const letter = T.element("span");
    const slider = T.element("input", { type: "range", class: "value", input: () => move(Number(slider.value)) });
    const busy = T.element("p", { class: "busy", role: "status", hidden: true });
    const select = T.options(named, () => {
      state.ready(select.value, waits, () => {
        state.choose(select.value);
        set();
        changed();
      });
    });
    select.className = "mechanism";
    select.value = state.name;

    function set() {
      const { min, max, step } = state.about;
      Object.assign(slider, { min, max, step, value: state.value });
      show();
    }
    function waits(share) {
      slider.disabled = share < 1;
      busy.hidden = share === 1;
      busy.textContent = `Adding up all pairs of ${state.world.size.toLocaleString("en")} words, once: ${Math.round(100 * share)} %`;
    }
    function show() {
      const named = T.parameter(state.about);
      letter.textContent = named === "ε" ? "Privacy parameter ε" : "Share of words kept, q";
      shown.textContent = `${named} = ${state.value}`;
      slider.setAttribute("aria-valuetext", shown.textContent);
    }
    let waiting = null; // a slider speaks more often than there are pictures
    function move(value) {
      state.values[state.name] = value;
      show();
      waiting ??= requestAnimationFrame(() => {
        waiting = null;
        state.choose(state.name);
        changed();
      });
    }
    set();
    return T.element(
      "div",
      { class: "controls" },
      T.labelled("Mechanism", select),
      T.element("label", {}, letter, slider, shown),
      busy,
    );
  }

  /* Views under tabs, as the practices of WAI-ARIA have them: arrows go from tab to tab. */
  function tabs(views, opened) {
    const id = (name) => `explorer-${name}`;
    const buttons = views.map(({ name, title }) =>
      T.element(
        "button",
        { type: "button", role: "tab", id: id(name), "aria-controls": `${id(name)}-view`, click: () => open(name) },
        title,
      ),
    );
    const list = T.element("div", { role: "tablist", "aria-label": "Views", keydown: go }, buttons);
    const panels = views.map(({ name, view }) =>
      T.element("div", { role: "tabpanel", id: `${id(name)}-view`, "aria-labelledby": id(name), tabindex: 0 }, view.element),
    );
    function open(name) {
      views.forEach((one, i) => {
        const chosen = one.name === name;
        buttons[i].setAttribute("aria-selected", chosen);
        buttons[i].tabIndex = chosen ? 0 : -1;
        panels[i].hidden = !chosen;
      });
      opened(name);
    }
    function go(event) {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = (buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length;
      buttons[next].focus();
      open(views[next].name);
    }
    open(views[0].name);
    return [list, ...panels];
  }

  const TITLES = { sentence: "A sentence", curves: "All values", three: "Three words" };

  T.mount = (root) => {
    const { view } = root.dataset, single = view !== "whole";
    const state = new State(T.data.mechanisms[0].name);
    const names = single ? [view === "small" ? "sentence" : view] : Object.keys(TITLES);
    const made = (name) => T.VIEWS[name](state, { small: view === "small", single });
    const views = names.map((name) => ({ name, title: TITLES[name], view: made(name) }));
    let open = names[0];
    const changed = () => views.find(({ name }) => name === open).view.changed();
    const body = single
      ? [views[0].view.element]
      : tabs(views, (name) => {
          open = name;
          changed();
        });
    root.replaceChildren(controls(state, changed), ...body);
    if (single) {
      changed();
      if (root.dataset.whole) root.append(T.element("p", {}, T.element("a", { href: root.dataset.whole }, "The whole explorer")));
    }
  };

  T.start = () => document.querySelectorAll(".textsan-explorer").forEach(T.mount);
})((globalThis.textsanExplorer ??= {}));
