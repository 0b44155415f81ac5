// The console shows each change of the audit log as a sentence.
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { actionOf, isAudited } from '../../gateway/src/audit/audited';
import { actionOf as consoleActionOf, LOG_IN_PATHS } from '../../gateway/src/console/recorded';
import { createRoutes } from '../../gateway/src/console/routes';
import {
  SENTENCES,
  sentenceOf,
  type Recorded,
} from '../../gateway/console/src/screens/settings/sentences';
import { endpoints } from '../../gateway/src/endpoints';

const COMMANDS = resolve(__dirname, '../../deploy/cli/src/commands');

const mockRecorded = new Set<unknown>();
jest.mock('../../deploy/cli/src/recorded', () => ({
  change: () => {
    const run = () => undefined;
    mockRecorded.add(run);
    return run;
  },
}));

const nameOf = (command: Command): string =>
  command.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();

const concernsPartner = ({ registeredArguments, options }: Command): boolean =>
  registeredArguments.some((one) => one.name() === 'partner_id') ||
  options.some(({ long }) => long === '--partner');

/** The recorded commands that concern a partner. The log of a partner has no others. */
function recordedCommands(): string[] {
  const recorded: Command[] = [];
  const program = new Command('bmg');
  jest.spyOn(Command.prototype, 'action').mockImplementation(function (this: Command, run) {
    if (mockRecorded.has(run)) recorded.push(this);
    return this;
  });
  for (const file of readdirSync(COMMANDS).filter((name) => /^[a-z]+\.ts$/.test(name))) {
    const added = require(join(COMMANDS, file)) as Record<string, unknown>;
    for (const [name, add] of Object.entries(added)) {
      if (/^add\w+Commands?$/.test(name)) (add as (to: Command) => void)(program);
    }
  }
  return recorded.filter(concernsPartner).map(nameOf);
}

/** They record without the function that the others share, or concern the partner they create. */
const OTHER_COMMANDS = ['bmg listen', 'bmg partner create'];

test('every change that the log of a partner records has a sentence, and no other has one', () => {
  const routes = createRoutes({ public_url: 'https://gateway.example.com' } as never);
  const recorded = [
    ...endpoints.filter(isAudited).map(actionOf),
    ...routes.filter((route) => 'audit' in route && route.audit).map(consoleActionOf),
    ...LOG_IN_PATHS.map((path) => consoleActionOf({ verb: 'post', path })),
    ...recordedCommands(),
    ...OTHER_COMMANDS,
  ];
  expect(Object.keys(SENTENCES).sort()).toEqual([...new Set(recorded)].sort());
});

const RECORD: Recorded = {
  action: 'POST /keys',
  actor: { type: 'person', id: 'per_1', name: 'ada@example.com' },
  target: {},
  fields: [],
  before: null,
  after: null,
  outcome: 'succeeded',
  code: null,
  count: 1,
};
const NAMES: Readonly<Record<string, string>> = { we_1: 'example.com', per_2: 'bo@example.com' };
const OPERATOR = { type: 'operator', id: null, name: null };

test.each<[Partial<Recorded>, string]>([
  [
    { action: 'POST /people', after: { email: 'bo@example.com', role: 'support' } },
    'ada@example.com invited bo@example.com as support',
  ],
  [
    {
      action: 'PATCH /people/{person_id}',
      target: { person_id: 'per_2' },
      fields: ['role'],
      before: { role: 'support' },
      after: { role: 'developer' },
    },
    'ada@example.com changed bo@example.com: role from support to developer',
  ],
  [
    {
      actor: { type: 'api_key', id: 'key_1', name: 'Shop' },
      action: 'POST /webhook-endpoints',
      target: { endpoint_id: 'we_1' },
    },
    'API key Shop created the webhook endpoint example.com',
  ],
  [
    { action: 'DELETE /keys/{key_id}', outcome: 'failed', code: 'NOT_FOUND' },
    'ada@example.com tried to revoke an API key (NOT_FOUND)',
  ],
  [
    { outcome: 'failed', code: 'SCOPE_MISSING', count: 3, after: { name: 'Shop' } },
    'ada@example.com was refused: create the API key Shop (3 times) (SCOPE_MISSING)',
  ],
  [
    { action: 'PUT /broadcast-approval', before: { above: null }, after: { above: 100 } },
    'ada@example.com changed the contacts above which a broadcast needs approval: from none to 100',
  ],
  [
    {
      actor: OPERATOR,
      action: 'bmg partner update',
      fields: ['status'],
      after: { status: 'active' },
    },
    'The operator changed this partner: status to active',
  ],
  [
    {
      actor: { type: 'console', id: null, name: null },
      action: 'console POST /session/passkey',
      outcome: 'failed',
      code: 'NOT_FOUND',
    },
    'A browser tried to sign in with a passkey (NOT_FOUND)',
  ],
  [
    { action: 'GET /clients', outcome: 'failed', code: 'ADDRESS_NOT_ALLOWED' },
    'ada@example.com was refused: read /clients (ADDRESS_NOT_ALLOWED)',
  ],
  [{ action: 'POST /later', outcome: 'unknown' }, 'ada@example.com may have called POST /later'],
])('%j is “%s”', (given, sentence) => {
  expect(sentenceOf({ ...RECORD, ...given }, (id) => NAMES[id])).toBe(sentence);
});
