// JSON text inside an answer. Text that a service stored as JSON is sent byte by byte: a page of
// events has megabytes, and parsing and serialising them would hold up other requests.

/** A value that is already serialised. */
export class JsonText {
  constructor(readonly text: string) {}

  /** For callers of JSON.stringify. */
  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

/** Serialises an object. Members that are JSON texts, or lists of them, are written unchanged. */
export const toJsonText = (fields: object): JsonText => new JsonText(stringify(fields));

/**
 * Works like JSON.stringify, but writes members that are JSON texts, or lists of them, unchanged.
 */
export function stringify(fields: object): string {
  const members = Object.entries(fields) as Array<[string, unknown]>;
  if (!members.some(([, value]) => hasText(value))) return JSON.stringify(fields);
  // Concatenated, long texts are copied only once, when the answer is written.
  let text = '';
  let plain: Record<string, unknown> = {};
  const add = (members_text: string): void => {
    if (members_text !== '') text += text === '' ? members_text : `,${members_text}`;
  };
  const addPlain = (): void => {
    add(JSON.stringify(plain).slice(1, -1));
    plain = {};
  };
  for (const [name, value] of members) {
    if (!hasText(value)) {
      plain[name] = value;
      continue;
    }
    addPlain();
    add(`${JSON.stringify(name)}:${textOf(value as JsonText | JsonText[])}`);
  }
  addPlain();
  return `{${text}}`;
}

const hasText = (value: unknown): boolean =>
  value instanceof JsonText || (Array.isArray(value) && value[0] instanceof JsonText);

function textOf(value: JsonText | JsonText[]): string {
  if (value instanceof JsonText) return value.text;
  let items = '';
  for (const { text } of value) items += items === '' ? text : `,${text}`;
  return `[${items}]`;
}
