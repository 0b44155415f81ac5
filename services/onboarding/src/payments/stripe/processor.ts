// The processor `stripe`, put together: what registrations ask, what webhooks bring, and the worker that
// looks at bills that are due. Several replicas may run it: a bill is taken by one at a time.
import { createPoller, type Poller } from '@bmg/common/lifecycle';
import type { Versions } from '@bmg/common/directory';
import type { Logger } from '@bmg/common/telemetry';
import type { BillingAccounts } from '../../store/billing-accounts';
import type { Clients } from '../../store/clients';
import type { Partners } from '../../store/partners';
import type { PaymentEvents } from '../../store/payment-events';
import type { SlotCharges } from '../../store/slot-charges';
import { cover } from './cover';
import type { EventDependencies } from './webhooks';
import { paymentHandlers } from './handlers';
import { keeping, newHold } from './hold';
import type { PaymentProcessor } from '../processor';
import { nextMonth, review, type ReviewDependencies } from './review';
import { createStripeApi, type StripeOptions, type StripeSettings } from './api';

export interface StripeDependencies {
  accounts: BillingAccounts;
  charges: SlotCharges;
  events: PaymentEvents;
  partners: Partners;
  clients: Clients;
  versions: Pick<Versions, 'bump'>;
  now: () => Date;
  log: Logger;
}

const LOOK_EVERY_MS = 15_000;
/** At the turn of the month every bill is due at once. */
const AT_ONCE = 4;
/** In one turn; more are taken in the next one, at once. */
const TURN_MAX = 25;
const PAGE = 500;

export function createStripePayments(
  settings: StripeSettings,
  given: StripeDependencies,
  options: StripeOptions = {},
): PaymentProcessor {
  const deps = { ...given, api: createStripeApi(settings, given.now, options) };
  const worker = createBillWorker(deps);
  const look = async (partner_id: string): Promise<void> => {
    await deps.accounts.touch(partner_id, deps.now());
    worker.wake();
  };
  const withEvents: EventDependencies = { ...deps, look };
  return {
    name: 'stripe',
    cover: (purchase, call) => cover(deps, purchase, call),
    review: look,
    rpc: paymentHandlers(withEvents, settings.public_url),
    components: [worker],
  };
}

function createBillWorker(deps: ReviewDependencies): Poller {
  let adopted = false;
  return createPoller(
    'bills',
    LOOK_EVERY_MS,
    async (signal) => {
      if (!adopted) await adoptPartners(deps);
      adopted = true;
      const more = await Promise.all(
        Array.from({ length: AT_ONCE }, () => reviewDue(deps, signal)),
      );
      return more.some(Boolean);
    },
    deps.log,
  );
}

/** Answers true when more may be due. */
export async function reviewDue(deps: ReviewDependencies, signal?: AbortSignal): Promise<boolean> {
  const { accounts, now, log } = deps;
  for (let done = 0; done < TURN_MAX && !signal?.aborted; done += 1) {
    const at = now();
    const hold = newHold(at);
    const account = await accounts.claimDue(at, hold);
    if (!account) return false;
    const partner_id = account._id;
    await keeping(deps, partner_id, hold, async () => {
      const next = await review(deps, account);
      await accounts.postpone(partner_id, hold.until, next);
    }).catch((error: unknown) => {
      // It is due again when its hold would have ended; the others do not wait for it.
      log.error({ err: error, partner_id }, 'a bill could not be looked at');
    });
  }
  return true;
}

/** Partners whose accounts are older than the processor: their first bill is the next month's. */
async function adoptPartners({ accounts, partners, now }: ReviewDependencies): Promise<void> {
  let after: string | undefined;
  do {
    const page = await partners.withWabas(PAGE, after);
    for (const { _id } of page) await accounts.ensure(_id, nextMonth(now()), now());
    after = page.length === PAGE ? page.at(-1)?._id : undefined;
  } while (after !== undefined);
}
