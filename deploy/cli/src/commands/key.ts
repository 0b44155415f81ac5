// `bmg key …`: the API keys of a partner beside its partner key.
import type { Command } from 'commander';
import { KEY_SCOPES } from '@bmg/common/keys';
import { KeysDefinition, type ApiKey, type KeyWithSecret } from '@bmg/proto/keys';
import { action, adder, dateTime, record, wholeNumber, type Answer, type Of } from '../action';
import { change } from '../recorded';
import { rejected, UsageError, type Session } from '../session';

interface Limits {
  name?: string;
  scope?: string[];
  waba?: string[];
  address?: string[];
  expires_at?: Date;
}
type UpdateOptions = Of &
  Limits & { all_wabas?: boolean; any_address?: boolean; never_expires?: boolean };

export function addKeyCommands(program: Command): void {
  const add = adder(
    program.command('key').description('manage the API keys of a partner beside its partner key'),
    'the partner that owns the key',
  );

  add('list', 'list the keys, without their secrets').action(action(list));

  withLimits(add('create', 'create a key; its secret is shown only once'))
    .requiredOption('--name <name>', 'what the key is for')
    .action(change(create, { made: 'key_id' }));

  withLimits(add('update <key_id>', 'change a key; options that you omit are unchanged'))
    .option('--name <name>', 'what the key is for')
    .option('--all-wabas', 'no longer limit it to accounts')
    .option('--any-address', 'no longer limit it to addresses')
    .option('--never-expires', 'remove its expiry')
    .action(change(update, { before_of: 'key' }));

  add('rotate <key_id>', 'issue a new secret for a key')
    .option('--overlap-hours <n>', 'how long the old secret works as well', wholeNumber, 24)
    .action(change(rotate));

  add('revoke <key_id>', 'end a key; it stops working at once').action(change(revoke));
}

const withLimits = (command: Command): Command =>
  command
    .option('--scope <scope...>', `what it may do: ${KEY_SCOPES.join(', ')}`)
    .option('--waba <waba_id...>', 'the accounts that it is limited to')
    .option('--address <address...>', 'where it may be used from: addresses, or networks (CIDR)')
    .option(
      '--expires-at <time>',
      'when it stops working, for example 2026-12-31T23:59:59Z',
      dateTime,
    );

const keysOf = (session: Session) => session.client(KeysDefinition);

async function list(session: Session, { partner }: Of): Promise<Answer> {
  const { keys } = await keysOf(session).listKeys({ partner_id: partner });
  return {
    json: { keys: keys.map(shown) },
    text: keys.map(describe).join('\n') || 'No API keys: the partner uses its partner key.',
  };
}

async function create(session: Session, given: Of & Limits): Promise<Answer> {
  if (!given.scope) throw new UsageError(`--scope is required: ${KEY_SCOPES.join(', ')}`);
  const created = await keysOf(session)
    .createKey({
      partner_id: given.partner,
      name: given.name ?? '',
      scopes: given.scope,
      waba_ids: given.waba ?? [],
      addresses: given.address ?? [],
      expires_at: given.expires_at,
    })
    .catch(rejected);
  return withSecret(created);
}

async function update(session: Session, key_id: string, given: UpdateOptions): Promise<Answer> {
  const { name, scope, waba, address, expires_at, never_expires = false } = given;
  const updated = await keysOf(session)
    .updateKey({
      partner_id: given.partner,
      key_id,
      name,
      scopes: scope && { items: scope },
      waba_ids: given.all_wabas ? { items: [] } : waba && { items: waba },
      addresses: given.any_address ? { items: [] } : address && { items: address },
      expires_at: never_expires ? undefined : expires_at,
      never_expires,
    })
    .catch(rejected);
  return { json: shown(updated), text: describe(updated) };
}

async function rotate(
  session: Session,
  key_id: string,
  { partner, overlap_hours }: Of & { overlap_hours: number },
): Promise<Answer> {
  const request = { partner_id: partner, key_id, overlap_hours };
  return withSecret(await keysOf(session).rotateKey(request).catch(rejected));
}

async function revoke(session: Session, key_id: string, { partner }: Of): Promise<Answer> {
  await keysOf(session).revokeKey({ partner_id: partner, key_id });
  return { json: { key_id, revoked: true }, text: `${key_id} is revoked.` };
}

function withSecret({ key, secret }: KeyWithSecret): Answer {
  const found = key as ApiKey;
  return {
    json: { ...shown(found), secret },
    text: [
      describe(found),
      `secret  ${secret}`,
      'Store the secret now: it is not shown again.',
    ].join('\n'),
  };
}

/** GET /v1/keys shows the same fields. */
const shown = (key: ApiKey): Record<string, unknown> => ({
  ...record({ expires_at: undefined, last_used_at: undefined, previous_expires_at: undefined }),
  ...record(key),
  waba_ids: key.waba_ids.length > 0 ? key.waba_ids : null,
  addresses: key.addresses.length > 0 ? key.addresses : null,
});

const describe = (key: ApiKey): string =>
  [
    key.key_id,
    key.key_hint,
    key.scopes.join(','),
    key.waba_ids.length > 0 ? `accounts ${key.waba_ids.join(',')}` : 'all accounts',
    key.addresses.length > 0 ? `from ${key.addresses.join(',')}` : 'from anywhere',
    key.expires_at ? `until ${key.expires_at.toISOString()}` : 'no expiry',
    key.last_used_at ? `used ${key.last_used_at.toISOString()}` : 'never used',
    key.name,
  ].join('  ');
