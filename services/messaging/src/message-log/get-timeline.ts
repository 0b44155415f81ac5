// GetTimeline: what happened to one message, from its record here, the event log and, for a message
// of a broadcast, its contact. Nothing is written for it: the ids of its events follow from its
// own.
import { ApiError } from '@bmg/common/errors';
import { eventIdsOfMessage } from '@bmg/common/messages';
import type { Call, Client } from '@bmg/common/rpc';
import { traceIds } from '@bmg/common/telemetry';
import type { BroadcastsDefinition } from '@bmg/proto/broadcasts';
import type { GetTimelineRequest, GetTimelineResponse } from '@bmg/proto/messaging';
import type { GetEventResponse } from '@bmg/proto/webhooks';
import { costsOf, type CostSources } from '../ledger';
import { entriesOf, latestOf, participantsOf } from './entries';
import { sentMessage } from './list-messages';
import { receivedMessage } from './received-message';
import {
  searchEvents,
  type MessageQuery,
  type FoundEvents,
  type SearchDependencies,
} from './search';
import { type MessageRecord, REBUILT } from '../messages';
import type { Needs, Dependencies } from '../dependencies';

export interface TimelineDependencies
  extends
    Omit<SearchDependencies, 'eventLog'>,
    CostSources,
    Needs<{ messageList: 'find' }>,
    Pick<Dependencies, 'log'> {
  eventLog?: SearchDependencies['eventLog'] | undefined;
  broadcasts?: Pick<Client<BroadcastsDefinition>, 'findContact'> | undefined;
}

/** The gateway reserves the bytes of this many. */
const ENTRIES_MAX = 1_000;
/** Refusals of a search: the caller has to narrow it down, or wait. */
const REFUSALS: ReadonlySet<string> = new Set(['MISSING_FIELDS', 'RATE_LIMIT_EXCEEDED']);

export async function getTimeline(
  deps: TimelineDependencies,
  { partner_id, waba_id, phone_number_id, message_id }: GetTimelineRequest,
  call: Call,
): Promise<GetTimelineResponse> {
  const scope = { partner_id, waba_id, phone_number_id };
  const record = await deps.messageList.find(scope, message_id);
  const missing: string[] = [];
  /** A part that cannot be read does not hide the others. */
  const part = async <T>(name: string, read: Promise<T> | undefined): Promise<T | undefined> => {
    try {
      if (read) return await read;
    } catch (error) {
      if (error instanceof ApiError && REFUSALS.has(error.code)) throw error;
      deps.log.warn({ err: error, ...traceIds(call.span) }, `failed to read ${name} of a timeline`);
    }
    missing.push(name);
    return undefined;
  };
  const number = record?.phone_number_id ?? phone_number_id;
  const [found, contact] = await Promise.all([
    part('events', eventsOf(deps, { ...scope, phone_number_id: number, message_id, record }, call)),
    record && mayBeOfBroadcast(record)
      ? part(
          'broadcast',
          deps.broadcasts?.findContact({ partner_id, request_id: record._id }, call),
        )
      : undefined,
  ]);
  const events = (found?.events ?? []).filter(({ event }) => isWanted(event, waba_id));
  const message = record
    ? sentMessage(record, (await costsOf(deps, [record]))[0])
    : found && receivedMessage(events, found);
  if (!message) throw missing.length > 0 ? unreadable() : noSuchMessage();
  const broadcast = contact?.contact;
  const { entries, left_out } = latestOf(entriesOf(record, events), ENTRIES_MAX);
  if (left_out) missing.push('attempts');
  return {
    message,
    entries,
    broadcast: broadcast && {
      broadcast_id: broadcast.broadcast_id,
      name: broadcast.name,
      contact_state: broadcast.state,
    },
    missing,
  };
}

interface NumberQuery extends MessageQuery {
  phone_number_id: string | undefined;
  record: MessageRecord | null;
}

/** The events on the number if it is known, else on whichever of the partner's numbers has any. */
function eventsOf(
  { eventLog, ...deps }: TimelineDependencies,
  { phone_number_id, record, ...query }: NumberQuery,
  call: Call,
): Promise<FoundEvents> | undefined {
  if (!eventLog) return undefined;
  if (phone_number_id === undefined) return searchEvents({ ...deps, eventLog }, query, call);
  const { partner_id, message_id } = query;
  const participants = record ? participantsOf(record) : [];
  const message = { phone_number_id, message_id };
  const event_ids = eventIdsOfMessage(partner_id, message, participants);
  return eventLog
    .findEvents({ partner_id, event_ids }, call)
    .then(({ events }) => ({ phone_number_id, events }));
}

const isWanted = (event: GetEventResponse['event'], waba_id: string | undefined): boolean =>
  waba_id === undefined || event?.waba_id === waba_id;

/** For a record made from a status the sender is not known. */
const mayBeOfBroadcast = ({ send, kind }: MessageRecord): boolean =>
  send?.broadcast === true || kind === REBUILT;

/** An unknown message and another partner's get the same error. */
const noSuchMessage = (): ApiError =>
  new ApiError('NOT_FOUND', 'you neither sent nor received a message with this message_id');

const unreadable = (): ApiError =>
  new ApiError('SERVICE_UNAVAILABLE', 'the event log cannot be read now', { retryable: true });
