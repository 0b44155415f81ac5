// The cost of a template from the day its category changes: added to the event beside the
// normaliser, which is pure. Messaging owns the rate card.
import type { UpstreamEvent } from '@bmg/common/messages';
import { ownCall, type Client } from '@bmg/common/rpc';
import type { Logger, SpanContext } from '@bmg/common/telemetry';
import { dayOf } from '@bmg/common/time';
import type { CategoryChange, CategoryPrices, RatesDefinition } from '@bmg/proto/messaging';
import type { NormalisedEvent } from './normalise';

const CATEGORY_UPDATED: UpstreamEvent = 'template.category_updated';
/** Events do not wait longer for prices: their partition waits with them. */
const ASK_LIMIT_MS = 1_000;
const CHANGES_PER_CALL = 100;
const UNREAD = 'the prices could not be read';

type Rates = Pick<Client<RatesDefinition>, 'compareCategories'>;

export type CategoryCosts = ReturnType<typeof createCategoryCosts>;

export function createCategoryCosts(rates: Rates | undefined, log: Logger) {
  const ask = async (
    changes: readonly CategoryChange[],
    span: SpanContext,
  ): Promise<CategoryPrices[]> => {
    const call = ownCall(span, ASK_LIMIT_MS);
    const answers: CategoryPrices[] = [];
    try {
      while (rates && answers.length < changes.length) {
        const next = changes.slice(answers.length, answers.length + CHANGES_PER_CALL);
        const { prices } = await rates.compareCategories({ changes: next }, call);
        if (prices.length !== next.length) break;
        answers.push(...prices);
      }
    } catch (error) {
      log.warn({ err: error }, 'failed to read the prices of categories');
    }
    return answers;
  };
  return {
    /** Sets `cost` of every changed category, in place. Never throws. */
    async add(events: readonly NormalisedEvent[], span: SpanContext): Promise<void> {
      const changed = events.filter(({ event }) => event === CATEGORY_UPDATED);
      if (changed.length === 0) return;
      const changes = new Map(changed.map(changeOf).map((change) => [keyOf(change), change]));
      const answers = await ask([...changes.values()], span);
      const found = new Map([...changes.keys()].map((key, index) => [key, answers[index]]));
      for (const event of changed) {
        const change = changeOf(event);
        event.data['cost'] = costOf(change, found.get(keyOf(change)));
      }
    },
  };
}

/** An announced change is priced for the day on which it takes effect. */
function changeOf({ timestamp, data }: NormalisedEvent): CategoryChange {
  const { previous_category, new_category, effective_at } = data as {
    previous_category: string | null;
    new_category: string;
    effective_at?: number | null;
  };
  const day = dayOf(new Date((effective_at ?? timestamp) * 1_000));
  return { previous_category: previous_category ?? undefined, new_category, day };
}

const keyOf = ({ previous_category = '', new_category, day }: CategoryChange): string =>
  `${previous_category}/${new_category}/${day}`;

const costOf = ({ day }: CategoryChange, answer: CategoryPrices | undefined) => ({
  from: day,
  currency: answer?.currency ?? null,
  unit_prices: answer?.currency
    ? answer.markets.map(({ market, previous = null, ...rest }) => ({
        market,
        previous,
        new: rest.new,
      }))
    : null,
  reason: answer ? (answer.reason ?? null) : UNREAD,
});
