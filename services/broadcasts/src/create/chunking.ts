// Splits the contacts of a broadcast into chunks. A chunk is what one worker claims and reads into memory
// at a time, so its size does not grow with the broadcast.
import type { Contact } from '../ground/contact';

const CONTACTS_MAX = 500;
const BYTES_MAX = 256 * 1024;
/** The recipient and the JSON around it. */
const OVERHEAD_BYTES = 32;

export function chunksOf(contacts: readonly Contact[]): Contact[][] {
  const chunks: Contact[][] = [];
  let chunk: Contact[] = [];
  let bytes = 0;
  for (const contact of contacts) {
    const size =
      OVERHEAD_BYTES + (contact.params ? Buffer.byteLength(JSON.stringify(contact.params)) : 0);
    if (chunk.length > 0 && (chunk.length >= CONTACTS_MAX || bytes + size > BYTES_MAX)) {
      chunks.push(chunk);
      chunk = [];
      bytes = 0;
    }
    chunk.push(contact);
    bytes += size;
  }
  if (chunk.length > 0) chunks.push(chunk);
  return chunks;
}
