// Limits of a body, unless its row sets others.
export const BODY_LIMIT_BYTES = 1024 * 1024;
/** Values in a body, at any depth. Parsing and validating more would hold up other requests. */
export const BODY_NODES_MAX = 10_000;
