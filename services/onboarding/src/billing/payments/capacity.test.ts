import type { ChargeStatus, SlotCharge } from './store/slot-charges';
import { chooseWaiting, missingSlots, paidSlots, waitingBilling, wantedCharges } from './capacity';

const MONTH = '2026-09';
const charge = (
  slot: number,
  status: ChargeStatus,
  { month = MONTH, covers = status === 'paid' ? month : null }: Partial<SlotCharge> = {},
): SlotCharge => ({
  _id: `ptn/${month}/${slot}`,
  partner_id: 'ptn',
  month,
  slot,
  cents: 1_000,
  status,
  covers,
  invoice_id: `in_${slot}`,
  payment_url: `https://pay.test/${month}/${slot}`,
  generation: 0,
  attempts: 1,
  attempt_open: false,
  attempt_month: month,
  payment_method: 'pm_1',
  failure: null,
  created_at: new Date(0),
  updated_at: new Date(0),
  paid_at: null,
});
const accounts = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `w${index + 1}`);

describe('the waiting accounts', () => {
  it.each([
    ['are none while everything is paid', 6, [], 2, 0, []],
    ['are the newest ones if a slot is not paid', 5, [], 1, 0, ['w4', 'w5']],
    ['are all if nothing is paid', 2, [], 0, 0, ['w1', 'w2']],
    ['are none while the slot’s payment has no outcome', 5, [], 1, 1, []],
    ['are none once the invoice is paid', 5, ['w4', 'w5'], 2, 0, []],
    ['are the newest ones if the payment does not cover all', 8, accounts(8), 2, 0, ['w7', 'w8']],
    ['stay the same if nothing has changed', 4, ['w2'], 1, 0, ['w2']],
    [
      'stay the same while the payment has no outcome: no account resumes on credit',
      4,
      ['w4'],
      1,
      1,
      ['w4'],
    ],
  ] as const)('%s', (_name, count, waiting, paid, undecided, expected) => {
    const partner = { wabas: accounts(count), waiting_wabas: [...waiting] };
    const chosen = chooseWaiting(partner, { paid, undecided });
    expect(chosen).toEqual(expected);
    const again = { ...partner, waiting_wabas: chosen };
    expect(chooseWaiting(again, { paid, undecided })).toEqual(expected);
  });
});

describe('the slots of a month', () => {
  it('are charged once', () => {
    expect(missingSlots([], MONTH, 2)).toEqual([1, 2]);
    expect(missingSlots([charge(1, 'paid'), charge(2, 'declined')], MONTH, 2)).toEqual([]);
    expect(missingSlots([charge(1, 'paid')], MONTH, 3)).toEqual([2, 3]);
  });

  it('are not charged if an older invoice was paid in the month', () => {
    const late = charge(2, 'paid', { month: '2026-08', covers: MONTH });
    expect(missingSlots([late], MONTH, 1)).toEqual([]);
    expect(paidSlots([late, charge(1, 'paid')], MONTH)).toBe(2);
    expect(paidSlots([late], '2026-08')).toBe(0);
  });

  it('are not charged again if one was voided', () => {
    expect(missingSlots([charge(1, 'void')], MONTH, 1)).toEqual([]);
  });
});

describe('the billing state of a waiting account', () => {
  const partner = { wabas: accounts(8), waiting_wabas: ['w4', 'w5', 'w6', 'w7', 'w8'] };
  const charges = [charge(1, 'paid'), charge(2, 'declined'), charge(3, 'action_required')];

  it('is that of the invoice of its slot', () => {
    const told = waitingBilling(partner, charges, MONTH);
    expect(told.get('w4')).toEqual({
      billing: 'billing_failed',
      payment_url: 'https://pay.test/2026-09/2',
    });
    expect(told.get('w8')).toEqual({
      billing: 'payment_action_required',
      payment_url: 'https://pay.test/2026-09/3',
    });
    expect(told.has('w1')).toBe(false);
  });

  it('follows from invoices that accounts wait for only', () => {
    const one = { wabas: accounts(4), waiting_wabas: ['w4'] };
    expect(wantedCharges(one, charges, MONTH).map(({ slot }) => slot)).toEqual([2]);
    expect(wantedCharges({ wabas: accounts(3) }, charges, MONTH)).toEqual([]);
  });
});
