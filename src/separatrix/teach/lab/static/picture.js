// The picture as a file. Colours and type are written into the copy, since a file has no style sheet.
import { s } from "./dom.js";

const COPIED = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity", "fill-opacity", "font-family", "font-size", "font-style", "font-weight", "text-anchor", "paint-order"];

/** A copy of an SVG, with the canvas below it if there is one, that looks the same anywhere. */
function copied({ svg, canvas }, { width, height }) {
  const copy = svg.cloneNode(true), originals = svg.querySelectorAll("*"), copies = copy.querySelectorAll("*");
  originals.forEach((one, k) => {
    const style = getComputedStyle(one);
    for (const name of COPIED) copies[k].setAttribute(name, style.getPropertyValue(name));
    copies[k].removeAttribute("class");
  });
  if (canvas?.width) copy.prepend(s("image", { width, height, href: canvas.toDataURL() }));
  for (const name of ["class", "id", "tabindex", "role", "aria-roledescription"]) copy.removeAttribute(name);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  return copy;
}

/** One SVG of several pictures, placed as on the page. */
function standalone(stages) {
  const frames = stages.map(one => one.svg.getBoundingClientRect());
  const left = Math.min(...frames.map(one => one.left)), top = Math.min(...frames.map(one => one.top));
  const width = Math.round(Math.max(...frames.map(one => one.right)) - left), height = Math.round(Math.max(...frames.map(one => one.bottom)) - top);
  const paper = s("rect", { width, height, fill: getComputedStyle(document.body).backgroundColor });
  const copies = stages.map((one, k) => s("g", { transform: `translate(${frames[k].left - left},${frames[k].top - top})` }, copied(one, frames[k])));
  return { width, height, text: new XMLSerializer().serializeToString(s("svg", { width, height, viewBox: `0 0 ${width} ${height}` }, paper, ...copies)) };
}

/** Save pictures, each with its `svg`, as an SVG or PNG file. */
export async function save(stages, kind, name) {
  const picture = standalone(stages), drawing = new Blob([picture.text], { type: "image/svg+xml" });
  download(kind === "svg" ? drawing : await painted(drawing, picture), `${name}.${kind}`);
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
