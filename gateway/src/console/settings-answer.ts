// A partner’s settings in JSON: a threshold has the type of its cause.
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
    CAUSES.flatMap(([cause, read]) => {
      const text = alerts[cause];
      return text === undefined ? [] : [[cause, read(text)]];
    }),
  );

export const settingsAnswer = ({ alerts, ...settings }: PartnerSettings): Fields => ({
  settings: { ...settings, alerts: thresholdsOf(alerts) },
});
