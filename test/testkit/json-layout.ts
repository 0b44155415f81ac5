// Lays out JSON for review: a list or object that fits stays on one line, a longer one shares each
// line between as many of its short values as fit, and a list of one item adds no indentation.

const COLUMNS = 100;

type Print = (value: unknown) => string;

/** `print` writes a single value: JSON.stringify, or that of a library with numbers of its own. */
export const layOutJson = (value: unknown, print: Print = JSON.stringify): string =>
  `${layOut(value, '', 0, print)}\n`;

/** `indent` is that of the line on which the value begins, after `before` more characters. */
function layOut(value: unknown, indent: string, before: number, print: Print): string {
  if (Array.isArray(value) && value.length === 1) {
    return `[${layOut(value[0], indent, before + 1, print)}]`;
  }
  const inner = `${indent}  `;
  let parts: string[];
  if (Array.isArray(value)) {
    parts = value.map((item) => layOut(item, inner, 0, print));
  } else if (isPlainObject(value)) {
    parts = Object.entries(value)
      .filter(([, of]) => of !== undefined)
      .map(([name, of]) => {
        const key = `${JSON.stringify(name)}: `;
        return key + layOut(of, inner, key.length, print);
      });
  } else {
    return print(value);
  }
  const [open, space, close] = Array.isArray(value) ? ['[', '', ']'] : ['{', ' ', '}'];
  if (parts.length === 0) return open + close;
  const line = open + space + parts.join(', ') + space + close;
  // One column is for the comma after it.
  if (!line.includes('\n') && indent.length + before + line.length < COLUMNS) return line;
  const lines = fill(parts, COLUMNS - inner.length).map((text) => inner + text);
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`;
}

/** Joins neighbours that fit in a line of `width` with the comma after them. */
function fill(parts: string[], width: number): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const joined = `${lines.at(-1)}, ${part}`;
    const fits = lines.length > 0 && !joined.includes('\n') && joined.length < width;
    if (fits) lines[lines.length - 1] = joined;
    else lines.push(part);
  }
  return lines;
}

const isPlainObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
