/* The list of chapters at the left begins at its top on every page; this shows the chapter that one is in. */
"use strict";

window.addEventListener("load", () => {
  const bar = document.querySelector(".bd-sidebar-primary");
  const own = bar?.querySelector("li.active > a");
  if (!own) return;
  const below = own.getBoundingClientRect().bottom - bar.getBoundingClientRect().bottom;
  if (below > 0) bar.scrollTop += below + bar.clientHeight / 2;
});
