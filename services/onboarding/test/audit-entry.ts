import type { AuditEntry } from '../src/accounts/audit/store';

/** A record of a change that a person made, and that ended within a second. */
export const anAuditEntry = (at: Date, given: Partial<AuditEntry> = {}): AuditEntry => ({
  _id: 'aud_1',
  at,
  partner_id: 'p1',
  actor: { type: 'person', id: 'per_1', name: 'ada@example.com' },
  action: 'POST /people',
  target: { person_id: 'per_2' },
  target_ids: ['per_2'],
  waba_id: null,
  fields: ['email', 'role'],
  before: null,
  after: { email: 'grace@example.com', role: 'support' },
  outcome: 'succeeded',
  code: null,
  request_id: 'req_1',
  address: '203.0.113.7',
  ended_at: at,
  salt: 'salt',
  ...given,
});
