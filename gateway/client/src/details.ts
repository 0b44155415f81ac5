// The type of `error.details`. The OpenAPI document has any value there, because an error of the upstream can
// carry a text or keys of its own.

/** The keys that the gateway sets; each is absent if it has nothing to report. For a text, all of them are. */
export interface ErrorDetails {
  /** The field at fault. */
  field?: string;
  /** The fields that are missing. */
  fields?: string[];
  /** Further fields at fault. */
  also?: string[];
  reason?: string;
  /** Whether the work may have been done, where that is uncertain. */
  outcome?: 'not_sent' | 'unknown';
  limit?: number;
  [key: string]: unknown;
}
