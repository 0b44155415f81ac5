// Writes plain data as YAML: maps, lists, text and numbers, which is all that rules need. Text is quoted as
// JSON quotes it, or stands as a block where it has several lines.
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

/** An item begins on the line of its dash. */
function inline(item: Data, indent: string): string {
  return toYaml(item, indent).slice(indent.length);
}

function scalar(value: string | number | boolean, indent: string): string {
  if (typeof value !== 'string') return String(value);
  if (!value.includes('\n')) return /^[A-Za-z][\w.-]*$/.test(value) ? value : JSON.stringify(value);
  const lines = value.trim().split('\n');
  return `|-\n${lines.map((line) => `${indent}${STEP}${line}`).join('\n')}`;
}
