// Slot charges: one row per partner, month and slot, stored before the processor is asked for anything. A
// row is worth one invoice, and an invoice can be paid once: that, not luck, is why money moves once.
import type { Collection, Db, IndexDescription } from 'mongodb';
import { isDuplicateKey } from '@bmg/common/mongo';
import { defineMachine } from '@bmg/common/state';

export type ChargeStatus = 'intended' | 'declined' | 'action_required' | 'paid' | 'void';
export type ChargeEvent = 'pay' | 'decline' | 'ask' | 'void';

const UNPAID: ChargeStatus[] = ['intended', 'declined', 'action_required'];

/** Paid and void are final: whatever arrives late changes nothing any more. */
export const chargeMachine = defineMachine<ChargeStatus, ChargeEvent>({
  pay: { from: UNPAID, to: 'paid' },
  decline: { from: UNPAID, to: 'declined' },
  ask: { from: UNPAID, to: 'action_required' },
  void: { from: UNPAID, to: 'void' },
});

export interface SlotCharge {
  _id: string;
  partner_id: string;
  /** UTC month in which the slot was asked for. */
  month: string;
  slot: number;
  cents: number;
  status: ChargeStatus;
  /** The month that the payment counts for: the one in which it was paid, never one before `month`. */
  covers: string | null;
  /** Recorded before it is finalised: no other invoice is ever paid for this row. */
  invoice_id: string | null;
  payment_url: string | null;
  /** Counts the answers that the processor would only repeat (a 500 under an idempotency key). */
  generation: number;
  /** Payments tried; the last one is open while its outcome is not known. */
  attempts: number;
  attempt_open: boolean;
  /** The month that the last one was to pay for. */
  attempt_month: string | null;
  payment_method: string | null;
  /** The processor's word for the refusal, for support. */
  failure: string | null;
  created_at: Date;
  updated_at: Date;
  paid_at: Date | null;
}

export type ChargeFacts = Partial<
  Pick<SlotCharge, 'covers' | 'payment_url' | 'failure' | 'paid_at'>
>;

export interface SlotCharges {
  /** Stores the intent; the row that is there already where there is one. */
  intend(partner_id: string, month: string, slot: number, given: NewCharge): Promise<SlotCharge>;
  /** By id: what a webhook names is not scoped. */
  find(_id: string): Promise<SlotCharge | null>;
  /** Rows that matter in a month, in order: asked for in it, covering it, or unpaid since before. */
  relevant(partner_id: string, month: string): Promise<SlotCharge[]>;
  /** The newest first, of `since` (YYYY-MM) or later. */
  recent(partner_id: string, since: string): Promise<SlotCharge[]>;
  /** False when another invoice has been recorded before. */
  recordInvoice(_id: string, invoice_id: string): Promise<boolean>;
  /** For an invoice that is void or deleted at the processor, and was never paid. */
  forgetInvoice(_id: string, invoice_id: string): Promise<void>;
  nextGeneration(_id: string, generation: number): Promise<void>;
  /** The try as it is stored, before it is made: an open one is taken up again, with its own card. */
  startAttempt(charge: SlotCharge, attempt: Attempt): Promise<SlotCharge>;
  closeAttempt(_id: string, attempts: number): Promise<void>;
  /** False where the machine refuses: the row has come to its end. */
  move(_id: string, event: ChargeEvent, facts: ChargeFacts, at: Date): Promise<boolean>;
}

export interface Attempt {
  payment_method: string;
  month: string;
}

export interface NewCharge {
  cents: number;
  at: Date;
}

export const SLOT_CHARGES = 'slot_charges';
export const slotChargeIndexes: IndexDescription[] = [{ key: { partner_id: 1, month: 1 } }];

/** A partner with more slots a month than this is billed by contract, not here. */
const ROWS_MAX = 2_000;

export const chargeId = (partner_id: string, month: string, slot: number): string =>
  `${partner_id}/${month}/${slot}`;

export const isUnpaid = ({ status }: Pick<SlotCharge, 'status'>): boolean =>
  UNPAID.includes(status);

/** Months before later ones, within a month by number. */
const inOrder = (a: SlotCharge, b: SlotCharge): number =>
  a.month === b.month ? a.slot - b.slot : a.month < b.month ? -1 : 1;

export function createSlotCharges(db: Db): SlotCharges {
  const charges: Collection<SlotCharge> = db.collection(SLOT_CHARGES);
  return {
    async intend(partner_id, month, slot, { cents, at }) {
      const _id = chargeId(partner_id, month, slot);
      const fresh: SlotCharge = {
        _id,
        partner_id,
        month,
        slot,
        cents,
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
        created_at: at,
        updated_at: at,
        paid_at: null,
      };
      try {
        await charges.insertOne(fresh);
        return fresh;
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        return (await charges.findOne({ _id })) as SlotCharge;
      }
    },
    find: (_id) => charges.findOne({ _id }),
    async relevant(partner_id, month) {
      const rows = await charges
        .find({ partner_id, $or: [{ month }, { covers: month }, { status: { $in: UNPAID } }] })
        .limit(ROWS_MAX)
        .toArray();
      return rows.sort(inOrder);
    },
    async recent(partner_id, since) {
      const rows = await charges
        .find({ partner_id, month: { $gte: since } })
        .limit(ROWS_MAX)
        .toArray();
      return rows.sort((a, b) => inOrder(b, a));
    },
    async recordInvoice(_id, invoice_id) {
      const { matchedCount } = await charges.updateOne(
        { _id, invoice_id: null, status: { $in: UNPAID } },
        { $set: { invoice_id } },
      );
      return matchedCount === 1;
    },
    async forgetInvoice(_id, invoice_id) {
      await charges.updateOne(
        { _id, invoice_id, status: { $in: UNPAID } },
        { $set: { invoice_id: null, payment_url: null }, $inc: { generation: 1 } },
      );
    },
    async nextGeneration(_id, generation) {
      await charges.updateOne({ _id, generation }, { $inc: { generation: 1 } });
    },
    async startAttempt(charge, { payment_method, month: attempt_month }) {
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
      // Somebody else has started one: it is the same try.
      return (await charges.findOne({ _id: charge._id })) as SlotCharge;
    },
    async closeAttempt(_id, attempts) {
      await charges.updateOne({ _id, attempts }, { $set: { attempt_open: false } });
    },
    async move(_id, event, facts, at) {
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
