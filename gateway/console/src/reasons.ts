// The meaning of the upstream's codes of failed messages. The build fills in the texts of
// gateway/src/openapi/upstream-guide.json.
declare const UPSTREAM_MEANINGS: Readonly<Record<string, string>>;

export const reasonOf = (code: string): string | undefined => UPSTREAM_MEANINGS[code];
