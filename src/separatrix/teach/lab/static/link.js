// The state of a page in the address: #page?v=1&m=least-squares,logistic&C=10&p=outlier&d=20:8,-2.5

/** The page of a link, and its parameters. */
export function read(hash) {
  const [page, query = ""] = hash.slice(1).split("?");
  return { page: page || "", params: new URLSearchParams(query) };
}

/** The link to a page. Values keep the characters that links may show as they are. */
export function text(page, params) {
  const entries = Object.entries({ v: 1, ...params }).filter(([, value]) => value != null);
  const query = entries.map(([key, value]) => `${encodeURIComponent(key)}=${shown(String(value))}`).join("&");
  return `#${page}?${query}`;
}

const shown = value => encodeURIComponent(value).replace(/%(2C|3A|3B)/g, decodeURIComponent);

/** The keys of a link that are not among these. */
export const others = (params, ...keys) => [...params.keys()].filter(key => key !== "v" && !keys.includes(key));

/** Returns a function that reads the value of a key. If `parse` returns null for its text, it returns the usual value and adds the key to `unknown`. */
export const reader = (params, unknown) => (key, usual, parse) => {
  const text = params.get(key), value = text === null ? null : parse(text);
  if (value === null && text !== null) unknown.push(`${key}=${text}`);
  return value ?? usual;
};

/** Parsers for `reader`: a number from `low` to `high`, or one of `words`; null for anything else. */
export const number = (low, high) => text => { const value = Number(text); return text && value >= low && value <= high ? value : null; };
export const word = words => text => (words.includes(text) ? text : null);

/** "outlier;20=8,-2.5" <-> {p: "outlier", d: "20:8,-2.5"}. Coded points have no moved rows. */
export function fromPoints(text) {
  const [p, ...moved] = text.split(";");
  return { p, d: moved.length ? moved.map(one => one.replace("=", ":")).join(";") : null };
}

export function toPoints(params, preset) {
  const moved = params.get("d");
  return [params.get("p") ?? preset, ...(moved ? moved.split(";").map(one => one.replace(":", "=")) : [])].join(";");
}

/** Models by their names, and settings that differ from the defaults: C=10 for all, C.2=10 for the second. */
export function fromModels(models) {
  const found = { m: models.map(one => one.name).join(",") };
  models.forEach((one, k) => {
    if (one.base) found[`base.${k + 1}`] = one.base;
    for (const [name, value] of Object.entries(one.settings)) found[`${name}.${k + 1}`] = value;
  });
  return found;
}

/** The models of a link, and the keys that were not understood. */
export function toModels(params, known, most, preset, others = []) {
  const names = (params.get("m") || preset).split(",").filter(Boolean), used = names.slice(0, most).filter(name => known.has(name));
  const unknown = names.filter(name => !used.includes(name)), models = used.map(name => ({ name, settings: {}, base: null }));
  for (const [key, value] of params) {
    if (["v", "m", "p", "d", ...others].includes(key)) continue;
    const [parameter, place] = key.split(".");
    const meant = place ? models.slice(place - 1, place) : models;
    let understood = false;
    for (const model of meant) {
      const info = known.get(model.name);
      const settings = info.base.length ? [...known.values()].flatMap(one => one.settings) : info.settings;
      if (parameter === "base" && info.base.includes(value)) understood = Boolean((model.base = value));
      else if (settings.some(one => one.parameter === parameter)) { model.settings[parameter] = value; understood = true; }
    }
    if (!understood) unknown.push(key);
  }
  return { models, unknown };
}
