// The bytes of a page of events. The service is given the bound, and the same is reserved for the
// answer: the replies that a partner has in flight never take more than its share.
const KIB = 1024;

/**
 * Bytes of a page's content: by its limit, between a minimum that fits a large event and the
 * maximum of a reply.
 */
const CONTENT_BYTES = { of_item: 2 * KIB, min: 384 * KIB, max: 2 * KIB * KIB };
/** The bytes of an answer beside the content of an event. */
const ITEM_BYTES = 512;
/** The bytes of a page beside its events. */
const FRAME_BYTES = KIB;
/** The schemas of lists fill in their defaults, none of which is larger. */
const LIMIT_DEFAULT = 100;

/** The content bytes of a page with at most this many events. */
export const contentBytes = (limit = LIMIT_DEFAULT): number =>
  Math.min(CONTENT_BYTES.max, Math.max(CONTENT_BYTES.min, limit * CONTENT_BYTES.of_item));

/** The answer with such a page. */
export const pageBytes = (limit = LIMIT_DEFAULT): number =>
  contentBytes(limit) + limit * ITEM_BYTES + FRAME_BYTES;

/** How many bytes of content fit an answer of this size. */
export const contentBytesWithin = (answer_bytes: number, limit: number): number =>
  answer_bytes - limit * ITEM_BYTES - FRAME_BYTES;
