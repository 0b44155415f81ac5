// The stored state after a run: read until the whole mesh has settled, through each party's
// interface.
import { createReadStream, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { uncommitted } from '../testkit/committed-offsets';
import { ask } from './ask';
import { checkHistory } from './check';
import type { Broadcast, FaultSpan, History, PartnerEnd } from './history';
import { APP_SECRETS, type Scene, type Stage, type StagePartner } from './stage';
import { readPage, TEXT, type Traffic } from './traffic';

/** Phone numbers of the customers in traffic.ts. */
const CUSTOMER = /\b155(?:60\d{6}|50300\d{3})\b/;
const DAY_MS = 86_400_000;
const PAGE = 100;
const PAGES_MAX = 10_000;
const MESSAGES_MAX = 200_000;
const READ_TRIES = 20;
const READ_AGAIN_MS = 1_000;
/** Time for statuses, retries and leases of stopped workers to settle. */
const SETTLE_MS = 300_000;
/** Violations that stay the same for this long are final. */
const UNCHANGED_MS = 75_000;
const LOOK_EVERY_MS = 4_000;
const ALL_SETTLED_MS = 60_000;
const COMMIT_LIMIT_MS = 60_000;
/** A consumer that read events again would post them within this time. */
const QUIET_MS = 15_000;

/** Reads with patience: the mesh may still recover. */
async function get(stage: Scene, partner: StagePartner, path: string): Promise<any> {
  for (let tries = 1; ; tries += 1) {
    const answer = await ask(stage.mesh.base_url, partner.key, { method: 'GET', path });
    if (answer?.status === 200) return answer.body;
    // After a rotation with an unknown outcome no key may be known.
    if (answer?.status === 401) return undefined;
    if (tries === READ_TRIES) throw new Error(`GET ${path}: ${answer?.status}`);
    await sleep(READ_AGAIN_MS);
  }
}

/** All pages of a list; `next` finds the cursor of the following one. */
async function all<T>(
  stage: Scene,
  partner: StagePartner,
  read: { path: string; items: (body: any) => T[]; next: (body: any) => string | null | undefined },
): Promise<T[]> {
  const found: T[] = [];
  let path = read.path;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const body = await get(stage, partner, path);
    if (body === undefined) return found;
    found.push(...read.items(body));
    const next = read.next(body);
    if (!next) return found;
    path = `${read.path}&${next}`;
  }
  throw new Error(`${read.path} has no end`);
}

const cursorOf = (body: any): string | undefined => {
  const after = body.paging?.cursors?.after as string | null | undefined;
  return after ? `cursor=${encodeURIComponent(after)}` : undefined;
};

async function wholeLog(stage: Scene, partner: StagePartner): Promise<PartnerEnd['log']> {
  const log: PartnerEnd['log'] = [];
  let after = 0;
  for (let tries = 0; tries < READ_TRIES;) {
    const page = await readPage(stage.mesh.base_url, partner, { after, wait: 0 });
    if (!page) {
      tries += 1;
      await sleep(READ_AGAIN_MS);
      continue;
    }
    log.push(...page.entries);
    after = page.next;
    if (!page.has_more) return log;
  }
  throw new Error(`failed to read the event log of ${partner.name}`);
}

async function partnerEnd(
  stage: Scene,
  partner: StagePartner,
  traffic: Traffic,
): Promise<PartnerEnd> {
  const from = new Date(Date.now() - DAY_MS).toISOString().slice(0, 10);
  return {
    name: partner.name,
    numbers: partner.stays ? [partner.number.phone_number_id] : [],
    wabas: [partner.number.waba_id],
    receiver: partner.receiver ? (partner.is_faulty ? 'faulty' : 'healthy') : null,
    live_log: traffic.live_logs.get(partner.name) ?? [],
    log: await wholeLog(stage, partner),
    failed_events: await all(stage, partner, {
      path: `/webhooks/failed?limit=${PAGE}`,
      items: (body) => body.events.map(({ event_id }: { event_id: string }) => event_id),
      next: cursorOf,
    }),
    messages: await all(stage, partner, {
      path: `/messages?limit=${PAGE}`,
      items: (body) =>
        body.messages.map(({ message_id, status }: PartnerEnd['messages'][number]) => ({
          message_id,
          status,
        })),
      next: cursorOf,
    }),
    ledger: await all(stage, partner, {
      path: `/usage/ledger?from=${from}&limit=${PAGE}`,
      items: (body) => body.entries.map(({ message_id }: { message_id: string }) => message_id),
      next: ({ next }) => (next ? `after=${encodeURIComponent(next)}` : null),
    }),
  };
}

async function broadcastsOf(stage: Scene, traffic: Traffic): Promise<Broadcast[]> {
  const partner = stage.partners.find(({ name }) => name === 'broadcaster') as StagePartner;
  const found: Array<{ id: number; name: string }> = [];
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const { broadcasts, total } = await get(
      stage,
      partner,
      `/broadcasts?limit=${PAGE}&offset=${found.length}`,
    );
    found.push(...broadcasts);
    if (found.length >= total || broadcasts.length === 0) break;
  }
  return Promise.all(
    found.map(async ({ id: broadcast_id, name }) => {
      const { broadcast } = await get(stage, partner, `/broadcasts/${broadcast_id}`);
      const { status, total, sent, failed } = broadcast as Broadcast;
      const contacts = traffic.broadcasts.get(name) ?? [];
      return { broadcast_id, name, status, total, sent, failed, contacts };
    }),
  );
}

/**
 * Lines of the processes' logs that hold a secret. The emulator stands for the upstream, which may
 * log its own.
 */
async function scanLogs(stage: Scene): Promise<Pick<History, 'leaks' | 'log_lines'>> {
  const secrets = [
    TEXT,
    ...APP_SECRETS,
    String(stage.mesh.env['KEY_PEPPER']),
    ...stage.partners.flatMap(({ keys, secrets: own, number }) => [
      ...keys,
      ...own,
      number.access_token,
    ]),
  ];
  const leaks: string[] = [];
  let log_lines = 0;
  const files = readdirSync(stage.mesh.dir).filter(
    (name) => name.endsWith('.log') && name !== 'emulator.log',
  );
  for (const file of files) {
    const lines = createInterface({ input: createReadStream(join(stage.mesh.dir, file)) });
    for await (const line of lines) {
      log_lines += 1;
      const secret = secrets.find((one) => line.includes(one)) ?? CUSTOMER.exec(line)?.[0];
      if (secret) leaks.push(`${file}: ${line.replaceAll(secret, '[secret]').slice(0, 500)}`);
    }
  }
  return { leaks, log_lines };
}

/** Observes the mesh after everything has settled. */
export type Finish = () => Promise<Pick<History, 'uncommitted' | 'posted_again'>>;

export type Collected = Awaited<ReturnType<typeof collect>>;

/** Retries what receivers have refused, and reads everything until no promise is open any more. */
export async function collect(
  stage: Scene,
  traffic: Traffic,
  { spans, unhealthy }: { spans: FaultSpan[]; unhealthy: string | null },
  finish?: Finish,
) {
  const began = stage.now();
  const finished = async (settled: History) => {
    const settled_ms = stage.now() - began;
    const history = { ...settled, ...(await finish?.()) };
    return { history, verdicts: checkHistory(history), settled_ms };
  };
  await stage.mesh.emulator.settled(ALL_SETTLED_MS);
  let last = '';
  let unchanged_since = stage.now();
  for (;;) {
    const with_receiver = stage.partners.filter(({ receiver }) => receiver !== null);
    for (const partner of with_receiver) {
      await ask(stage.mesh.base_url, partner.key, { method: 'POST', path: '/webhooks/retry-all' });
    }
    await sleep(LOOK_EVERY_MS);
    const upstream = await stage.mesh.emulator.messages({ limit: MESSAGES_MAX });
    const history: History = {
      sends: traffic.sends,
      changes: traffic.changes,
      status_reads: traffic.status_reads,
      upstream: upstream.map(({ id, to }) => ({ id, to: String(to) })),
      webhooks: stage.webhooks,
      conversations: traffic.conversations,
      arrivals: stage.arrivals,
      partners: [],
      broadcasts: await broadcastsOf(stage, traffic),
      ...(await scanLogs(stage)),
      faults: spans,
      uncommitted: null,
      posted_again: null,
      unhealthy,
    };
    for (const partner of stage.partners) {
      history.partners.push(await partnerEnd(stage, partner, traffic));
    }
    const verdicts = checkHistory(history);
    const violations = verdicts.flatMap((one) => one.violations);
    const waiting = history.partners.reduce((sum, one) => sum + one.failed_events.length, 0);
    if (violations.length === 0 && waiting === 0) {
      return finished(history);
    }
    const shown = `${violations.join()} ${waiting}`;
    if (shown !== last) [last, unchanged_since] = [shown, stage.now()];
    if (stage.now() - began > SETTLE_MS || stage.now() - unchanged_since > UNCHANGED_MS) {
      return finished(history);
    }
  }
}

/** Restarts what posts events; what a receiver had accepted before must not come again. */
export const restartQuietly =
  (stage: Stage): Finish =>
  async () => {
    const { mesh, arrivals } = stage;
    const place = {
      brokers: mesh.settings['KAFKA_BROKERS'] as string,
      prefix: String(mesh.env['KAFKA_TOPIC_PREFIX']),
    };
    const behind = await uncommitted(place, COMMIT_LIMIT_MS);
    const keyOf = (one: { partner: string; event_id: string }): string =>
      `${one.event_id} to ${one.partner}`;
    const accepted = new Set(arrivals.filter(({ answered }) => answered === 200).map(keyOf));
    const before = arrivals.length;
    for (const name of ['fanout', 'webhooks'] as const) {
      await mesh.terminate(name);
      await mesh.start(name);
    }
    await sleep(QUIET_MS);
    const again = arrivals.slice(before).map(keyOf);
    return { uncommitted: behind, posted_again: again.filter((key) => accepted.has(key)) };
  };
