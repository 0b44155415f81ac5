// A quick start with the partner's own identifiers, the request log, and links.
import { Anchor, List, Select, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { settingsQuery, useActiveNumbers } from '../api/queries';
import type { Client } from '../api/types';
import { nameOf } from '../attention';
import { Block } from '../parts/block';
import { Card } from '../parts/card';
import { Loaded } from '../parts/loaded';
import { Page } from '../parts/page';
import { useFilters } from '../parts/search';
import { Requests } from './developers/requests';

const BASE_URL = new URL('../v1', document.baseURI).href;
const LINKS = [
  ['../docs', 'Reference', 'every endpoint, event and error'],
  ['../openapi.json', 'OpenAPI document', 'for code generators and tools'],
  ['../changelog', 'Changelog', 'versions and notices'],
] as const;

export function Screen() {
  const numbers = useActiveNumbers();
  const settings = useQuery(settingsQuery);
  const [{ number }, setFilters] = useFilters();
  return (
    <Page title="Developers" description="Call the API from your own server.">
      <Card title="Quick start">
        <Loaded query={numbers} what="the numbers">
          {(clients) => {
            const chosen = clients.find(({ phone_number_id }) => phone_number_id === number);
            return (
              <QuickStart
                clients={clients}
                client={chosen ?? clients[0]}
                key_hint={settings.data?.key_hint}
                onChoose={(phone_number_id) => setFilters({ number: phone_number_id })}
              />
            );
          }}
        </Loaded>
      </Card>
      <Requests />
      <Card title="Documents">
        <List>
          {LINKS.map(([href, name, text]) => (
            <List.Item key={href}>
              <Anchor href={href}>{name}</Anchor>: {text}
            </List.Item>
          ))}
        </List>
      </Card>
    </Page>
  );
}

interface QuickStartProps {
  clients: Client[];
  client: Client | undefined;
  key_hint: string | undefined;
  onChoose: (phone_number_id: string | undefined) => void;
}

const programOf = (client: Client | undefined): string =>
  [
    'export PARTNER_KEY=…   # your partner key',
    '',
    `curl -s ${BASE_URL}/messages/send \\`,
    '  -H "x-partner-key: $PARTNER_KEY" \\',
    `  -H 'x-waba-id: ${client?.waba_id ?? '<waba_id>'}' \\`,
    `  -H 'x-phone-number-id: ${client?.phone_number_id ?? '<phone_number_id>'}' \\`,
    "  -H 'content-type: application/json' \\",
    `  -d '{"to":"15550100777","text":"Hello"}'`,
  ].join('\n');

const QuickStart = ({ clients, client, key_hint, onChoose }: QuickStartProps) => (
  <Stack gap="sm">
    {clients.length === 0 ? (
      <Text size="sm">Connect a number first; its identifiers are then filled in here.</Text>
    ) : (
      <Select
        label="Number"
        maw={360}
        data={clients.map((one) => ({
          value: one.phone_number_id,
          label: `${nameOf(one)} (+${one.phone_number})`,
        }))}
        value={client?.phone_number_id ?? null}
        onChange={(value) => onChoose(value ?? undefined)}
        allowDeselect={false}
        searchable
      />
    )}
    {key_hint && <Text size="sm">Your key looks like {key_hint}. The console never shows it.</Text>}
    <Block text={programOf(client)} label="the request" />
  </Stack>
);
