// What can be moved. With a server everything can; in a recording one point, over the places that were recorded.
let row = null, grid = null;

/** Allow only the point `only` to be moved (−1: none), over the places [values of x₁, values of x₂], if given. */
export function limit(only, places) { [row, grid] = [only, places]; }

export const limited = () => row !== null;
export const movable = i => row === null || i === row;
export const nearest = (values, value) => values.reduce((best, one, k) => (Math.abs(one - value) < Math.abs(values[best] - value) ? k : best), 0);

/** The nearest place that a point can have. */
export const snapped = place => (grid ? place.map((v, j) => grid[j][nearest(grid[j], v)]) : place);

/** The place that is `by` away in the direction of an arrow key, or the next one that was recorded. */
export function stepped(place, arrow, by) {
  if (!grid) return place.map((v, j) => v + by * arrow[j]);
  return place.map((v, j) => grid[j][Math.min(Math.max(nearest(grid[j], v) + arrow[j], 0), grid[j].length - 1)]);
}

/** The next of n rows that can be moved, or the same one. */
export function nextRow(now, by, n) {
  const rows = Array.from({ length: n }, (_, k) => (now + by * (k + 1) + n * n) % n);
  return rows.find(movable) ?? now;
}
