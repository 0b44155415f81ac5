// A quick start with the partner's own identifiers, the request log, and links.
import { Anchor, List, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { settingsQuery, useActiveNumbers } from '../api/queries';
import type { Client } from '../api/types';
import { Card, LoadedCard, Page } from '../parts/layout';
import { NumberSelect, useNumber } from '../parts/numbers';
import { Block } from '../parts/values';
import { Requests } from './developers/requests';

const BASE_URL = new URL('../v1', document.baseURI).href;
const LINKS = [
  ['../docs', 'Reference', 'every endpoint, event and error'],
  ['../openapi.json', 'OpenAPI document', 'for code generators and tools'],
  ['../changelog', 'Changelog', 'versions and notices'],
] as const;

export const Screen = () => (
  <Page title="Developers" description="Call the API from your own server.">
    <QuickStart />
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

function QuickStart() {
  const client = useNumber();
  const key_hint = useQuery(settingsQuery).data?.key_hint;
  return (
    <LoadedCard title="Quick start" query={useActiveNumbers()} what="the numbers">
      {() => (
        <Stack gap="sm">
          {client ? (
            <NumberSelect />
          ) : (
            <Text size="sm">Connect a number first; its identifiers are then filled in here.</Text>
          )}
          {key_hint && (
            <Text size="sm">Your key looks like {key_hint}. The console never shows it.</Text>
          )}
          <Block text={programOf(client)} label="the request" />
        </Stack>
      )}
    </LoadedCard>
  );
}
