// The lists of the page Your data: findings of the check, and the comparison of all classifiers.
import { fixed, h, icon } from "./dom.js";

export const percent = (share, digits = 0) => `${fixed(100 * share, digits)} %`;

export function findings({ findings: found }) {
  const told = found.filter(one => one.severity !== "ok"), fine = found.filter(one => one.severity === "ok");
  const item = one => h("li", { class: one.severity }, icon(one.severity === "ok" ? "check" : "warn"), h("span", {}, h("b", {}, `${one.severity}: ${one.title}`), ` ${one.text}`));
  return [h("h2", {}, "Check"), h("ul", {}, told.length ? told.map(item) : h("li", { class: "ok" }, icon("check"), "Nothing to worry about was found.")),
    fine.length ? h("details", { class: "more" }, h("summary", {}, `${fine.length} checks are fine`), h("ul", {}, fine.map(item))) : ""];
}

export function comparison({ rows, refused, folds, why }, known) {
  const title = one => `${known.get(one.name)?.title ?? one.name}${one.standardised ? " *" : ""}`;
  const line = one => h("tr", { class: one.chosen ? "chosen" : null, "data-name": one.name }, h("th", { scope: "row" }, one.chosen ? "→ " : "", title(one)),
    h("td", {}, `${fixed(one.accuracy, 4)} ± ${fixed(one.error, 4)}`), h("td", { class: one.log_loss === null ? "none" : null }, fixed(one.log_loss, 4)), h("td", {}, one.met === null ? "" : `${one.met}/${folds}`));
  return [h("h2", {}, `Comparison over ${folds} folds`), h("div", { class: "scroll" }, h("table", { class: "comparison" },
    h("thead", {}, h("tr", {}, ["classifier", "accuracy", "log loss", "proven"].map(text => h("th", { scope: "col" }, text)))), h("tbody", {}, rows.map(line)))),
    h("p", { class: "small-note" }, why, rows.some(one => one.standardised) ? " * on standardised columns." : ""),
    ...refused.map(one => h("p", { class: "small-note" }, `${title(one)}: ${one.reason}`))];
}
