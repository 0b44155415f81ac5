import { createPeppers } from '@bmg/common/keys';
import { createConfirmation, idempotencyKeyOf, LIFE_MS } from './confirmation';

const NOW = Date.UTC(2026, 10, 24);
const peppers = createPeppers('a pepper of these tests');
const of = { partner_id: 'prt_1', fingerprint: 'abc' };
const { text, expires_at } = createConfirmation(peppers, of, NOW);

const use = (changed: Partial<typeof of> = {}, given: unknown = text, now = NOW): string =>
  idempotencyKeyOf(peppers, { ...of, ...changed }, { text: given, now });

test('confirms the call that it was made for, each time with the same Idempotency-Key', () => {
  expect(use()).toMatch(/^confirmation-[\w-]{22}$/);
  expect(use()).toBe(use());
  const other = createConfirmation(peppers, of, NOW).text;
  expect(use({}, other)).not.toBe(use());
});

test('expires after ten minutes', () => {
  expect(expires_at.getTime() - NOW).toBe(LIFE_MS);
  expect(use({}, text, NOW + LIFE_MS - 1)).toBe(use());
  expect(() => use({}, text, NOW + LIFE_MS)).toThrow(/confirmation has expired/);
});

test.each([
  ['another partner', { partner_id: 'prt_2' }, text],
  ['other arguments', { fingerprint: 'abd' }, text],
  ['a later end', {}, text.replace(/^\d+/, (end) => String(Number(end) + 60))],
  ['another number', {}, text.replace(/\.[\w-]{22}\./, `.${'A'.repeat(22)}.`)],
  ['another hash', {}, text.replace(/.{6}$/, 'AAAAAA')],
  ['a hash that is cut off', {}, text.slice(0, -1)],
  ['nothing', {}, ''],
  ['null', {}, null],
  ['an object', {}, { text }],
  ['a long text', {}, text.repeat(1_000)],
])('refuses %s, and names the argument', (_name, changed, given) => {
  expect(() => use(changed, given)).toThrow(/^confirmation is not one for these arguments/);
});

test('survives a rotation of the pepper, but not its removal', () => {
  const key = (letter: string): string => Buffer.alloc(32, letter).toString('base64');
  const before = createPeppers(`a:${key('a')}`);
  const during = createPeppers(`b:${key('b')},a:${key('a')}`);
  const after = createPeppers(`b:${key('b')}`);
  const made = createConfirmation(before, of, NOW).text;
  expect(idempotencyKeyOf(during, of, { text: made, now: NOW })).toMatch(/^confirmation-/);
  expect(() => idempotencyKeyOf(after, of, { text: made, now: NOW })).toThrow(/is not one for/);
});
