// Columns of similar values, written by src/separatrix/lab/compact.py, which describes their forms.

/** The n values of a column, in a grid of rows of `width`. */
export function values(column, n, width) {
  if ("c" in column) return Array(n).fill(column.c);
  if (column.v) return column.i.map(k => column.v[k]);
  if (column.n) {
    const sums = column.n.slice(), unit = 10 ** column.e;
    for (let i = 0; i < n; i++) if (i % width) sums[i] += sums[i - 1];
    for (let i = width; i < n; i++) sums[i] += sums[i - width];
    return sums.map(sum => sum / unit);
  }
  if (column.t) return values(column.t, n, width).map(parts => parts.join(""));
  if (column.s) {
    const groups = column.g.map((one, k) => {
      const size = column.s.filter(shape => shape === k).length;
      return values(one, size, size).values();
    });
    return column.s.map(shape => groups[shape].next().value);
  }
  const keys = Object.keys(column.o ?? column.l), parts = keys.map(key => values((column.o ?? column.l)[key], n, width));
  return Array.from({ length: n }, (_, i) => {
    const one = column.o ? {} : [];
    keys.forEach((key, k) => { one[key] = parts[k][i]; });
    return one;
  });
}
