// Control requests for the journal: the requests received and the messages accepted.
import { bad, type ControlCall, type ControlRoute } from './control-parts';
import { showMessage, showRequest } from './journal';
import type { JsonObject } from './types';

const SHOWN_DEFAULT = 1000;
const SHOWN_MAX = 200_000;

export const controlLogRoutes: readonly ControlRoute[] = [
  { method: 'GET', path: 'requests', handler: requests },
  { method: 'DELETE', path: 'requests', handler: clearRequests },
  { method: 'GET', path: 'messages', handler: messages },
  { method: 'GET', path: 'messages/summary', handler: ({ core }) => core.journal.summary() },
  { method: 'DELETE', path: 'messages', handler: clearMessages },
];

interface Span {
  after_seq: number;
  from_ms: number;
  limit: number;
}

/** `since` is a sequence number (entries after it) or an ISO 8601 time. */
function spanOf(query: URLSearchParams): Span {
  const since = query.get('since') ?? '0';
  const limit = Number(query.get('limit') ?? SHOWN_DEFAULT);
  if (!Number.isInteger(limit) || limit < 1 || limit > SHOWN_MAX) {
    throw bad(`limit must be a whole number from 1 to ${SHOWN_MAX}`);
  }
  if (/^\d+$/.test(since)) return { after_seq: Number(since), from_ms: 0, limit };
  const from_ms = Date.parse(since);
  if (Number.isNaN(from_ms)) throw bad('since must be a sequence number or an ISO 8601 time');
  return { after_seq: 0, from_ms, limit };
}

function collect<T extends { seq: number; time: number }>(
  items: Iterable<T>,
  span: Span,
  matches: (item: T) => boolean,
): { found: T[]; more: boolean } {
  const found: T[] = [];
  for (const item of items) {
    if (item.seq <= span.after_seq || item.time < span.from_ms || !matches(item)) continue;
    if (found.length === span.limit) return { found, more: true };
    found.push(item);
  }
  return { found, more: false };
}

function requests({ core, query }: ControlCall): JsonObject {
  const method = query.get('method')?.toUpperCase() ?? null;
  const path = pathOf(query.get('path'));
  const { found, more } = collect(
    core.journal.requests.walk(),
    spanOf(query),
    (entry) => (method === null || entry.method === method) && (!path || path.test(entry.path)),
  );
  return {
    requests: found.map(showRequest),
    count: found.length,
    more,
    last_seq: core.journal.requests.last_seq,
  };
}

function pathOf(text: string | null): RegExp | null {
  if (!text) return null;
  try {
    return new RegExp(text);
  } catch {
    throw bad('path is not a regular expression');
  }
}

function messages({ core, query }: ControlCall): JsonObject {
  const number_id = query.get('phone_number_id');
  const to = query.get('to');
  const { found, more } = collect(
    core.journal.messages.walk(),
    spanOf(query),
    (message) =>
      (number_id === null || message.phone_number_id === number_id) &&
      (to === null || [message.to, message.recipient, message.wa_id].includes(to)),
  );
  return {
    messages: found.map(showMessage),
    count: found.length,
    more,
    last_seq: core.journal.messages.last_seq,
  };
}

function clearRequests({ core }: ControlCall): JsonObject {
  core.journal.requests.clear();
  return { ok: true };
}

function clearMessages({ core }: ControlCall): JsonObject {
  core.journal.clearMessages();
  return { ok: true };
}
