/* The list of chapters at the left stands where it stood on the page before; this brings the page that is read into view. */
"use strict";

window.addEventListener("load", () => {
  const bar = document.querySelector(".bd-sidebar-primary");
  const own = bar?.querySelector("li.active > a");
  if (!own) {
    bar?.scrollTo(0, 0);
    return;
  }
  const [link, list] = [own, bar].map((one) => one.getBoundingClientRect());
  if (link.bottom > list.bottom || link.top < list.top) {
    bar.scrollTop += (link.top + link.bottom - list.top - list.bottom) / 2;
  }
});
