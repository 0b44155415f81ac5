// A content type as a partner spells it. It goes into headers, so that nothing but the grammar of
// RFC 9110 may pass: above all no line end, which would begin a header of its own.

export interface MimeType {
  /** `type/subtype` in lower case: what tables are keyed by. */
  essence: string;
  /** The essence with its parameters, if any (`audio/ogg; codecs=opus`). */
  full: string;
}

const LENGTH_MAX = 255;
const TOKEN = "[A-Za-z0-9!#$%&'*+.^_`|~-]+";
const ESSENCE = new RegExp(
  `^(${TOKEN}/${TOKEN})((?:[ \\t]*;[ \\t]*${TOKEN}=(?:${TOKEN}|"[^"\\\\\\u0000-\\u001f\\u007f-\\uffff]*"))*)$`,
);

/** Null for what is no content type. */
export function parseMimeType(text: string): MimeType | null {
  const trimmed = text.trim();
  if (trimmed.length > LENGTH_MAX) return null;
  const match = ESSENCE.exec(trimmed);
  if (!match) return null;
  const essence = (match[1] as string).toLowerCase();
  return { essence, full: essence + (match[2] as string) };
}
