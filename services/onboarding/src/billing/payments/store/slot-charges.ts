// Slot charges: one row per partner, month and billing slot, stored before any request to the
// processor. A row has one invoice, and an invoice can be paid once: this is what makes money move
// exactly once.
import type { Collection, Db } from 'mongodb';
import { storeOnce, type Indexes } from '@bmg/common/mongo';
import { defineMachine } from '@bmg/common/state';

export type ChargeStatus = 'intended' | 'declined' | 'action_required' | 'paid' | 'void';
export type ChargeEvent = 'pay' | 'decline' | 'ask' | 'void';

const UNPAID: ChargeStatus[] = ['intended', 'declined', 'action_required'];

/** `paid` and `void` are final: late events change nothing. */
export const chargeMachine = defineMachine<ChargeStatus, ChargeEvent>({
  pay: { from: UNPAID, to: 'paid' },
  decline: { from: UNPAID, to: 'declined' },
  ask: { from: UNPAID, to: 'action_required' },
  void: { from: UNPAID, to: 'void' },
});

export interface SlotCharge {
  _id: string;
  partner_id: string;
  /** UTC month for which the slot was charged. */
  month: string;
  slot: number;
  cents: number;
  status: ChargeStatus;
  /** The month that the payment covers: the one in which it was made, never one before `month`. */
  covers: string | null;
  /** Recorded before the invoice is finalised: no other invoice is ever paid for this row. */
  invoice_id: string | null;
  payment_url: string | null;
  /** Part of idempotency keys: raised after an error that the processor would repeat (a 500). */
  generation: number;
  /** Payment attempts; the last one is open while its outcome is unknown. */
  attempts: number;
  attempt_open: boolean;
  /** The month that the last payment attempt is for. */
  attempt_month: string | null;
  payment_method: string | null;
  /** The processor's reason for the refusal, for support. */
  failure: string | null;
  created_at: Date;
  updated_at: Date;
  paid_at: Date | null;
}

export type ChargeFacts = Partial<
  Pick<SlotCharge, 'covers' | 'payment_url' | 'failure' | 'paid_at'>
>;

export type SlotCharges = ReturnType<typeof createSlotCharges>;

export interface PaymentAttempt {
  payment_method: string;
  month: string;
}

export interface NewCharge {
  cents: number;
  at: Date;
}

export const SLOT_CHARGES = 'slot_charges';
export const slotChargeIndexes: Indexes = {
  [SLOT_CHARGES]: [{ key: { partner_id: 1, month: 1 } }],
};

/** Bounds the reads: a partner with more slots per month is billed by contract, not here. */
const ROWS_MAX = 2_000;

const chargeId = (partner_id: string, month: string, slot: number): string =>
  `${partner_id}/${month}/${slot}`;

export const isUnpaid = ({ status }: Pick<SlotCharge, 'status'>): boolean =>
  UNPAID.includes(status);

/** Sorts by month, then by slot number. */
const inOrder = (a: SlotCharge, b: SlotCharge): number =>
  a.month === b.month ? a.slot - b.slot : a.month < b.month ? -1 : 1;

const NEW = {
  status: 'intended',
  covers: null,
  invoice_id: null,
  payment_url: null,
  generation: 0,
  attempts: 0,
  attempt_open: false,
  attempt_month: null,
  payment_method: null,
  failure: null,
  paid_at: null,
} as const satisfies Partial<SlotCharge>;

export function createSlotCharges(db: Db) {
  const charges: Collection<SlotCharge> = db.collection(SLOT_CHARGES);
  return {
    /** Stores a new charge, or returns the existing row. */
    async intend(partner_id: string, month: string, slot: number, { cents, at }: NewCharge) {
      const _id = chargeId(partner_id, month, slot);
      const created = {
        _id,
        partner_id,
        month,
        slot,
        cents,
        ...NEW,
        created_at: at,
        updated_at: at,
      };
      if (await storeOnce(() => charges.insertOne(created))) return created;
      return (await charges.findOne({ _id })) as SlotCharge;
    },
    /** Needs no scope: webhooks name no partner. */
    find: (_id: string) => charges.findOne({ _id }),
    /** The rows charged for a month, covering it, or unpaid from before, in order. */
    async relevant(partner_id: string, month: string) {
      const rows = await charges
        .find({ partner_id, $or: [{ month }, { covers: month }, { status: { $in: UNPAID } }] })
        .limit(ROWS_MAX)
        .toArray();
      return rows.sort(inOrder);
    },
    /** Charges for `since` (YYYY-MM) or later, the newest first. */
    async recent(partner_id: string, since: string) {
      const rows = await charges
        .find({ partner_id, month: { $gte: since } }, { limit: ROWS_MAX })
        .toArray();
      return rows.sort((a, b) => inOrder(b, a));
    },
    ...invoicesOf(charges),
    nextGeneration: (_id: string, generation: number) =>
      charges.updateOne({ _id, generation }, { $inc: { generation: 1 } }),
    /** False if the machine refuses the event: the row is final. */
    async move(_id: string, event: ChargeEvent, facts: ChargeFacts, at: Date) {
      const { matchedCount } = await charges.updateOne(
        { _id, status: { $in: [...chargeMachine.from(event)] } },
        {
          $set: {
            ...facts,
            status: chargeMachine.to(event),
            attempt_open: false,
            updated_at: at,
          },
        },
      );
      return matchedCount === 1;
    },
  };
}

/** The invoice of a charge, and the attempts to pay it. */
const invoicesOf = (charges: Collection<SlotCharge>) => ({
  /** False if another invoice was recorded first. */
  async recordInvoice(_id: string, invoice_id: string) {
    const { matchedCount } = await charges.updateOne(
      { _id, invoice_id: null, status: { $in: UNPAID } },
      { $set: { invoice_id } },
    );
    return matchedCount === 1;
  },
  /** Removes an invoice that is void or deleted at the processor: a new one is made. */
  detachInvoice: (_id: string, invoice_id: string) =>
    charges.updateOne(
      { _id, invoice_id, status: { $in: UNPAID } },
      { $set: { invoice_id: null, payment_url: null }, $inc: { generation: 1 } },
    ),
  /** Stores a payment attempt before it is made. Resumes an open attempt with its own card. */
  async startPaymentAttempt(
    charge: SlotCharge,
    { payment_method, month: attempt_month }: PaymentAttempt,
  ) {
    if (charge.attempt_open) {
      await charges.updateOne({ _id: charge._id }, { $set: { attempt_month } });
      return { ...charge, attempt_month };
    }
    const attempts = charge.attempts + 1;
    const tried = { attempts, payment_method, attempt_month, attempt_open: true };
    const { matchedCount } = await charges.updateOne(
      { _id: charge._id, attempts: charge.attempts, attempt_open: false },
      { $set: tried },
    );
    if (matchedCount === 1) return { ...charge, ...tried };
    // Another worker has started the attempt: resume it.
    return (await charges.findOne({ _id: charge._id })) as SlotCharge;
  },
  closePaymentAttempt: (_id: string, attempts: number) =>
    charges.updateOne({ _id, attempts }, { $set: { attempt_open: false } }),
});
