// Makes the links of the chain, sends them with their records to the operator's destination, and
// checks them against the records.
import { ConfigError } from '@bmg/common/config';
import { createPoller, type Poller } from '@bmg/common/lifecycle';
import type { CheckAuditChainResponse } from '@bmg/proto/audit';
import {
  faultOfLink,
  faultsOfRecords,
  isExpired,
  linkAfter,
  OPEN_MS,
  sealed,
  type Fault,
} from './chain';
import { AUDIT_KEPT_DAYS, type Link } from './store';
import type { Dependencies } from '../../dependencies';
import { recordMessage } from './rules';

const EVERY_MS = 60_000;
/** Longer than clocks differ and a write takes, so that no record seems to be added late. */
const MARGIN_MS = 120_000;
/** The records of a link are in memory at once, and their values may be large. */
const LINK_RECORDS_MAX = 200;
const SENT_AT_ONCE_MAX = 20;
const SEND_LIMIT_MS = 10_000;
const PAGE_LINKS = 100;
const FAULTS_MAX = 100;
const KEPT_MS = AUDIT_KEPT_DAYS * 86_400_000;

/** Throws ConfigError for a destination without a token. */
export function createSealer(deps: Dependencies): Poller {
  const { AUDIT_EXPORT_URL, AUDIT_EXPORT_TOKEN } = deps.settings;
  if (AUDIT_EXPORT_URL !== undefined && AUDIT_EXPORT_TOKEN === undefined) {
    throw new ConfigError(['AUDIT_EXPORT_TOKEN is required with AUDIT_EXPORT_URL']);
  }
  return createPoller(
    'chain of the audit log',
    EVERY_MS,
    async () => {
      const more = await seal(deps);
      await send(deps);
      return more;
    },
    deps.log,
  );
}

const before = (time: Date, ms: number): Date => new Date(time.getTime() - ms);

/** Makes a link of the records since the last one. Returns true if there are more of them. */
export async function seal(deps: Dependencies): Promise<boolean> {
  const { auditLog, auditChain, settings, now } = deps;
  const last = await auditChain.newest();
  const at = now();
  const until = before(at, MARGIN_MS);
  const from = last?.to ?? until;
  if (last && until <= from) return false;
  const ended = await auditLog.endedBetween(from, until, LINK_RECORDS_MAX);
  // A full page may end within a millisecond: what shares its last one comes next.
  const whole = before(ended.at(-1)?.ended_at ?? until, 1);
  const is_full = ended.length === LINK_RECORDS_MAX && whole > from;
  const to = is_full ? whole : until;
  const open = await auditLog.openBetween(
    before(from, OPEN_MS),
    before(to, OPEN_MS),
    LINK_RECORDS_MAX,
  );
  const records = [
    ...ended.filter(({ ended_at }) => ended_at !== null && ended_at <= to),
    ...open,
  ].map(sealed);
  if (last && records.length === 0 && !is_full) return false;
  const link = linkAfter(last, { at, from, to, records });
  const is_exported = settings.AUDIT_EXPORT_URL !== undefined && records.length > 0;
  const is_mine = await auditChain.add({ ...link, ...(is_exported && { unsent: true }) });
  return is_mine && is_full;
}

/** Sends links in their order until one is refused. A crash may send one twice. */
export async function send(deps: Dependencies): Promise<void> {
  const { auditLog, auditChain, settings } = deps;
  const { AUDIT_EXPORT_URL: url, AUDIT_EXPORT_TOKEN: token } = settings;
  if (url === undefined || token === undefined) return;
  for (const { unsent: _unsent, ...link } of await auditChain.unsent(SENT_AT_ONCE_MAX)) {
    const entries = await auditLog.byIds(link.records.map(({ id }) => id));
    const { _id: number, ...rest } = link;
    const lines = [
      { type: 'link', number, ...rest },
      ...entries.map((entry) => ({ type: 'record', ...recordMessage(entry) })),
    ];
    const answer = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-ndjson',
        authorization: `Bearer ${token}`,
      },
      body: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
      redirect: 'error',
      signal: AbortSignal.timeout(SEND_LIMIT_MS),
    });
    await answer.body?.cancel();
    if (!answer.ok) throw new Error(`the destination of the audit log answers ${answer.status}`);
    await auditChain.noteSent(number);
  }
}

async function faultsOf(
  { auditLog, now }: Dependencies,
  link: Link,
  previous: Link | undefined,
): Promise<Fault[]> {
  const is_expired = isExpired(link, KEPT_MS, now());
  const of_link = faultOfLink(link, previous, is_expired);
  const [of_period, by_id] = await Promise.all([
    // A link has no more records: what was added shows within twice as many.
    auditLog.endedBetween(link.from, link.to, 2 * LINK_RECORDS_MAX),
    auditLog.byIds(link.records.map(({ id }) => id)),
  ]);
  const of_records = faultsOfRecords(link, { of_period, by_id }, is_expired);
  return [...(of_link ? [of_link] : []), ...of_records];
}

/** Checks a page of links, newest first, from below `above` on. */
export async function checkChain(
  deps: Dependencies,
  above: number,
): Promise<CheckAuditChainResponse> {
  const { auditChain } = deps;
  const [links, newest, unsent] = await Promise.all([
    auditChain.page(above, PAGE_LINKS + 1),
    auditChain.newest(),
    auditChain.countUnsent(),
  ]);
  const checked = links.slice(0, PAGE_LINKS);
  const faults: Fault[] = [];
  let records = 0;
  for (const [at, link] of checked.entries()) {
    faults.push(...(await faultsOf(deps, link, links[at + 1])));
    records += link.records.length;
    if (faults.length >= FAULTS_MAX) break;
  }
  const last = checked.at(-1);
  return {
    links: checked.length,
    records,
    faults: faults.slice(0, FAULTS_MAX),
    next: links.length > PAGE_LINKS ? last?._id : undefined,
    newest: newest && { number: newest._id, hash: newest.hash, at: newest.at },
    unsent,
  };
}
