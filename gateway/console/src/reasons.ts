// The meaning of the upstream's codes of failed messages. The build fills in the texts of
// gateway/src/error-guide/upstream-guide.json.
declare const UPSTREAM_ADVICE: Readonly<Record<string, Advice>>;

export interface Advice {
  meaning: string;
  action: string;
  /** `request`, `recipient` or `upstream`. */
  cause: string;
}

export const adviceOf = (code: string): Advice | undefined => UPSTREAM_ADVICE[code];
export const reasonOf = (code: string): string | undefined => adviceOf(code)?.meaning;
