/* A phone shows the cells of a table under one another, without its head: each cell then carries its heading. */
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll("table.table")) {
    const heads = [...table.querySelectorAll("thead th")].map((head) => head.textContent.trim());
    for (const row of table.querySelectorAll("tbody tr")) {
      [...row.cells].forEach((cell, number) => {
        if (heads[number]) cell.dataset.label = heads[number];
      });
    }
  }
});
