// The type of `error.details`. The OpenAPI document allows any value there, because an upstream
// error can have a string or other keys.

/**
 * The keys that the gateway sets; each is absent if it does not apply. All are absent if the
 * details are a string.
 */
export interface ErrorDetails {
  /** The field at fault. */
  field?: string;
  /** The fields that are missing. */
  fields?: string[];
  /** Further fields at fault. */
  also?: string[];
  reason?: string;
  /** Set if it is uncertain whether the work was done. */
  outcome?: 'not_sent' | 'unknown';
  limit?: number;
  [key: string]: unknown;
}
