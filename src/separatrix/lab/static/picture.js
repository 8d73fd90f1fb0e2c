// The picture as a file. Colours and type are written into the copy, since a file has no style sheet.
const COPIED = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity", "fill-opacity", "font-family", "font-size", "font-style", "font-weight", "text-anchor", "paint-order"];

/** A copy of the stage's SVG that looks the same anywhere. */
export function standalone(stage) {
  const { svg, canvas, width, height } = stage, copy = svg.cloneNode(true);
  const originals = svg.querySelectorAll("*"), copies = copy.querySelectorAll("*");
  originals.forEach((one, k) => {
    const style = getComputedStyle(one);
    for (const name of COPIED) copies[k].setAttribute(name, style.getPropertyValue(name));
    copies[k].removeAttribute("class");
  });
  const make = (name, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    return made;
  };
  const paper = getComputedStyle(document.body).backgroundColor, first = [make("rect", { width, height, fill: paper })];
  if (canvas?.width) first.push(make("image", { width, height, href: canvas.toDataURL() }));
  copy.prepend(...first);
  for (const name of ["class", "id", "tabindex", "role", "aria-roledescription"]) copy.removeAttribute(name);
  for (const [key, value] of Object.entries({ xmlns: "http://www.w3.org/2000/svg", width, height })) copy.setAttribute(key, value);
  return new XMLSerializer().serializeToString(copy);
}

/** Save the stage as an SVG or PNG file. */
export async function save(stage, kind, name) {
  const drawing = new Blob([standalone(stage)], { type: "image/svg+xml" });
  download(kind === "svg" ? drawing : await painted(drawing, stage), `${name}.${kind}`);
}

async function painted(drawing, { width, height }) {
  const image = new Image(), address = URL.createObjectURL(drawing), canvas = document.createElement("canvas");
  image.src = address;
  await image.decode();
  [canvas.width, canvas.height] = [2 * width, 2 * height];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(address);
  return new Promise(resolve => canvas.toBlob(resolve, "image/png"));
}

function download(blob, name) {
  const anchor = document.createElement("a");
  anchor.href = URL.createObjectURL(blob);
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 1000);
}
