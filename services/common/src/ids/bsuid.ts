// Business-scoped user ids (BSUIDs). Only the form identifies one, and it must never be taken for a
// phone number: call parseBsuid before normalisePhone.

// The recognition pattern of the contract (section BSUID), the optional prefix outside the id
// itself.
const PREFIX = '(?:whatsapp:)?';
const ID = '[A-Z]{2}\\.(?:ENT\\.)?[A-Za-z0-9]{1,128}';
const BSUID = new RegExp(`^${PREFIX}(${ID})$`);
/** The texts that parseBsuid reads, as part of a JSON Schema pattern. */
export const BSUID_PATTERN = PREFIX + ID;
/** The texts that isParentBsuid recognises, as part of a JSON Schema pattern. */
export const PARENT_BSUID_PATTERN = `${PREFIX}[A-Z]{2}\\.ENT\\.[A-Za-z0-9]{1,128}`;
const PARENT_MARK = '.ENT.';

/** The BSUID in the text, without its optional `whatsapp:` prefix, or null when it is none. */
export function parseBsuid(text: string): string | null {
  return BSUID.exec(text)?.[1] ?? null;
}

/** Whether the text is a BSUID of the parent form, `XX.ENT.<alphanumerics>`. */
export function isParentBsuid(text: string): boolean {
  return parseBsuid(text)?.includes(PARENT_MARK) ?? false;
}
