// The thresholds of alerts: the event `partner.alert` reports each crossing, and the overview shows
// it.
import { Button, Checkbox, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { ApiFailure } from '../../api/client';
import type { Settings } from '../../api/types';
import { Card } from '../../parts/card';
import { Failure } from '../../parts/failure';
import { useSaveSettings } from './save-settings';

const FIGURES = [
  {
    cause: 'spend_per_day',
    label: 'Spend a day',
    description: 'An amount in the currency of the rate card, such as 50.00',
    read: (text: string) => text,
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

/** Text that is not a number is sent as it is: the service refuses it and names the field. */
function numberOf(text: string): number | string {
  const number = Number(text);
  return Number.isNaN(number) ? text : number;
}

export function Alerts({ settings: { alerts } }: { settings: Settings }) {
  const [texts, setTexts] = useState<Record<string, string>>(() =>
    Object.fromEntries(FIGURES.map(({ cause }) => [cause, String(alerts[cause] ?? '')])),
  );
  const [flags, setFlags] = useState<Record<string, boolean>>(() =>
    Object.fromEntries(FLAGS.map(({ cause }) => [cause, alerts[cause] === true])),
  );
  const save = useSaveSettings(() => {
    const figures = FIGURES.map(({ cause, read }) => {
      const text = texts[cause]?.trim() ?? '';
      return [cause, text === '' ? null : read(text)];
    });
    const set = FLAGS.map(({ cause }) => [cause, flags[cause] ? true : null]);
    return { alerts: Object.fromEntries([...figures, ...set]) };
  });
  const failure = save.error as ApiFailure | null;
  const wrong = (failure?.details as { field?: string } | undefined)?.field;
  const refused = FIGURES.find(({ cause }) => wrong === `alerts.${cause}`);
  return (
    <Card title="Alerts">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Stack gap="sm">
          {FIGURES.map(({ cause, label, description }) => (
            <TextInput
              key={cause}
              label={label}
              description={`${description}; empty for no alert.`}
              value={texts[cause] ?? ''}
              onChange={(event) => setTexts({ ...texts, [cause]: event.currentTarget.value })}
              error={refused?.cause === cause ? failure?.message : null}
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
          <Button type="submit" loading={save.isPending} w="fit-content">
            Save alerts
          </Button>
          {failure && !refused && <Failure error={failure} title="The alerts were not saved" />}
        </Stack>
      </form>
    </Card>
  );
}
