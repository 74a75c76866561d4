/* Three words by themselves: prior, channel and posterior as tables whose cells move with the slider. */
(function (T) {
  "use strict";

  T.VIEWS ??= {};

  T.VIEWS.three = (state) => {
    const names = (trio) => trio.map((number) => state.world.words[number]);
    const select = T.options(T.data.trios.map((trio, i) => [i, names(trio).join(", ")]), () => show());
    select.className = "trio";
    const tables = T.element("div", { class: "tables" });
    const summary = T.said();

    const cell = (p) => T.element("td", { style: `--p: ${p}` }, T.percent(p));
    const heading = (scope, text) => T.element("th", { scope }, text);

    function table(caption, corner, columns, rows) {
      return T.element(
        "table",
        {},
        T.element("caption", {}, caption),
        T.element("thead", {}, T.element("tr", {}, [corner, ...columns].map((name) => heading("col", name)))),
        T.element("tbody", {}, rows.map(([name, values]) => T.element("tr", {}, heading("row", name), values.map(cell)))),
      );
    }

    function show() {
      const world = state.world.restrict(T.data.trios[select.value]);
      const mechanism = state.made(world);
      const prior = T.prior(mechanism);
      const inputs = world.words.map((_, x) => x);
      const outputs = [...inputs, world.size].filter((y) => inputs.some((x) => mechanism.entry(x, y) > 0));
      const released = outputs.map((y) => mechanism.name(y));
      const posteriors = outputs.map((y) => T.contextFree(mechanism, prior, y));
      const { blind, posterior } = T.vulnerability(mechanism, prior);
      tables.replaceChildren(
        table("Prior Pr(x)", "", world.words, [["before", Array.from(prior)]]),
        table("Channel Pr(y | x): a row for each word written", "written", released, inputs.map((x) => [world.words[x], outputs.map((y) => mechanism.entry(x, y))])),
        table("Posterior Pr(x | y): a row for each word released", "released", world.words, outputs.map((y, i) => [mechanism.name(y), Array.from(posteriors[i])])),
      );
      summary.textContent = `The best guess is right with ${T.percent(blind)} before and ${T.percent(posterior)} after the release.`;
    }

    return {
      element: T.element("div", { class: "three" }, T.element("div", { class: "controls" }, T.labelled("Words", select)), tables, summary),
      changed: show,
    };
  };
})((globalThis.textsanExplorer ??= {}));
