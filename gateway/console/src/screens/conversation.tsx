// The conversation with one contact: states and types of its messages, the window and the price of
// the next one, and a reply. It shows the texts that the contact wrote, if the operator allows it.
import { Button, Group, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/client';
import { sessionQuery, useChange } from '../api/queries';
import type { Client } from '../api/types';
import { contactOf, conversationQuery, type Turn } from '../conversation';
import { costBeside } from '../money';
import { useFilters } from '../parts/filters';
import {
  Card,
  Empty,
  Failure,
  Form,
  Hint,
  Loaded,
  Page,
  TextLink,
  WorkButton,
} from '../parts/layout';
import { NextMessage } from '../parts/next-message';
import { NumberSelect, WithNumber } from '../parts/numbers';
import { State, Time } from '../parts/values';

const REFRESH_MS = 10_000;

export function Screen() {
  const [{ find }] = useFilters();
  const shows_texts = useShowsTexts();
  return (
    <Page
      title="Conversation"
      description={`With one contact, in the last seven days. Types and states${shows_texts ? ', and what the contact wrote; texts that you sent are not stored.' : '; texts are not shown.'}`}
    >
      <WithNumber>
        {(client) => (
          <>
            <ChooseContact />
            {find && (
              <Conversation
                key={`${client.phone_number_id}/${find}`}
                client={client}
                contact={find}
              />
            )}
          </>
        )}
      </WithNumber>
    </Page>
  );
}

const useShowsTexts = (): boolean => useQuery(sessionQuery).data?.shows_texts ?? false;

function ChooseContact() {
  const [{ find }, setFilters] = useFilters();
  const [text, setText] = useState(find ?? '');
  return (
    <Form onSubmit={() => setFilters({ find: contactOf(text) || undefined })}>
      <Group gap="sm" align="flex-end" className="filters">
        <NumberSelect />
        <TextInput
          label="Contact"
          placeholder="15550100777"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Button type="submit" variant="default">
          Show
        </Button>
      </Group>
    </Form>
  );
}

function Conversation({ client, contact }: { client: Client; contact: string }) {
  const query = useQuery({
    ...conversationQuery(client, contact, useShowsTexts()),
    refetchInterval: REFRESH_MS,
  });
  return (
    <Stack gap="md">
      <Loaded query={query} what="the conversation">
        {({ turns, received }) => (
          <Card title={`With ${contact}`}>
            {turns.length === 0 && (
              <Empty title="No message in these days">Write the first one below.</Empty>
            )}
            <ol className="turns" aria-label="Messages">
              {turns.map((turn) => (
                <OneTurn key={turn.message_id} turn={turn} client={client} />
              ))}
            </ol>
            {!received.complete && (
              <Hint>There are many events to look through: further messages follow.</Hint>
            )}
          </Card>
        )}
      </Loaded>
      <Reply client={client} contact={contact} />
    </Stack>
  );
}

function OneTurn({ turn, client }: { turn: Turn; client: Client }) {
  const { message_id, direction, kind, status, at, text } = turn;
  const name = direction === 'inbound' ? 'Received' : 'Sent';
  return (
    <li className={`turn-${direction}`}>
      <TextLink to="/messages" search={{ open: message_id, number: client.phone_number_id }}>
        {`${name}: ${kind}`}
      </TextLink>
      {text !== undefined && (
        <Text size="sm" className="written">
          {text}
        </Text>
      )}
      <Group gap="xs">
        {status && <State of={status} />}
        <Text size="xs">
          <Time value={at} />
          {direction === 'outbound' && `, ${costBeside(turn)}`}
        </Text>
      </Group>
    </li>
  );
}

function Reply({ client, contact }: { client: Client; contact: string }) {
  const [text, setText] = useState('');
  const send = useChange(
    [{ queryKey: ['conversation'] }],
    () =>
      call<{ message_id: string }>('POST', '/v1/messages/send', {
        number: client,
        body: { to: contact, text },
        idempotency_key: crypto.randomUUID(),
      }),
    () => setText(''),
  );
  return (
    <Card title="Reply">
      <Stack gap="sm">
        <Textarea
          label="Text"
          description="Reaches people who wrote to the number in the last 24 hours."
          autosize
          minRows={2}
          maxLength={4096}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <NextMessage client={client} to={contact} kind="text" body={{ text: text.trim() || '…' }} />
        <Group gap="xs">
          <WorkButton work={send} disabled={text.trim() === ''}>
            Send
          </WorkButton>
          <TextLink
            to="/messages/new"
            search={{ number: client.phone_number_id, to_contact: contact }}
          >
            Send a template instead
          </TextLink>
        </Group>
        {send.error && <Failure error={send.error} title="The message was not sent" />}
        {send.data && (
          <Text size="sm" role="status">
            The message was sent.
          </Text>
        )}
      </Stack>
    </Card>
  );
}
