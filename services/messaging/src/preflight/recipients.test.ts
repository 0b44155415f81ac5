import type { Credential } from '@bmg/common/directory';
import type { Conversation } from '../contacts';
import { TARGET } from '../../test/builders';
import { readRecipients, recipientReasons } from './recipients';

const NOW = new Date('2026-11-20T12:00:00Z');
const credential = { phone_number: '5511987650001', registered_at: undefined } as Credential;

/** The facts of a recipient, by the stored conversations and the ids that the upstream gave. */
async function factsOf(
  recipient: string,
  stored: Record<string, Conversation>,
  ids: Record<string, string> = {},
) {
  const sources = {
    contacts: { findIds: async () => new Map(Object.entries(ids)) },
    conversations: {
      find: async (_scope: object, wanted: readonly string[]) =>
        new Map(Object.entries(stored).filter(([contact]) => wanted.includes(contact))),
      recordedSince: async () => new Date(0),
    },
  };
  return (await readRecipients(sources, TARGET, credential, [recipient], NOW))(recipient);
}

test('a recipient has the events of the id that the upstream gave, beside its own', async () => {
  const failed = { code: 131_026, at: new Date(NOW.getTime() - 7_200_000) };
  const inbound_at = new Date(NOW.getTime() - 3_600_000);
  const facts = await factsOf(
    '15550100777',
    { 15550100777: { failed }, 15550100778: { inbound_at } },
    { 15550100777: '15550100778' },
  );
  expect(facts.conversation).toEqual({ failed, inbound_at });
  expect(facts.window.state).toBe('open');
  expect(recipientReasons('15550100777', facts, credential, 'utility', NOW)).toEqual([]);
});

test.each(['5511987650001', '551187650001'])('the sender %s cannot write to itself', async (to) => {
  const [reason] = recipientReasons(to, await factsOf(to, {}), credential, undefined, NOW);
  expect(reason?.upstream_code).toBe(131_021);
});
