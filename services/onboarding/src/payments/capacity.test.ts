import type { ChargeStatus, SlotCharge } from '../store/slot-charges';
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

describe('who waits', () => {
  it.each([
    ['nobody, while everything is paid', 6, [], 2, 0, []],
    ['the ones that came last, where a slot is not paid', 5, [], 1, 0, ['w4', 'w5']],
    ['everybody, where nothing is paid', 2, [], 0, 0, ['w1', 'w2']],
    ['nobody, while the answer for the slot is not known', 5, [], 1, 1, []],
    ['nobody any more, once the invoice is paid', 5, ['w4', 'w5'], 2, 0, []],
    [
      'the ones that came last, where the payment is not enough for all',
      8,
      accounts(8),
      2,
      0,
      ['w7', 'w8'],
    ],
    ['the same ones, where nothing has changed', 4, ['w2'], 1, 0, ['w2']],
    [
      'the same ones, where the answer is not known: nobody becomes active on credit',
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
  it('are asked for once', () => {
    expect(missingSlots([], MONTH, 2)).toEqual([1, 2]);
    expect(missingSlots([charge(1, 'paid'), charge(2, 'declined')], MONTH, 2)).toEqual([]);
    expect(missingSlots([charge(1, 'paid')], MONTH, 3)).toEqual([2, 3]);
  });

  it('are not asked for where an older invoice was paid in the month', () => {
    const late = charge(2, 'paid', { month: '2026-08', covers: MONTH });
    expect(missingSlots([late], MONTH, 1)).toEqual([]);
    expect(paidSlots([late, charge(1, 'paid')], MONTH)).toBe(2);
    expect(paidSlots([late], '2026-08')).toBe(0);
  });

  it('are not asked for again where one was dropped', () => {
    expect(missingSlots([charge(1, 'void')], MONTH, 1)).toEqual([]);
  });
});

describe('what a waiting account is told', () => {
  const partner = { wabas: accounts(8), waiting_wabas: ['w4', 'w5', 'w6', 'w7', 'w8'] };
  const charges = [charge(1, 'paid'), charge(2, 'declined'), charge(3, 'action_required')];

  it('is the invoice of its slot', () => {
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

  it('counts invoices only as far as accounts wait for them', () => {
    const one = { wabas: accounts(4), waiting_wabas: ['w4'] };
    expect(wantedCharges(one, charges, MONTH).map(({ slot }) => slot)).toEqual([2]);
    expect(wantedCharges({ wabas: accounts(3) }, charges, MONTH)).toEqual([]);
  });
});
