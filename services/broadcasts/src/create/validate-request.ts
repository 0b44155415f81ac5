// Validates a request to create a broadcast, apart from its template. No I/O.
import { invalidField, missingFields } from '@bmg/common/errors';
import type { ContactFaults } from '@bmg/common/messages';
import type { CreateBroadcastRequest } from '@bmg/proto/broadcasts';
import { readContacts, type ReadContacts } from './contacts';
import { createFiller, type Filler } from '../template/params';

export type ValidRequest = ReadContacts & { filler: Filler };

/** The components are filled in for every contact. */
const COMPONENTS_BYTES_MAX = 64 * 1024;

/** Reports all missing fields first (Contract 3.3), then the first field that is wrong. */
export async function validateRequest(
  request: Omit<CreateBroadcastRequest, 'target'>,
  now: Date,
  faults?: ContactFaults,
): Promise<ValidRequest> {
  const missing: string[] = (['name', 'template_name', 'template_language'] as const).filter(
    (field) => request[field].trim() === '',
  );
  if (request.contacts.length === 0) missing.push('contacts');
  if (missing.length > 0) throw missingFields(missing);
  validateTime(request.scheduled_at, now);
  if (Buffer.byteLength(JSON.stringify(request.template_components)) > COMPONENTS_BYTES_MAX) {
    throw invalidField('template_components', `is larger than ${COMPONENTS_BYTES_MAX} bytes`);
  }
  const filler = createFiller(request.template_components);
  const read = await readContacts(request.contacts, filler, faults);
  // All of them were blank.
  if (read.contacts.length === 0) throw missingFields(['contacts']);
  return { ...read, filler };
}

function validateTime(scheduled_at: Date | undefined, now: Date): void {
  if (scheduled_at === undefined) return;
  if (Number.isNaN(scheduled_at.getTime())) throw invalidField('scheduled_at', 'is not a date');
  if (scheduled_at <= now) throw invalidField('scheduled_at', 'lies in the past');
}
