/* A phone shows the cells of a table under one another, without its head: each cell then carries its heading.
   Of the tables of results it does so with those of sentences, and with those that would not fit in smaller letters. */
"use strict";

(() => {
  const SENTENCE = 60; // letters of a cell from which on it is one
  const SHORT = 16; // letters of a cell that stays in one line where there is room
  const LONG = /\S{40}/; // a word that may break anywhere
  const SMALLEST = 0.82; // of the letters of a table on a phone
  const SPLIT = 3; // intervals in two lines that a table on a phone may have
  const phone = window.matchMedia("(max-width: 34rem)"); // as in book.css

  function carry(table) {
    const heads = [...table.querySelectorAll("thead th")].map((head) => head.textContent.trim());
    for (const row of table.querySelectorAll("tbody tr")) {
      [...row.cells].forEach((cell, number) => {
        if (heads[number]) cell.dataset.label = heads[number];
      });
    }
  }

  // Names of code may break after what joins their parts.
  function breakNames(cell) {
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode);
    for (const text of texts) {
      const parts = text.data.split(/(?<=::|[/_.])(?=\w)/); // not by a character, which who copies a name would copy, too
      text.replaceWith(...parts.flatMap((part, n) => (n ? [document.createElement("wbr"), part] : [part])));
    }
  }

  // Whether an interval stands under its estimate; then all of the table do, and rows are of one kind.
  function isBelow(interval) {
    const [inner, outer] = [interval, interval.closest("td, th")].map((one) => one.getBoundingClientRect());
    return inner.top - outer.top > inner.height;
  }

  function isSplit(interval) {
    return interval.offsetHeight > 1.5 * parseFloat(getComputedStyle(interval).lineHeight);
  }

  function fit() {
    for (const table of document.querySelectorAll("article table.results")) {
      table.classList.remove("stacked", "broken");
      table.style.removeProperty("--letters");
      const room = table.parentElement.clientWidth;
      if (!room) continue;
      table.classList.toggle("broken", !phone.matches && [...table.querySelectorAll(".interval")].some(isBelow));
      if (!phone.matches) continue;
      const factor = room / table.offsetWidth;
      const says = [...table.querySelectorAll("tbody td")].some((cell) => cell.textContent.length > SENTENCE);
      if (factor < 1 && factor >= SMALLEST) table.style.setProperty("--letters", 0.98 * factor);
      const split = [...table.querySelectorAll(".interval")].filter(isSplit).length;
      if (factor < SMALLEST || (says && table.rows[0].cells.length > 3) || table.offsetWidth > room || split > SPLIT) {
        carry(table);
        table.classList.add("stacked");
      }
    }
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("table.table").forEach(carry);
    document.querySelectorAll("div.highlight-none pre").forEach((block) => (block.tabIndex = 0)); // scrolled by keyboard
    for (const cell of document.querySelectorAll("table.results td")) {
      cell.classList.toggle("long-word", LONG.test(cell.textContent));
      cell.classList.toggle("short", cell.textContent.length <= SHORT);
    }
    for (const cell of document.querySelectorAll("table.longtable td")) breakNames(cell);
  });
  window.addEventListener("load", fit);
  window.addEventListener("resize", fit);
})();
