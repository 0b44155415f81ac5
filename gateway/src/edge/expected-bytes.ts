// The bytes that the answer to a request may take. They are reserved before the service is called,
// so that a caller's unread answers never exceed its share. The test compares them with the largest
// answers.
import type { Endpoint, Input } from '../endpoints/endpoint';

/** Until the size of an answer is known. */
const EXPECTED_BYTES = 4 * 1024;
/** The chunks of a stream on their way from the service to the socket. */
const STREAM_BYTES = 256 * 1024;
/** An item of a list, by the kind of read. */
const ITEM_BYTES = { log: 2 * 1024, list: 512 };
const ITEMS_DEFAULT = 100;

export function expectedBytes(
  { stream, csv, reads, answer_bytes }: Endpoint,
  { query }: Pick<Input, 'query'>,
): number {
  if (answer_bytes) return answer_bytes(query);
  if (stream || csv) return STREAM_BYTES;
  return reads ? Number(query['limit'] ?? ITEMS_DEFAULT) * ITEM_BYTES[reads] : EXPECTED_BYTES;
}
