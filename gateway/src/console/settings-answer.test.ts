import { PartnerSettings } from '@bmg/proto/settings';
import { createValidator } from '../../../test/contract/ajv';
import { completed, settings } from './answers';
import { settingsAnswer, textOf } from './settings-answer';

const PLAN = { active_wabas: 1, slots: 1 };
const NOW = new Date('2026-11-24T10:00:00.000Z');
const ALERT = {
  cause: 'spend_per_day',
  day: '2026-11-24',
  value: '51.20',
  threshold: '50.00',
  currency: 'EUR',
  raised_at: NOW,
};
const validate = createValidator().compile({ ...settings, additionalProperties: false });
const inJson = (given: Partial<PartnerSettings> = {}) =>
  JSON.parse(
    JSON.stringify(
      completed(
        settings,
        settingsAnswer({ ...PartnerSettings.fromPartial({}), plan: PLAN, ...given }),
      ),
    ),
  ) as { settings: Record<string, unknown> };

test.each<[string, Partial<PartnerSettings>]>([
  ['without anything set', {}],
  [
    'with everything set',
    {
      webhook_url: 'https://partner.example/hook',
      logo_url: 'https://partner.example/logo.png',
      logo_id: 'l1',
      contacts: { technical: 'ops@partner.example', billing: 'bills@partner.example' },
      plan: { ...PLAN, max_wabas: 3 },
      webhook_secret: { created_at: NOW, previous_expires_at: NOW },
      alerts: { spend_per_day: '50.00', failure_rate: '5', quality_drops: 'true' },
      raised_alerts: [ALERT],
      notices: [{ notice_id: 'ntc_1', severity: 'info', subject: 'S', text: 'T', created_at: NOW }],
    },
  ],
])('settings %s match their schema', (_name, given) => {
  validate(inJson(given));
  expect(validate.errors ?? []).toEqual([]);
});

test('thresholds have the type of their cause, and null without an alert', () => {
  const { alerts } = inJson({
    alerts: { spend_per_day: '50.00', failure_rate: '5', unpaid_slots: 'true' },
  }).settings;
  expect(alerts).toEqual({
    spend_per_day: '50.00',
    failure_rate: 5,
    webhook_failures: null,
    quality_drops: null,
    unpaid_slots: true,
  });
});

test.each([
  [null, ''],
  [false, ''],
  [true, 'true'],
  [5, '5'],
  ['50.00', '50.00'],
])('the threshold %j is stored as %j', (threshold, text) => {
  expect(textOf(threshold)).toBe(text);
});
