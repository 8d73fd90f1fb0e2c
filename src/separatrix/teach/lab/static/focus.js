// Pages build controls again after a choice. The control that had the focus then hands it to the one in its place.
const CONTROLS = "a[href], button, select, input, summary, [tabindex='0']";
const name = one => one.getAttribute("aria-label") ?? (one.closest("label") ?? one).textContent;

/** Keep the focus inside an element when its focused control is replaced, removed or disabled. */
export function keepFocus(root) {
  let held = null, at = 0;
  const controls = () => [...root.querySelectorAll(CONTROLS)].filter(one => !one.disabled && one.checkVisibility());
  root.addEventListener("focusin", event => { held = event.target; at = controls().indexOf(held); });
  root.addEventListener("focusout", event => { if (event.relatedTarget) held = null; });
  new MutationObserver(() => {
    if (!held || (held.isConnected && !held.disabled)) return;
    const [lost, all] = [held, controls()], free = [document.body, lost].includes(document.activeElement);
    held = null;
    if (!free || !all.length) return;
    const alike = all.filter(one => one.tagName === lost.tagName && name(one) === name(lost));
    const near = alike.sort((a, b) => Math.abs(all.indexOf(a) - at) - Math.abs(all.indexOf(b) - at))[0];
    (near ?? all[Math.min(at, all.length - 1)]).focus({ preventScroll: true });
  }).observe(root, { childList: true, subtree: true, attributes: true, attributeFilter: ["disabled"] });
}
