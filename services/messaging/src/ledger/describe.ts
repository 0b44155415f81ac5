// Describes message records and late statuses as entries: looks up what they name, many at once.
import type { ByteRate, Pool } from '@bmg/common/overload';
import type { Call } from '@bmg/common/rpc';
import { groupBy } from '@bmg/common/collections';
import type { BroadcastSource, MessageRecord } from '../messages';
import { type Conversation, KEPT_DAYS, windowOf } from '../contacts';
import type { LedgerScope, Range } from './store/entries';
import type { LateEntry } from './store/late';
import { nameOf, type CategoryLookup } from './category-lookup';
import { entryOf, lateEntryOf, type Entry } from './entry';
import type { Prices } from './costs';
import { DAY_MS, type Period } from './months';
import { type Billing, billingOf, type OpenState } from '../pricing';
import type { Dependencies, Needs } from '../dependencies';

export interface LedgerDependencies
  extends
    BroadcastSource,
    Needs<{
      ledgerEntries: 'page' | 'stream' | 'groups';
      lateEntries: 'page' | 'stream';
      ledgerDays: 'find';
      ledgerMonths: 'list';
      rateCards: 'prices' | 'pricesOf';
      conversations: 'find' | 'recordedSince';
    }>,
    Pick<Dependencies, 'now'> {
  categories: CategoryLookup;
  /** Reads in progress: each may count a month of messages. */
  ledgerReads: Pool;
  /** A partner's CSVs share it. */
  exportRate: ByteRate;
}

/** One request, with the data that is read once for all its entries. */
export interface OpenLedger {
  deps: LedgerDependencies;
  call: Call;
  scope: LedgerScope;
  period: Period;
  range: Range;
  months: Array<{ month: string; status: string; closed_at: string | null }>;
  pricesAt: Prices;
  known_since: Date;
}

export async function describeRecords(
  ledger: OpenLedger,
  records: MessageRecord[],
): Promise<Entry[]> {
  const describe = await describer(ledger, records);
  return Promise.all(
    records.map(async (record) =>
      entryOf(record, { ...describe(record), prices: await ledger.pricesAt(record.sent_at) }),
    ),
  );
}

export async function describeLate(ledger: OpenLedger, late: LateEntry[]): Promise<Entry[]> {
  const describe = await describer(ledger, late);
  return late.map((one) => lateEntryOf(one, { ...describe(one), prices: undefined }));
}

type Described = Pick<
  MessageRecord,
  'waba_id' | 'phone_number_id' | 'recipient' | 'template' | 'pricing' | 'sent_at'
>;

/** Looks up templates and conversations of all these entries at once. */
async function describer(
  { deps, call, known_since }: OpenLedger,
  entries: readonly Described[],
): Promise<(entry: Described) => Omit<Parameters<typeof entryOf>[1], 'prices'>> {
  const numbers = groupBy(entries, (one) => `${one.waba_id}/${one.phone_number_id}`);
  const conversations = await readEach(numbers, (all, { waba_id, phone_number_id }) =>
    deps.conversations.find({ waba_id, phone_number_id }, [
      ...new Set(all.map(({ recipient }) => recipient)),
    ]),
  );
  const accounts = groupBy(entries, ({ waba_id }) => waba_id);
  const categories = await readEach(accounts, (all, { waba_id }) => {
    const names = new Set(all.flatMap(({ template }) => template?.name ?? []));
    return deps.categories.find(waba_id, [...names], call);
  });
  const now = deps.now();
  return ({ waba_id, phone_number_id, recipient, template, pricing, sent_at }) => {
    const conversation = conversations.get(`${waba_id}/${phone_number_id}`)?.get(recipient);
    const category = pricing?.category;
    return {
      template: template && categories.get(waba_id)?.get(nameOf(template)),
      ...(category && {
        preflight: preflightOf({ category, sent_at }, conversation, known_since, now),
      }),
    };
  };
}

const readEach = async <V>(
  groups: ReadonlyMap<string, Described[]>,
  read: (all: Described[], first: Described) => Promise<V>,
): Promise<Map<string, V>> =>
  new Map(
    await Promise.all(
      [...groups].map(async ([key, all]) => [key, await read(all, all[0] as Described)] as const),
    ),
  );

/** Contacts are kept this long after the last event: later, a missing one proves nothing. */
const KEPT_MS = KEPT_DAYS * DAY_MS;

/**
 * The price that the pre-flight predicted for a send: the same rules, applied to the facts that are
 * still known of the conversation at the time of the send. Pure.
 */
function preflightOf(
  { category, sent_at }: { category: string; sent_at: Date },
  conversation: Conversation | undefined,
  known_since: Date,
  now: Date,
): Billing {
  const forgotten = !conversation && now.getTime() - sent_at.getTime() > KEPT_MS;
  const { state, entry_point } = windowOf(conversation, known_since, sent_at);
  const at = (open: OpenState, event: Date | undefined): OpenState =>
    // Events after the send hide the state before it.
    forgotten || (event !== undefined && event > sent_at) ? 'unknown' : open;
  return billingOf({
    category,
    at: sent_at,
    window: at(state, conversation?.inbound_at),
    entry_point: at(entry_point.state, conversation?.entry_at),
  });
}
