// A partner’s settings in JSON: unset values are null, and a threshold has the type of its cause.
import type { PartnerSettings } from '@bmg/proto/settings';
import type { Fields } from '../endpoints/endpoint';

export type Threshold = string | number | boolean | null;

/** Null and false end the alerts of a cause. */
export const textOf = (threshold: Threshold): string =>
  threshold === null || threshold === false ? '' : String(threshold);

/** How the threshold of each cause is written in JSON. */
const CAUSES: ReadonlyArray<[cause: string, read: (text: string) => Threshold]> = [
  ['spend_per_day', (text) => text],
  ['failure_rate', Number],
  ['webhook_failures', Number],
  ['quality_drops', (text) => text === 'true'],
  ['unpaid_slots', (text) => text === 'true'],
];

const thresholdsOf = (alerts: Readonly<Record<string, string>>): Fields =>
  Object.fromEntries(
    CAUSES.map(([cause, read]) => {
      const text = alerts[cause];
      return [cause, text === undefined ? null : read(text)];
    }),
  );

/** An unset value is null in JSON: the partner sees that the field exists. */
export const settingsAnswer = ({
  plan,
  webhook_secret,
  alerts,
  raised_alerts,
  ...settings
}: PartnerSettings): Fields => ({
  settings: {
    ...settings,
    webhook_url: settings.webhook_url ?? null,
    logo_url: settings.logo_url ?? null,
    logo_id: settings.logo_id ?? null,
    contacts: {
      technical: settings.contacts?.technical ?? null,
      billing: settings.contacts?.billing ?? null,
    },
    plan: { ...plan, max_wabas: plan?.max_wabas ?? null },
    webhook_secret: webhook_secret
      ? {
          created_at: webhook_secret.created_at,
          previous_expires_at: webhook_secret.previous_expires_at ?? null,
        }
      : null,
    alerts: thresholdsOf(alerts),
    raised_alerts: raised_alerts.map((alert) => ({
      ...alert,
      currency: alert.currency ?? null,
      phone_number_id: alert.phone_number_id ?? null,
    })),
  },
});
