import type { Partner } from '../../ground/partners';
import { newSession, sessionMessage } from './rules';

const AT = new Date('2026-09-01T12:00:00Z');
const EARLIER = new Date('2026-09-01T11:00:00Z');
const partner = { _id: 'ptn_1', name: 'A partner' } as Partner;

test.each([
  ['a passkey or a key proves it at the log-in', {}, AT],
  ['an issuer says when it checked', { authenticated_at: EARLIER }, EARLIER],
  ['an issuer that does not say it counts as long ago', { authenticated_at: null }, new Date(0)],
])('%s', (_name, opened, expected) => {
  const session = newSession({ partner_id: partner._id, ...opened }, 'hash', AT);
  expect(sessionMessage(partner, session, undefined).authenticated_at).toEqual(expected);
});
