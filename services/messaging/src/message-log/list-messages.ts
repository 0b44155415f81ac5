// ListMessages: a partner's sends, newest first.
import { invalidField } from '@bmg/common/errors';
import { INVALID_CONTACT, MESSAGE_STATUSES, parseContact } from '@bmg/common/messages';
import type { Call } from '@bmg/common/rpc';
import { periodOf } from '@bmg/common/time';
import type {
  ListMessagesRequest,
  ListMessagesResponse,
  Message,
  MessageCost,
} from '@bmg/proto/messaging';
import { costsOf, type CostSources } from '../ledger';
import {
  type BroadcastSource,
  findBroadcast,
  type LookedAt,
  type MessageRecord,
  type RecordStatus,
} from '../messages';
import type { MessageFilter, Place } from './store';
import type { Needs } from '../dependencies';

type ListDependencies = CostSources & BroadcastSource & Needs<{ messageList: 'page' }>;

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 200;
const STATUSES: readonly RecordStatus[] = ['accepted', ...MESSAGE_STATUSES];

export async function listMessages(
  deps: ListDependencies,
  request: ListMessagesRequest,
  call: Call,
  looked_at: LookedAt = () => undefined,
): Promise<ListMessagesResponse> {
  const { partner_id, waba_id, limit, cursor } = request;
  const filter = filterOf(request);
  const broadcast = await findBroadcast(deps, request, call);
  filter.request_id_prefix = broadcast?.request_id_prefix;
  const page = await deps.messageList.page({ partner_id, waba_id }, filter, {
    after: cursor === undefined ? undefined : readCursor(cursor),
    limit: Math.min(limit > 0 ? limit : LIMIT_DEFAULT, LIMIT_MAX),
  });
  if (page.searched !== undefined) looked_at(page.searched);
  const costs = await costsOf(deps, page.messages);
  return {
    messages: page.messages.map((record, at) => sentMessage(record, costs[at])),
    after: page.next && writeCursor(page.next),
  };
}

function filterOf(request: ListMessagesRequest): MessageFilter {
  const { phone_number_id, message_id, kind, category } = request;
  return {
    phone_number_id,
    message_id,
    kind,
    category,
    recipient: recipientOf(request.recipient),
    status: statusOf(request.status),
    ...periodOf(request),
  };
}

/** Spells the recipient as the send stored it. */
function recipientOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const recipient = parseContact(text);
  if (!recipient) throw invalidField('recipient', INVALID_CONTACT);
  return 'phone' in recipient ? recipient.phone : recipient.bsuid;
}

function statusOf(text: string | undefined): RecordStatus | undefined {
  const status = STATUSES.find((one) => one === text);
  if (text !== undefined && status === undefined) {
    throw invalidField('status', `must be one of ${STATUSES.join(', ')}`);
  }
  return status;
}

export const sentMessage = (record: MessageRecord, cost: MessageCost | undefined): Message => ({
  ...record,
  direction: 'outbound',
  contact: record.recipient === '' ? undefined : record.recipient,
  at: record.sent_at,
  broadcast: record.send?.broadcast ?? false,
  cost,
  error_code: record.status === 'failed' ? record.statuses?.failed?.error_code : undefined,
  trace_id: record.statuses?.failed?.trace_id ?? record.send?.trace_id,
});

const writeCursor = ({ sent_at, _id }: Place): string =>
  Buffer.from(`${sent_at.getTime()}:${_id}`).toString('base64url');

function readCursor(cursor: string): Place {
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  const [, at, _id] = /^(\d{1,15}):(.+)$/s.exec(text) ?? [];
  if (at === undefined || _id === undefined) {
    throw invalidField('cursor', 'must be a cursor from paging.cursors.after of this endpoint');
  }
  return { sent_at: new Date(Number(at)), _id };
}
