// The thresholds of alerts: the event `partner.alert` reports each crossing, and the overview shows
// it.
import { Checkbox, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Settings } from '../../api/types';
import { Card } from '../../parts/layout';
import { numberOf, SaveForm, SettingsForms, SettingsPage, useSaveSettings } from './page';

const FIGURES = [
  {
    cause: 'spend_per_day',
    label: 'Spend a day',
    description: 'An amount in the currency of the rate card, such as 50.00',
    read: (text: string) => text.trim() || null,
  },
  {
    cause: 'failure_rate',
    label: 'Failed messages in percent',
    description: 'Of the messages of a day, from 1 to 100',
    read: numberOf,
  },
  {
    cause: 'webhook_failures',
    label: 'Failed deliveries a day',
    description: 'Events of a day that your receiver has refused',
    read: numberOf,
  },
] as const;
const FLAGS = [
  { cause: 'quality_drops', label: 'The quality of a number drops' },
  { cause: 'unpaid_slots', label: 'A billing slot is unpaid' },
] as const;

export const Screen = () => (
  <SettingsPage to="/settings/alerts">
    <SettingsForms>{(settings) => <Alerts settings={settings} />}</SettingsForms>
  </SettingsPage>
);

function Alerts({ settings: { alerts } }: { settings: Settings }) {
  const [texts, setTexts] = useState<Record<string, string>>(() =>
    Object.fromEntries(FIGURES.map(({ cause }) => [cause, String(alerts[cause] ?? '')])),
  );
  const [flags, setFlags] = useState<Record<string, boolean>>(() =>
    Object.fromEntries(FLAGS.map(({ cause }) => [cause, alerts[cause] === true])),
  );
  const saving = useSaveSettings(() => {
    const figures = FIGURES.map(({ cause, read }) => [cause, read(texts[cause] ?? '')]);
    const set = FLAGS.map(({ cause }) => [cause, flags[cause] ? true : null]);
    return { alerts: Object.fromEntries([...figures, ...set]) };
  });
  return (
    <Card>
      <SaveForm
        {...saving}
        action="Save alerts"
        what="The alerts were"
        fields={FIGURES.map(({ cause }) => `alerts.${cause}`)}
      >
        {FIGURES.map(({ cause, label, description }) => (
          <TextInput
            key={cause}
            label={label}
            description={`${description}; empty for no alert.`}
            value={texts[cause] ?? ''}
            onChange={(event) => setTexts({ ...texts, [cause]: event.currentTarget.value })}
            error={saving.refusalOf(`alerts.${cause}`)}
          />
        ))}
        {FLAGS.map(({ cause, label }) => (
          <Checkbox
            key={cause}
            label={label}
            checked={flags[cause] ?? false}
            onChange={(event) => setFlags({ ...flags, [cause]: event.currentTarget.checked })}
          />
        ))}
      </SaveForm>
    </Card>
  );
}
