// GET /usage/ledger: entries by page or as CSV, totals, and the cost of changed categories.
import { CSV_TYPE } from '@bmg/common/csv';
import { ApiError, invalidField } from '@bmg/common/errors';
import type { Call } from '@bmg/common/rpc';
import type { Json } from '@bmg/common/upstream';
import { dayOf, dayStart } from '@bmg/common/time';
import type { FindBroadcastResponse } from '@bmg/proto/broadcasts';
import type { ExportLedgerChunk, ExportLedgerRequest, GetLedgerRequest } from '@bmg/proto/ledger';
import { findBroadcast, MESSAGES_KEPT_DAYS } from '../messages';
import type { LedgerMonth } from './store/months';
import { csvHeader, entryLine, type Entry } from './entry';
import { pricesByMonth, pricedGroups } from './costs';
import { readCursor, readPage, type Cursor } from './page';
import { DAY_MS, dayEnd, daysOf, type Period, periodFrom, readPeriod } from './months';
import {
  describeLate,
  describeRecords,
  type LedgerDependencies,
  type OpenLedger,
} from './describe';
import { totalsOf, type Totals } from './totals';

export const LEDGER_READS_MAX = 16;
/** A CSV of 100,000 entries takes some three seconds. */
export const EXPORT_BYTES_PER_S = 8 * 1024 * 1024;
const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 1_000;
/** Entries of a CSV that are in memory at once. */
const CHUNK = 500;
/** Accounts of one answer whose templates are looked up. */
const ACCOUNTS_MAX = 100;

type LedgerFilter = Pick<
  GetLedgerRequest,
  'partner_id' | 'waba_id' | 'phone_number_id' | 'from' | 'to' | 'broadcast_id'
>;

export async function getLedger(
  deps: LedgerDependencies,
  request: GetLedgerRequest,
  call: Call,
): Promise<{ fields: Json }> {
  const { partner_id, after } = request;
  return deps.ledgerReads.run(partner_id, tooMany, async () => {
    const cursor = after === undefined ? undefined : readCursor(after);
    const ledger = await openLedger(deps, request, cursor, call);
    const { period, months } = ledger;
    const limit = request.limit > 0 ? Math.min(request.limit, LIMIT_MAX) : LIMIT_DEFAULT;
    const { entries, next } = await readPage(ledger, cursor, limit);
    const fields: Json = { period, months, entries, next, limit };
    if (cursor) return { fields };
    const { totals, accounts } = await readTotals(ledger);
    const category_changes = await changesOf(ledger, totals, accounts);
    return { fields: { ...fields, totals, category_changes } };
  });
}

/** Type first, then lines, a few hundred at a time. */
export async function* exportLedger(
  deps: LedgerDependencies,
  request: ExportLedgerRequest,
  call: Call,
): AsyncGenerator<ExportLedgerChunk> {
  const { partner_id } = request;
  if (!deps.ledgerReads.take(partner_id)) throw tooMany();
  try {
    const ledger = await openLedger(deps, request, undefined, call);
    yield { mime_type: CSV_TYPE, data: Buffer.from(csvHeader) };
    for await (const entries of entriesOf(ledger)) {
      const data = Buffer.from(entries.map(entryLine).join(''));
      await deps.exportRate.turn(partner_id, data.length, call.signal);
      yield { data };
    }
  } finally {
    deps.ledgerReads.give(partner_id);
  }
}

/** The messages first, then the late entries. */
async function* entriesOf(ledger: OpenLedger): AsyncGenerator<Entry[]> {
  const { deps, scope, range } = ledger;
  for await (const records of inChunks(deps.ledgerEntries.stream(scope, range))) {
    yield describeRecords(ledger, records);
  }
  for await (const late of inChunks(deps.lateEntries.stream(scope, range))) {
    yield describeLate(ledger, late);
  }
}

const tooMany = (): ApiError =>
  new ApiError('RATE_LIMIT_EXCEEDED', 'too many ledgers are being read: try again in a moment', {
    retry_after_s: 1,
  });

async function* inChunks<T>(items: AsyncIterable<T>): AsyncGenerator<T[]> {
  let chunk: T[] = [];
  for await (const item of items) {
    chunk.push(item);
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}

function periodOf(
  request: LedgerFilter,
  cursor: Cursor | undefined,
  broadcast: FindBroadcastResponse | undefined,
  now: Date,
): Period {
  if (!cursor)
    return broadcast ? broadcastPeriod(request, broadcast, now) : readPeriod(request, now);
  const { from = cursor.from, to = cursor.to } = request;
  if (from !== cursor.from || to !== cursor.to) {
    throw invalidField('after', 'belongs to another period: send the from and to of its page');
  }
  return readPeriod({ from, to }, now);
}

/** The entries of a broadcast are counted from the records, also in closed months. */
function broadcastPeriod(
  { from, to }: LedgerFilter,
  { started_at }: FindBroadcastResponse,
  now: Date,
): Period {
  const is_given = from !== undefined || to !== undefined;
  const period = readPeriod(
    is_given || !started_at ? { from, to } : periodFrom(dayOf(started_at), now),
    now,
  );
  const kept_since = new Date(now.getTime() - MESSAGES_KEPT_DAYS * DAY_MS);
  if (dayStart(period.from) >= dayStart(dayOf(kept_since))) return period;
  throw invalidField(
    is_given ? 'from' : 'broadcast_id',
    `the entries of a broadcast are kept for ${MESSAGES_KEPT_DAYS} days: ${period.from} is before`,
  );
}

async function openLedger(
  deps: LedgerDependencies,
  request: LedgerFilter,
  cursor: Cursor | undefined,
  call: Call,
): Promise<OpenLedger> {
  const { partner_id, waba_id, phone_number_id } = request;
  const broadcast = await findBroadcast(deps, request, call);
  const period = periodOf(request, cursor, broadcast, deps.now());
  const [closed, known_since] = await Promise.all([
    deps.ledgerMonths.list(),
    deps.conversations.recordedSince(),
  ]);
  const byMonth = new Map(closed.map((month) => [month._id, month]));
  return {
    deps,
    call,
    scope: {
      partner_id,
      ...(waba_id !== undefined && { waba_id }),
      ...(phone_number_id !== undefined && { phone_number_id }),
      ...(broadcast && { request_id_prefix: broadcast.request_id_prefix }),
    },
    period,
    range: { from: dayStart(period.from), to: dayEnd(period.to) },
    months: [...new Set(daysOf(period).map((day) => day.slice(0, 7)))].map((month) =>
      describeMonth(month, byMonth.get(month)),
    ),
    // One card for all entries of the request, read once: an export has 100,000 of them.
    pricesAt: pricesByMonth(deps.rateCards, byMonth),
    known_since,
  };
}

const describeMonth = (month: string, known: LedgerMonth | undefined) => ({
  month,
  status: known?.status ?? 'open',
  closed_at: known?.closed_at?.toISOString() ?? null,
});

/** Closed months from their stored totals, open ones and broadcasts from the records. */
async function readTotals({ deps, scope, period, months, pricesAt }: OpenLedger) {
  const isStored = ({ status }: OpenLedger['months'][number]): boolean =>
    status === 'closed' && scope.request_id_prefix === undefined;
  const stored = new Set(months.filter(isStored).map(({ month }) => month));
  const days = daysOf(period);
  const closed = await deps.ledgerDays.find(
    scope,
    days.filter((day) => stored.has(day.slice(0, 7))),
  );
  const groups = closed.flatMap((day) => day.groups);
  const accounts = new Set(closed.map(({ waba_id }) => waba_id));
  for (const { month } of months.filter((one) => !isStored(one))) {
    const own = days.filter((day) => day.startsWith(month));
    const part = { from: dayStart(own[0] as string), to: dayEnd(own.at(-1) as string) };
    const open = await pricedGroups(deps, scope, part, pricesAt);
    groups.push(...open.groups);
    for (const waba_id of open.accounts) accounts.add(waba_id);
  }
  return { totals: totalsOf(groups), accounts: [...accounts].slice(0, ACCOUNTS_MAX) };
}

/** Templates whose category has changed, with its prices in the markets of the period. */
async function changesOf(
  { deps, call, pricesAt }: OpenLedger,
  { by_market }: Totals,
  accounts: readonly string[],
): Promise<Json[]> {
  const now = deps.now();
  const prices = await pricesAt(now);
  const markets = by_market.flatMap(({ market }) => market ?? []);
  const price = (market: string, category: string): string | null =>
    prices?.find(market, category, now)?.price ?? null;
  const changed = await Promise.all(
    accounts.map(async (waba_id) =>
      (await deps.categories.changed(waba_id, call)).map((template) => ({ waba_id, ...template })),
    ),
  );
  return changed.flat().map(({ waba_id, name, language, first_category, category, since }) => ({
    waba_id,
    template_name: name,
    template_language: language,
    category_asked: first_category,
    category,
    since,
    unit_prices: markets.map((market) => ({
      market,
      asked: price(market, first_category),
      now: price(market, category),
    })),
  }));
}
