// Causes that stop a broadcast early, on the whole mesh: no further message is sent, the remaining
// contacts count as failed with the reason, and the broadcast reports why it stopped.
import type { SeededNumber } from '../harness/shared-mesh';
import { eventually } from '../testkit/eventually';
import { arrivalsOf, createBroadcast, detailOf, people, untilCompleted } from './broadcast-support';
import { newAccount, offboard } from './endpoint-stage';
import { useDatabases, useMesh, usePartner } from './use-mesh';

/** 30 s of work at 20 messages a second: every cause takes effect long before the end. */
const CONTACTS = 600;
const STOP_LIMIT_MS = 90_000;
const TEMPLATE = 'autumn_sale';

const mesh = useMesh();
const partner = usePartner(mesh, []);
const db = useDatabases(mesh);

/** Sets the billing state that an unpaid invoice leads to. */
async function failBilling({ waba_id }: SeededNumber): Promise<void> {
  const { matchedCount } = await db('onboarding')
    .collection('clients')
    .updateMany(
      { partner_id: partner.partner_id, waba_id },
      { $set: { billing: 'billing_failed' } },
    );
  expect(matchedCount).toBe(1);
}

const CAUSES: Array<[string, (number: SeededNumber) => Promise<unknown>, string]> = [
  [
    'the client is deleted',
    ({ waba_id }) => partner.call('DELETE', `/clients/${waba_id}`),
    'WABA_NOT_REGISTERED',
  ],
  ['the number is offboarded', (number) => offboard(mesh, number), 'NO_ACTIVE_WABA'],
  ['an invoice is unpaid', failBilling, 'PAYMENT_FAILED'],
  [
    'the token is revoked',
    ({ access_token }) => mesh.emulator.token({ token: access_token, invalid: true }),
    '190',
  ],
  [
    'the template is paused',
    ({ waba_id }) => mesh.emulator.template({ waba_id, name: TEMPLATE, status: 'PAUSED' }),
    '132015',
  ],
];

test.each(CAUSES)('a broadcast stops when %s', async (_what, cause, code) => {
  const number = await newAccount(mesh, { is_on_biz_app: true });
  await mesh.emulator.template({ waba_id: number.waba_id, name: TEMPLATE });
  expect((await partner.register(number)).status).toBe(201);
  const id = await createBroadcast(partner, number, people(CONTACTS), { template_name: TEMPLATE });
  await eventually(async () => (await detailOf(partner, id)).sent >= 5);
  await cause(number);
  const detail = await untilCompleted(partner, id, STOP_LIMIT_MS);
  expect(detail.sent + detail.failed).toBe(CONTACTS);
  expect(detail.sent).toBeGreaterThanOrEqual(5);
  expect(detail.sent).toBeLessThan(CONTACTS);
  expect(detail.failures).toEqual([expect.objectContaining({ code, count: detail.failed })]);
  expect(detail.error_log).toMatch(/^stopped: /);
  expect(detail.error_log).toContain(code);
  // The counters match what was sent, and no further message follows.
  const { recipients } = await arrivalsOf(mesh.emulator, number);
  expect(recipients).toHaveLength(detail.sent);
  expect(new Set(recipients).size).toBe(recipients.length);
});
