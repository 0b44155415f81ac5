/**
 * The year of a test whose clock shows dates of its own. MongoDB removes expired documents by the
 * real time, so dates of a year that has passed would let the stored documents expire.
 */
export const NEXT_YEAR = new Date().getUTCFullYear() + 1;
