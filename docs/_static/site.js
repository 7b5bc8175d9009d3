/* For the keyboard and for screen readers: what scrolls takes the focus, and what the theme leaves has names. */
function reachable() {
  document.querySelectorAll("pre, .table-wrapper, .output, mjx-container, div.math, table").forEach((part) => {
    const scrolls = part.scrollWidth > part.clientWidth + 1 && ["auto", "scroll"].includes(getComputedStyle(part).overflowX);
    if (scrolls) part.tabIndex = 0;
    else part.removeAttribute("tabindex");
  });
}

/* A formula wider than the text is shown smaller, so that it is seen whole, down to about the size of the text. */
const SMALLEST = 0.7;
function fitted() {
  document.querySelectorAll('mjx-container[display="true"]').forEach((part) => {
    part.dataset.size ??= part.style.fontSize;
    part.style.fontSize = part.dataset.size;
    const place = Math.min(part.clientWidth, part.parentElement.clientWidth); // one of several lines has a least width
    const share = place / part.querySelector("mjx-math").getBoundingClientRect().width;
    if (share < 1) part.style.fontSize = `${parseFloat(part.dataset.size) * Math.max(share * 0.99, SMALLEST)}%`;
  });
}

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("p.caption[role=heading]").forEach((part) => part.setAttribute("aria-level", "2"));
  document.querySelectorAll("aside.sidebar-drawer").forEach((part) => part.setAttribute("aria-label", "Pages"));
  document.querySelectorAll("aside.toc-drawer").forEach((part) => part.setAttribute("aria-label", "On this page"));
  document.querySelectorAll("[role=doc-biblioentry]").forEach((part) => part.setAttribute("role", "listitem"));
  document.querySelectorAll("#search-results").forEach((part) => {
    const head = document.createElement("h1");
    head.textContent = "Search";
    part.before(head);
  });
  document.querySelectorAll(".sig > dl").forEach((part) => {
    const term = document.createElement("dt"); // Sphinx lists parameters as definitions of no term
    term.className = "unseen";
    term.textContent = "parameters";
    part.prepend(term);
  });
});
window.addEventListener("load", async () => {
  if (window.MathJax && MathJax.startup) await MathJax.startup.promise;
  await document.fonts.ready;
  fitted();
  reachable();
});
window.addEventListener("resize", () => {
  fitted();
  reachable();
});
