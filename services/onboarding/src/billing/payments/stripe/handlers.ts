// RPC handlers of the payment processor Stripe: its webhooks, the page for a card, and a partner's
// billing.
import { invalidField } from '@bmg/common/errors';
import type { Handlers } from '@bmg/common/rpc';
import { Invoice, type PaymentsDefinition } from '@bmg/proto/billing';
import { messageOf } from '../../../ground/message';
import { monthOf } from '../../../ground/slots';
import { partnerOf } from '../../../ground/partners';
import type { SlotCharge } from '../store/slot-charges';
import { waitingBilling } from '../capacity';
import { customerOf } from './charge';
import { handlePaymentEvent, type WebhookDependencies } from './webhooks';
import { nextMonth } from './review';
import { ProcessorAway, type Card } from './api';

const MONTHS_SHOWN = 12;

export const createPaymentHandlers = (
  deps: WebhookDependencies,
  public_url: string,
): Handlers<PaymentsDefinition> => {
  const { accounts, api, charges, partners, now } = deps;
  return {
    async handlePaymentEvent({ body, signature }) {
      await handlePaymentEvent(deps, { body: Buffer.from(body), signature });
      return {};
    },
    async createCardSession({ partner_id, return_url }) {
      await partnerOf(partners, partner_id);
      const back = returnUrl(public_url, return_url);
      const account = await accounts.ensure(partner_id, nextMonth(now()), now());
      return { url: await api.cardPage(await customerOf(deps, account), back) };
    },
    async getBilling({ partner_id }) {
      const partner = await partnerOf(partners, partner_id);
      const month = monthOf(now());
      const waiting = waitingBilling(partner, await charges.relevant(partner_id, month), month);
      const states = [...waiting.values()].map(({ billing }) => billing);
      const worst = states.includes('billing_failed') ? 'billing_failed' : states[0];
      const card = await cardOf((await accounts.find(partner_id))?.customer_id ?? null);
      return {
        processor: 'stripe',
        state: worst ?? 'active',
        card: card ?? undefined,
        card_known: card !== undefined,
        invoices: (await charges.recent(partner_id, firstShown(now()))).map(invoiceMessage),
        waiting_waba_ids: partner.waiting_wabas ?? [],
      };
    },
  };

  /** Null without a card; undefined if Stripe does not answer. */
  async function cardOf(customer_id: string | null): Promise<Card | null | undefined> {
    if (customer_id === null) return null;
    try {
      return await api.cardOf(customer_id);
    } catch (error) {
      if (error instanceof ProcessorAway) return undefined;
      throw error;
    }
  }
};

/** Only the gateway's own origin, so that Stripe's page cannot redirect people elsewhere. */
function returnUrl(public_url: string, given: string | undefined): string {
  const own = new URL(public_url);
  if (given === undefined) return new URL('/dashboard', own).href;
  const wanted = URL.canParse(given) ? new URL(given) : undefined;
  if (wanted?.origin !== own.origin) {
    throw invalidField('return_url', 'must be an address of this service');
  }
  return wanted.href;
}

const firstShown = (now: Date): string =>
  monthOf(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - MONTHS_SHOWN + 1, 1)));

const invoiceMessage = (charge: SlotCharge): Invoice =>
  messageOf(Invoice, { ...charge, amount_cents: charge.cents });
