// The payment processor Stripe: charges registrations, takes webhooks, and polls for bills that are
// due. Several replicas may run it; one at a time holds a bill.
import { createPoller, type Poller } from '@bmg/common/lifecycle';
import { implement } from '@bmg/common/rpc';
import { PaymentsDefinition } from '@bmg/proto/billing';
import type { PaymentEvents } from '../store/payment-events';
import { cover } from './cover';
import { createPaymentHandlers } from './handlers';
import { whileHeld, newHold } from './hold';
import type { PaymentProcessor } from '../processor';
import { nextMonth, review, type ReviewDependencies } from './review';
import { createStripeApi, type StripeOptions, type StripeSettings } from './api';

export type StripeDependencies = Omit<ReviewDependencies, 'api'> & { paymentEvents: PaymentEvents };

const POLL_EVERY_MS = 15_000;
/** Bills reviewed in parallel: at the turn of the month, all are due at the same time. */
const PARALLEL = 4;
/** Bills per run; if more are due, the next run follows at once. */
const RUN_MAX = 25;
const PAGE = 500;

export function createStripePayments(
  settings: StripeSettings,
  given: StripeDependencies,
  options: StripeOptions = {},
): PaymentProcessor {
  const deps = { ...given, api: createStripeApi(settings, given.now, options) };
  const poller = createBillPoller(deps);
  const requestReview = async (partner_id: string): Promise<void> => {
    await deps.accounts.bringForward(partner_id, deps.now());
    poller.wake();
  };
  return {
    name: 'stripe',
    cover: (purchase, call) => cover(deps, purchase, call),
    review: requestReview,
    rpcs: [
      implement(
        PaymentsDefinition,
        createPaymentHandlers({ ...deps, requestReview }, settings.public_url),
      ),
    ],
    workers: [poller],
  };
}

function createBillPoller(deps: ReviewDependencies): Poller {
  let adopted = false;
  return createPoller(
    'bills',
    POLL_EVERY_MS,
    async (signal) => {
      if (!adopted) await adoptPartners(deps);
      adopted = true;
      const more = await Promise.all(
        Array.from({ length: PARALLEL }, () => reviewDue(deps, signal)),
      );
      return more.some(Boolean);
    },
    deps.log,
  );
}

/** One run. Returns true when more may be due. */
export async function reviewDue(deps: ReviewDependencies, signal?: AbortSignal): Promise<boolean> {
  const { accounts, now, log } = deps;
  for (let done = 0; done < RUN_MAX && !signal?.aborted; done += 1) {
    const at = now();
    const hold = newHold(at);
    const account = await accounts.claimDue(at, hold);
    if (!account) return false;
    const partner_id = account._id;
    await whileHeld(deps, partner_id, hold, async () => {
      const next = await review(deps, account);
      await accounts.postpone(partner_id, hold.until, next);
    }).catch((error: unknown) => {
      // The bill is due again when its hold expires; other bills do not wait for it.
      log.error({ err: error, partner_id }, 'failed to review bill');
    });
  }
  return true;
}

/** Partners with accounts from before Stripe: their first bill is the next month's. */
async function adoptPartners({ accounts, partners, now }: ReviewDependencies): Promise<void> {
  let after: string | undefined;
  do {
    const page = await partners.withWabas(PAGE, after);
    for (const { _id } of page) await accounts.ensure(_id, nextMonth(now()), now());
    after = page.length === PAGE ? page.at(-1)?._id : undefined;
  } while (after !== undefined);
}
