/* An equation is as wide as its column at most: where it is wider, its letters become smaller, to half at least. */
"use strict";

(() => {
  const SMALLEST = 0.5;

  function room(shown) {
    if (shown.hasAttribute("display")) return shown.clientWidth;
    let block = shown.parentElement;
    while (getComputedStyle(block).display.startsWith("inline")) block = block.parentElement;
    const { paddingLeft, paddingRight } = getComputedStyle(block);
    return block.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight);
  }

  function fit() {
    for (const shown of document.querySelectorAll("article mjx-container")) {
      shown.dataset.size ??= shown.style.fontSize; // as MathJax has set it
      shown.style.fontSize = shown.dataset.size;
      const factor = room(shown) / shown.querySelector("mjx-math").getBoundingClientRect().width;
      if (factor < 1) {
        const percent = Number.parseFloat(shown.dataset.size); // of the letters around it, on paper as well
        shown.style.fontSize = `${Math.max(SMALLEST, 0.98 * factor) * percent}%`;
      }
    }
  }

  function join() {
    for (const shown of document.querySelectorAll("span.math")) {
      const next = shown.nextSibling;
      const ends = next?.nodeType === Node.TEXT_NODE && next.data.match(/^[.,;:!?)]+/);
      if (!ends) continue; // a browser would break the line before a lone full stop
      shown.append(ends[0]);
      next.deleteData(0, ends[0].length);
    }
  }

  window.addEventListener("load", () => {
    if (window.MathJax?.startup?.promise) {
      MathJax.startup.promise.then(join).then(fit);
      window.addEventListener("resize", fit);
    }
  });
})();
