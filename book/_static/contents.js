/* The list of chapters at the left: of its parts the one that is read is open, on a page of none all are. It stands where it
   stood on the page before; this brings the page that is read into view. */
"use strict";

window.addEventListener("DOMContentLoaded", () => {
  const captions = [...document.querySelectorAll(".bd-sidebar-primary p.caption")];
  const read = captions.find((caption) => caption.nextElementSibling.matches(".current"));
  captions.forEach((caption, number) => {
    const list = caption.nextElementSibling;
    const button = document.createElement("button");
    list.id = `part-${number}`;
    button.className = "part";
    button.append(...caption.childNodes);
    button.setAttribute("aria-controls", list.id);
    const open = (is) => {
      list.hidden = !is;
      button.setAttribute("aria-expanded", is);
    };
    button.addEventListener("click", () => open(list.hidden));
    open(!read || caption === read);
    caption.append(button);
  });
});

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
