// JSON text inside an answer. What a service stored as JSON is sent byte by byte: a page of events has
// megabytes, and parsing and serialising them would hold up other requests.

/** A value that is serialised already. */
export class JsonText {
  constructor(readonly text: string) {}

  /** For callers of JSON.stringify. */
  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

/** Serialises an object. Of its members, JSON texts and lists of them are written as they are. */
export const toJsonText = (fields: object): JsonText => new JsonText(stringify(fields));

/** As JSON.stringify, but writes members that are JSON texts, or lists of them, as they are. */
export function stringify(fields: object): string {
  if (!Object.values(fields).some(hasText)) return JSON.stringify(fields);
  const members = Object.entries(fields).flatMap(([name, value]: [string, unknown]) => {
    const text = textOf(value);
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`];
  });
  return `{${members.join(',')}}`;
}

const hasText = (value: unknown): boolean =>
  value instanceof JsonText || (Array.isArray(value) && value[0] instanceof JsonText);

function textOf(value: unknown): string | undefined {
  if (value instanceof JsonText) return value.text;
  if (!hasText(value)) return JSON.stringify(value);
  return `[${(value as JsonText[]).map(({ text }) => text).join(',')}]`;
}
