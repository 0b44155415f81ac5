// Control requests for the journal: the requests received and the messages accepted.
import { bad, route, type ControlCall } from './control-parts';
import { showMessage, showRequest, type Ring } from './journal';
import type { JsonObject } from './types';

const SHOWN_DEFAULT = 1000;
const SHOWN_MAX = 200_000;

export const controlLogRoutes = [
  route('GET requests', {}, requests),
  route('DELETE requests', {}, clearRequests),
  route('GET messages', {}, messages),
  route('GET messages/summary', {}, ({ core }) => core.journal.summary()),
];

/** `since` is a sequence number (entries after it) or an ISO 8601 time. */
function collect<T extends { seq: number; time: number }>(
  ring: Ring<T>,
  query: URLSearchParams,
  matches: (item: T) => boolean,
): { found: T[]; rest: JsonObject } {
  const since = query.get('since') ?? '0';
  const limit = Number(query.get('limit') ?? SHOWN_DEFAULT);
  if (!Number.isInteger(limit) || limit < 1 || limit > SHOWN_MAX) {
    throw bad(`limit must be a whole number from 1 to ${SHOWN_MAX}`);
  }
  const after_seq = /^\d+$/.test(since) ? Number(since) : 0;
  const from_ms = /^\d+$/.test(since) ? 0 : Date.parse(since);
  if (Number.isNaN(from_ms)) throw bad('since must be a sequence number or an ISO 8601 time');
  const all = [...ring.walk()].filter(
    (item) => item.seq > after_seq && item.time >= from_ms && matches(item),
  );
  const found = all.slice(0, limit);
  const rest = { count: found.length, more: all.length > limit, last_seq: ring.last_seq };
  return { found, rest };
}

function requests({ core, query }: ControlCall): JsonObject {
  const method = query.get('method')?.toUpperCase() ?? null;
  const path = pathOf(query.get('path'));
  const { found, rest } = collect(
    core.journal.requests,
    query,
    (entry) => (method === null || entry.method === method) && (!path || path.test(entry.path)),
  );
  return { requests: found.map(showRequest), ...rest };
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
  const { found, rest } = collect(
    core.journal.messages,
    query,
    (message) =>
      (number_id === null || message.phone_number_id === number_id) &&
      (to === null || [message.to, message.recipient, message.wa_id].includes(to)),
  );
  return { messages: found.map(showMessage), ...rest };
}

function clearRequests({ core }: ControlCall): JsonObject {
  core.journal.requests.clear();
  return { ok: true };
}
