// Formulas are in the page as TeX; KaTeX, beside this file, draws them when the page is there.
document.addEventListener("DOMContentLoaded", () => {
  for (const place of document.querySelectorAll(".math-tex"))
    katex.render(place.textContent, place, { displayMode: place.classList.contains("display"), throwOnError: false });
});
