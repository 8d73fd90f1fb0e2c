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
  const names = (params.get("m") || preset).split(",").filter(Boolean).slice(0, most);
  const unknown = names.filter(name => !known.has(name));
  const models = names.filter(name => known.has(name)).map(name => ({ name, settings: {}, base: null }));
  for (const [key, value] of params) {
    if (["v", "m", "p", "d", ...others].includes(key)) continue;
    const [parameter, place] = key.split(".");
    const meant = place ? models.slice(place - 1, place) : models;
    let used = false;
    for (const model of meant) {
      const info = known.get(model.name);
      const settings = info.base.length ? [...known.values()].flatMap(one => one.settings) : info.settings;
      if (parameter === "base" && info.base.includes(value)) used = Boolean((model.base = value));
      else if (settings.some(one => one.parameter === parameter)) { model.settings[parameter] = value; used = true; }
    }
    if (!used) unknown.push(key);
  }
  return { models, unknown };
}
