// Writes maps, lists, strings and numbers as YAML, which is all that rules need. Strings are quoted
// as in JSON; strings of several lines become blocks.
export type Data = string | number | boolean | Data[] | { [key: string]: Data };

const STEP = '  ';

export function toYaml(data: Data, indent = ''): string {
  if (Array.isArray(data)) {
    return data.map((item) => `${indent}- ${inline(item, indent + STEP)}`).join('');
  }
  if (typeof data !== 'object') return `${indent}${scalar(data, indent)}\n`;
  return Object.entries(data)
    .map(([key, value]) => {
      if (typeof value !== 'object') return `${indent}${key}: ${scalar(value, indent)}\n`;
      return `${indent}${key}:\n${toYaml(value, indent + STEP)}`;
    })
    .join('');
}

/** The item's first line follows the dash. */
function inline(item: Data, indent: string): string {
  return toYaml(item, indent).slice(indent.length);
}

function scalar(value: string | number | boolean, indent: string): string {
  if (typeof value !== 'string') return String(value);
  if (!value.includes('\n')) return /^[A-Za-z][\w.-]*$/.test(value) ? value : JSON.stringify(value);
  const lines = value.trim().split('\n');
  return `|-\n${lines.map((line) => `${indent}${STEP}${line}`).join('\n')}`;
}
