// RPC handler of the usage report: calls, messages and the bill of a period (contract 15.6).
import type { Handlers } from '@bmg/common/rpc';
import type { OnboardingDefinition } from '@bmg/proto/onboarding';
import { billOf, monthOf } from '../../ground/slots';
import type { CategoryCounts } from './store/message-usage';
import { activeWabas } from '../../ground/partners';
import { COUNTED_FIELDS } from './message-counts';
import { usagePeriod } from './period';
import type { Dependencies } from '../../dependencies';

const CENTS_PER_DOLLAR = 100;
/** Thirty days, and those before them to compare with. */
const DAYS_LISTED = 60;
const DAY_MS = 86_400_000;

export const createUsageHandlers = ({ partners, endpointUsage, messageUsage, now }: Dependencies) =>
  ({
    async getUsage({ partner_id, from, to }) {
      const period = usagePeriod({ from, to }, now());
      const [partner, endpoints, messages] = await Promise.all([
        partners.find(partner_id),
        endpointUsage.sum(partner_id, period),
        messageUsage.sum(partner_id, period),
      ]);
      // Billing is by calendar month: the one in which the period ends.
      const { slots, peak_active_wabas, fee_cents } = billOf(
        partner?.months ?? {},
        monthOf(period.to),
      );
      return {
        from: period.from,
        to: period.to,
        endpoints,
        messages: countedOf(messages),
        billing: {
          slots,
          peak_active_wabas,
          active_wabas: partner ? activeWabas(partner).length : 0,
          fee_usd: fee_cents / CENTS_PER_DOLLAR,
        },
      };
    },
    async listMessageDays({ partner_id }) {
      const to = now();
      const from = new Date(to.getTime() - (DAYS_LISTED - 1) * DAY_MS);
      const found = await messageUsage.listDays(partner_id, usagePeriod({ from, to }, to));
      return {
        days: found.flatMap(({ day, categories }) =>
          countedOf(categories).map((counts) => ({ day, ...counts })),
        ),
      };
    },
  }) satisfies Partial<Handlers<OnboardingDefinition>>;

/** Sorts by the name of the category, and omits one whose messages have all moved to another. */
const countedOf = (categories: Record<string, CategoryCounts>) =>
  Object.entries(categories)
    .filter(([, counts]) => Object.values(counts).some((count) => count !== 0))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([category, counts]) => ({ category, ...filled(counts) }));

const filled = (counts: CategoryCounts) =>
  Object.fromEntries(COUNTED_FIELDS.map((field) => [field, counts[field] ?? 0])) as Required<
    typeof counts
  >;
