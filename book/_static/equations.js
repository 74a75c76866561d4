/* A display equation is as wide as its column at most: where it is wider, its letters become smaller, to half at least. */
"use strict";

(() => {
  const SMALLEST = 0.5;

  function fit() {
    for (const shown of document.querySelectorAll('mjx-container[display="true"]')) {
      shown.dataset.size ??= shown.style.fontSize; // as MathJax has set it
      shown.style.fontSize = shown.dataset.size;
      const factor = shown.clientWidth / shown.querySelector("mjx-math").getBoundingClientRect().width;
      if (factor < 1) {
        const size = Number.parseFloat(getComputedStyle(shown).fontSize);
        shown.style.fontSize = `${Math.max(SMALLEST, 0.98 * factor) * size}px`;
      }
    }
  }

  window.addEventListener("load", () => {
    if (window.MathJax?.startup?.promise) {
      MathJax.startup.promise.then(fit);
      window.addEventListener("resize", fit);
    }
  });
})();
