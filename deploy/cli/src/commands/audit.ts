// `bmg audit`: who changed what, of one partner or of all, and of the platform.
import { Option, type Command } from 'commander';
import {
  AuditDefinition,
  type AuditRecord,
  type CheckAuditChainResponse as Page,
  type CheckAuditChainResponse_Fault as Fault,
  type CheckAuditChainResponse_Newest as Newest,
} from '@bmg/proto/audit';
import { action, count, dateTime, record, wholeNumber, type Answer } from '../action';
import { rejected, type Session } from '../session';

interface Filters {
  partner?: string;
  from?: Date;
  to?: Date;
  actor?: string;
  action?: string;
  target?: string;
  limit: number;
  cursor?: string;
}

const LIMIT = 50;
const PAGE_MAX = 100;
const LIMIT_MAX = 10_000;
/** A check ends at this number. */
const FAULTS_MAX = 1_000;

export function addAuditCommand(program: Command): void {
  program
    .command('audit')
    .description('list who changed what, newest first: keys, console sessions and operators')
    .option('--partner <partner_id>', 'only changes of this partner')
    .option(
      '--from <time>',
      'only at this time or later, for example 2026-09-01T00:00:00Z',
      dateTime,
    )
    .option('--to <time>', 'only at this time or earlier', dateTime)
    .option('--actor <actor>', 'only of this actor: an ID, a user name, or a type such as operator')
    .option('--action <action>', 'only this one, for example "DELETE /keys/{key_id}"')
    .option('--target <id>', 'only changes of the object with this ID')
    .addOption(
      new Option('--limit <n>', `how many, at most ${LIMIT_MAX}`)
        .argParser(wholeNumber)
        .default(LIMIT),
    )
    .option('--cursor <cursor>', 'the next page: the cursor that the last one printed')
    .action(action(list))
    .command('check')
    .description(
      'compare every record with the chain of hashes: none was changed, removed or added',
    )
    .action(action(check));
}

async function check(session: Session): Promise<Answer> {
  const audit = session.client(AuditDefinition);
  const faults: Fault[] = [];
  let [links, records] = [0, 0];
  let [above, newest]: [number | undefined, Newest | undefined] = [undefined, undefined];
  do {
    const page: Page = await audit.checkAuditChain({ above }).catch(rejected);
    links += page.links;
    records += page.records;
    faults.push(...page.faults);
    newest ??= page.newest;
    above = page.next;
  } while (above !== undefined && faults.length < FAULTS_MAX);
  if (faults.length > 0) process.exitCode = 1;
  const summary = `${count(records, 'record')} in ${count(links, 'link')} checked, ${count(faults.length, 'fault')}.`;
  return {
    json: { ok: faults.length === 0, links, records, faults, newest: newest ?? null },
    text: [
      ...faults.map(
        ({ link, record_id, problem }) => `link ${link}  ${record_id ?? '-'}  ${problem}`,
      ),
      summary,
      ...(newest ? [`The newest is link ${newest.number} with the hash ${newest.hash}.`] : []),
    ].join('\n'),
  };
}

async function list(session: Session, { partner, limit, ...filters }: Filters): Promise<Answer> {
  if (partner !== undefined) await session.requirePartner(partner);
  const audit = session.client(AuditDefinition);
  const most = Math.min(limit, LIMIT_MAX);
  const records: AuditRecord[] = [];
  let { cursor } = filters;
  do {
    const page = await audit
      .listAllAuditRecords({
        ...filters,
        partner_id: partner,
        limit: Math.min(PAGE_MAX, most - records.length),
        cursor,
      })
      .catch(rejected);
    records.push(...page.records);
    cursor = page.after;
  } while (cursor !== undefined && records.length < most);
  const lines = records.map(describe);
  if (cursor !== undefined) lines.push(`next page: --cursor ${cursor}`);
  return {
    json: { records: records.map(shown), after: cursor ?? null },
    text: lines.join('\n') || 'No changes.',
  };
}

const shown = ({ actor, ...one }: AuditRecord): Record<string, unknown> => ({
  ...record({ before: undefined, after: undefined, code: undefined, address: undefined }),
  ...record(one),
  actor: { type: actor?.type, id: actor?.id ?? null, name: actor?.name ?? null },
});

const describe = (one: AuditRecord): string =>
  [
    one.at?.toISOString(),
    one.outcome.padEnd(9),
    [one.actor?.type, one.actor?.id, one.actor?.name].filter(Boolean).join(' '),
    one.action,
    Object.entries(one.target)
      .map(([name, id]) => `${name}=${id}`)
      .join(' '),
    ...(one.after ? [JSON.stringify(one.after)] : []),
    ...(one.code ? [one.code] : []),
    ...(one.partner_id ? [`(${one.partner_id})`] : []),
  ].join('  ');
