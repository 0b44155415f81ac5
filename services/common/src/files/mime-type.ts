// Parses a content type given by a partner. It goes into headers, so it must match the grammar of
// RFC 9110: above all it must not hold a line break, which would start another header.

export interface MimeType {
  /** `type/subtype` in lower case, the key of lookup tables. */
  essence: string;
  /** The essence with its parameters, if any (`audio/ogg; codecs=opus`). */
  full: string;
}

const LENGTH_MAX = 255;
const TOKEN = "[A-Za-z0-9!#$%&'*+.^_`|~-]+";
const PARAMETERS = `(?:[ \\t]*;[ \\t]*${TOKEN}=(?:${TOKEN}|"[ !#-\\[\\]-~]*"))*`;
const ESSENCE = new RegExp(`^(${TOKEN}/${TOKEN})(${PARAMETERS})$`);

/** A pattern of JSON Schema: one of the types in lower case, with any parameters. */
export const mimeTypePattern = (types: readonly string[]): string =>
  `^(?:${types.join('|').replaceAll('.', '\\.')})${PARAMETERS}$`;

/** Null for an invalid content type. */
export function parseMimeType(text: string): MimeType | null {
  const trimmed = text.trim();
  if (trimmed.length > LENGTH_MAX) return null;
  const match = ESSENCE.exec(trimmed);
  if (!match) return null;
  const essence = (match[1] as string).toLowerCase();
  return { essence, full: essence + (match[2] as string) };
}
