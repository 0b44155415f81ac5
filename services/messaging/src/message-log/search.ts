// The events of a message of which only the id is known. Event ids follow from the number and the
// message, so the ids under all of the partner's numbers are looked up: no index of messages is
// kept.
import { ApiError, missingFields } from '@bmg/common/errors';
import { eventIdsOfMessage } from '@bmg/common/messages';
import type { Pool } from '@bmg/common/overload';
import type { Call, Client } from '@bmg/common/rpc';
import type { DirectoryDefinition } from '@bmg/proto/onboarding';
import type { EventLogDefinition, GetEventResponse } from '@bmg/proto/webhooks';

export interface SearchDependencies {
  eventLog: Pick<Client<EventLogDefinition>, 'findEvents'>;
  directory: Pick<Client<DirectoryDefinition>, 'listNumbers'>;
  /** Numbers that are being searched. */
  searches: Pool;
}

export interface MessageQuery {
  partner_id: string;
  waba_id: string | undefined;
  message_id: string;
}

export interface FoundEvents {
  phone_number_id: string;
  events: GetEventResponse[];
}

/** Numbers in all searches of a process at a time. */
export const SEARCHED_MAX = 20_000;
/** Numbers of one lookup, which has 14 ids for each and takes at most 1,000. */
const NUMBERS_AT_ONCE = 70;
const LOOKUPS_AT_ONCE = 4;

/** Finds no events if no number of the partner, or of its account, has any of the message. */
export async function searchEvents(
  { eventLog, directory, searches }: SearchDependencies,
  { partner_id, waba_id, message_id }: MessageQuery,
  call: Call,
): Promise<FoundEvents> {
  const { phone_number_ids, has_more } = await directory.listNumbers({ partner_id, waba_id }, call);
  if (has_more) throw tooManyNumbers();
  const numbers = new Map<string, string>();
  const lookup = async (some: string[]): Promise<GetEventResponse[]> => {
    const event_ids = some.flatMap((phone_number_id) => {
      const ids = eventIdsOfMessage(partner_id, { phone_number_id, message_id });
      for (const id of ids) numbers.set(id, phone_number_id);
      return ids;
    });
    return (await eventLog.findEvents({ partner_id, event_ids }, call)).events;
  };
  const amount = phone_number_ids.length;
  const search = async () => {
    const batches = slices(phone_number_ids, NUMBERS_AT_ONCE);
    for (const some of slices(batches, LOOKUPS_AT_ONCE)) {
      const found = (await Promise.all(some.map(lookup))).flat();
      const numberOf = ({ event }: GetEventResponse) => numbers.get(event?.event_id ?? '');
      const [phone_number_id] = found.flatMap((one) => numberOf(one) ?? []);
      if (phone_number_id === undefined) continue;
      const events = found.filter((one) => numberOf(one) === phone_number_id);
      return { phone_number_id, events };
    }
    return { phone_number_id: '', events: [] };
  };
  return searches.run(partner_id, tooManySearches, search, amount);
}

function slices<T>(items: T[], size: number): T[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_none, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

const tooManyNumbers = (): ApiError =>
  missingFields(
    ['phone_number_id'],
    'you have too many numbers to search: add the query parameter phone_number_id or the header x-waba-id',
  );

const tooManySearches = (): ApiError =>
  new ApiError(
    'RATE_LIMIT_EXCEEDED',
    'too many timelines are being searched: add the query parameter phone_number_id, or try again in a moment',
    { retry_after_s: 1 },
  );
