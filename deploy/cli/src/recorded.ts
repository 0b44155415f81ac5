// Records the changes of commands in the audit log, as the gateway records those of partners: the
// record is stored before the change is made, and its outcome afterwards.
import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { ApiError, isUnimplemented } from '@bmg/common/errors';
import { AuditDefinition } from '@bmg/proto/audit';
import { action, byApiName, type Answer } from './action';
import type { Session } from './session';

export interface Change {
  action: string;
  partner_id?: string | undefined;
  target?: Record<string, string>;
  fields?: string[];
  after?: Record<string, unknown>;
  before_of?: string;
  /** The fields whose values before the change are kept. Defaults to `fields`. */
  before?: string[];
}

/** Arguments and options with the ID of an object. */
const IDS = new Set(['partner_id', 'key_id', 'waba_id', 'event_id', 'person_id', 'month']);
/** Options whose values are kept. An allow-list: `listen` has a secret. */
const VALUES = new Set([
  ...['name', 'status', 'webhook_url', 'logo_url', 'rate_limit_per_sec', 'max_wabas'],
  ...['overlap_hours', 'scopes', 'waba_ids', 'addresses', 'expires_at', 'email', 'role'],
  ...['subject', 'severity', 'rebuild', 'drop_obsolete'],
]);
/** Options that the API names differently. */
const RENAMED: Readonly<Record<string, string>> = {
  partner: 'partner_id',
  scope: 'scopes',
  waba: 'waba_ids',
  address: 'addresses',
};
/** Options whose values are not kept, since they name people or are long. */
const NAMES: Readonly<Record<string, string>> = {
  technical: 'contacts.technical',
  billing: 'contacts.billing',
  text: 'text',
};
/** Options that remove a limit, which the API writes as null. */
const REMOVALS: Readonly<Record<string, string>> = {
  all_wabas: 'waba_ids',
  any_address: 'addresses',
  never_expires: 'expires_at',
};

interface Options {
  /** Whose values before the change are kept. */
  before_of?: 'key' | 'partner' | 'person';
  /** Which of them, if not those that the options set. */
  before?: string[];
  /** False for a call that changes nothing. Defaults to true. */
  is_change?: (options: Record<string, unknown>) => boolean;
  /** The field of the answer's JSON with the ID of what the command created. */
  made?: string;
}

/** The function of a command that changes something. */
export const change = (
  work: (session: Session, ...given: any[]) => Promise<Answer>,
  { before_of, before, is_change = () => true, made }: Options = {},
) =>
  action((session, ...given: any[]) => {
    const command = given.at(-1) as Command;
    const make = (): Promise<Answer> => work(session, ...given);
    if (!is_change(command.opts())) return make();
    const kept = { ...(before_of && { before_of }), ...(before && { before }) };
    return recorded(session, { ...changeOf(command), ...kept }, make, ({ json }) =>
      made === undefined ? {} : { [made]: (json as Record<string, string>)[made] ?? '' },
    );
  });

function changeOf(command: Command): Change {
  const renamed = ([name, value]: [string, unknown]): [string, unknown] => [
    RENAMED[name] ?? name,
    value,
  ];
  const options = Object.entries(byApiName(command.opts()))
    .filter(([, value]) => value !== undefined)
    .map(renamed);
  const given = command.registeredArguments.map((one, at) =>
    renamed([one.name(), command.processedArgs[at]]),
  );
  const target = Object.fromEntries(
    [...given, ...options].filter(([name, value]) => IDS.has(name) && typeof value === 'string'),
  ) as Record<string, string>;
  const after = Object.fromEntries(
    options.flatMap(([name, value]) => {
      if (REMOVALS[name]) return [[REMOVALS[name], null]];
      return VALUES.has(name) ? [[name, jsonOf(value)]] : [];
    }),
  );
  return {
    action: nameOf(command),
    partner_id: target['partner_id'],
    target,
    fields: [...Object.keys(after), ...options.flatMap(([name]) => NAMES[name] ?? [])],
    after,
  };
}

const jsonOf = (value: unknown): unknown => (value instanceof Date ? value.toISOString() : value);

/** `bmg partner create`. */
const nameOf = (command: Command): string =>
  command.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();

/**
 * Makes a change between its record and its outcome. Throws, and changes nothing, if the record
 * cannot be stored.
 */
export async function recorded<T>(
  session: Session,
  { partner_id, action, target = {}, fields = [], after, before_of = '', before = fields }: Change,
  make: () => Promise<T>,
  made?: (result: T) => Record<string, string>,
): Promise<T> {
  const audit = session.client(AuditDefinition);
  const call = session.call();
  const begun = await audit
    .beginChange(
      {
        partner_id,
        actor: { type: 'operator', id: operatorName() },
        action,
        target,
        waba_id: target['waba_id'],
        fields,
        after: after && Object.keys(after).length > 0 ? after : undefined,
        before_of,
        before: before_of === '' ? [] : before,
        request_id: call.request_id,
      },
      call,
    )
    .catch((error: unknown) => {
      // Onboarding runs a release without the audit log.
      if (isUnimplemented(error)) return undefined;
      throw error;
    });
  if (!begun) return make();
  const end = async (outcome: string, code?: string, target: Record<string, string> = {}) => {
    const request = { id: begun.id, outcome, code, target, partner_id: target['partner_id'] };
    await audit.endChange(request, session.call()).catch((error: unknown) => {
      process.stderr.write(`bmg: the outcome was not recorded: ${(error as Error).message}\n`);
    });
  };
  let result: T;
  try {
    result = await make();
  } catch (error) {
    const is_unknown = error instanceof ApiError && error.http >= 500 && !error.retryable;
    const code = error instanceof ApiError ? error.code : 'COMMAND_FAILED';
    await end(is_unknown ? 'unknown' : 'failed', code);
    throw error;
  }
  await end('succeeded', undefined, made?.(result));
  return result;
}

/** Who runs the command on this machine. */
function operatorName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container's user may have no name.
    return String(process.getuid?.() ?? 'unknown');
  }
}
