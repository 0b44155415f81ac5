// The connectors of all partners that have destinations: one process for each partner, started on
// demand, few at a time. A partner whose connector dies waits longer and longer for the next one,
// and no other partner waits for it.
import type { ChildProcess } from 'node:child_process';
import { createPool } from '@bmg/common/overload';
import type { Component } from '@bmg/common/lifecycle';
import { metrics, type Logger } from '@bmg/common/telemetry';
import type { ConnectorReply } from '@bmg/proto/destinations';
import { Connector, type ConnectorLimits, type Size, type Work } from './connector';

/** Processes at a time. */
export const CONNECTORS_MAX = 8;
export const TIMES = {
  /** A connector without a call for so long ends. */
  idle_ms: 5 * 60_000,
  /** A connector that others wait for keeps its place at least for this time. */
  turn_ms: 2_000,
  watch_every_ms: 250,
  restart_min_ms: 1_000,
};
/** The time from a request to its outcome, with all waiting. */
export const CALL_LIMIT_MS = 10_000;
/** A check has ten seconds in the connector, and before them the time that it takes to start. */
const CHECK_LIMIT_MS = 16_000;
/** Handed to a connector at a time. */
const WINDOW: Size = { events: 500, bytes: 8 * 1024 * 1024 };
/** Waiting for all connectors; a partner has a quarter of them. */
const WAITING_MAX_BYTES = 64 * 1024 * 1024;
const WAITING_SHARE = 1 / 4;
const EVENT_OVERHEAD_BYTES = 1_024;
const RESTART_MAX_MS = 30 * 60_000;
/** A connector that ran for so long is started again at once. */
const SOUND_MS = 10 * 60_000;
const SHUTTING_DOWN = 'destinations are shutting down';

/** The call has no outcome; the text is for the failed list. */
export class ConnectorFailed extends Error {
  override readonly name = 'ConnectorFailed';
}

interface Waiting {
  work: Work;
  size: Size;
  resolve(reply: ConnectorReply): void;
  fail(text: string): void;
}

interface Partner {
  partner_id: string;
  waiting: Waiting[];
  connector?: Connector;
  used_at: number;
  /** Its connector takes no more calls, because others wait for a place. */
  is_yielding: boolean;
  deaths: number;
  /** After a death: the reason, and the time of the next start. */
  down?: { reason: string; until: number };
}

export interface ConnectorsOptions {
  spawn(): ChildProcess;
  log: Logger;
  connectors_max?: number;
  times?: typeof TIMES;
  limits?: ConnectorLimits;
}

export class Connectors implements Component {
  readonly name = 'connectors';
  private readonly partners = new Map<string, Partner>();
  /** Partners that wait for a place, in the order of their arrival. */
  private readonly line = new Set<Partner>();
  private readonly bytes;
  private running = 0;
  private timer: NodeJS.Timeout | undefined;
  private closed = false;
  private readonly times;

  constructor(private readonly options: ConnectorsOptions) {
    this.times = options.times ?? TIMES;
    this.bytes = createPool(
      {
        server: 'destinations',
        reason: 'waiting_bytes',
        holder: 'partner',
        max: WAITING_MAX_BYTES,
        share: WAITING_SHARE,
      },
      options.log,
    );
    // An increase is seen only of a series that exists before.
    for (const outcome of ['ended', 'died']) metrics.destination_connector_ends.inc({ outcome }, 0);
  }

  async start(): Promise<void> {
    this.timer = setInterval(() => this.watch(), this.times.watch_every_ms);
  }

  async stop(): Promise<void> {
    this.closed = true;
    const connectors = [...this.partners.values()].flatMap(({ connector }) => connector ?? []);
    for (const partner of this.partners.values()) this.failAll(partner, SHUTTING_DOWN);
    for (const connector of connectors) connector.end();
    await Promise.all(connectors.map(({ ended }) => ended));
    clearInterval(this.timer);
  }

  /** Has the work done by the partner's connector. Rejects with ConnectorFailed. */
  async run(partner_id: string, work: Work, size: Size): Promise<ConnectorReply> {
    if (this.closed) throw new ConnectorFailed(SHUTTING_DOWN);
    const partner = this.partnerOf(partner_id);
    const { down } = partner;
    if (down && down.until > performance.now()) throw new ConnectorFailed(down.reason);
    const weight = size.bytes + size.events * EVENT_OVERHEAD_BYTES;
    if (!this.bytes.take(partner_id, weight)) throw new ConnectorFailed('too many events waiting');
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise<ConnectorReply>((resolve, reject) => {
        const fail = (text: string): void => reject(new ConnectorFailed(text));
        const one: Waiting = { work, size, resolve, fail };
        const limit_ms = work.check ? CHECK_LIMIT_MS : CALL_LIMIT_MS;
        timer = setTimeout(() => this.expire(partner, one), limit_ms);
        partner.waiting.push(one);
        this.serve(partner);
      });
    } finally {
      clearTimeout(timer);
      this.bytes.give(partner_id, weight);
    }
  }

  private watch(): void {
    const now = performance.now();
    for (const [partner_id, partner] of this.partners) {
      const { connector, waiting, down } = partner;
      connector?.watch();
      const is_unused = waiting.length === 0 && now - partner.used_at >= this.times.idle_ms;
      if (connector?.is_idle && is_unused && !partner.is_yielding) {
        // A call that arrives while it ends waits for the next connector.
        partner.is_yielding = true;
        connector.end();
      }
      const is_forgotten = down === undefined || now - down.until >= RESTART_MAX_MS;
      if (!connector && waiting.length === 0 && is_forgotten) this.partners.delete(partner_id);
    }
    if (this.line.size > 0) this.makeRoom();
  }

  private partnerOf(partner_id: string): Partner {
    let partner = this.partners.get(partner_id);
    if (partner === undefined) {
      partner = { partner_id, waiting: [], used_at: 0, is_yielding: false, deaths: 0 };
      this.partners.set(partner_id, partner);
    }
    return partner;
  }

  /** Hands waiting calls to the partner's connector, within its window. */
  private serve(partner: Partner): void {
    const { connector, waiting } = partner;
    if (waiting.length === 0) return;
    if (!connector) return this.startOrWait(partner);
    while (!partner.is_yielding) {
      const [next] = waiting;
      if (!next || !fits(connector, next.size)) return;
      waiting.shift();
      partner.used_at = performance.now();
      void connector.call(next.work, next.size).then((reply) => {
        if (reply) next.resolve(reply);
        else next.fail(partner.down?.reason ?? 'the connector ended');
        this.settled(partner, connector);
      });
    }
  }

  private settled(partner: Partner, connector: Connector): void {
    if (partner.connector !== connector) return;
    if (partner.is_yielding && connector.is_idle) connector.end();
    else this.serve(partner);
  }

  private startOrWait(partner: Partner): void {
    const { connectors_max = CONNECTORS_MAX } = this.options;
    if (this.running < connectors_max && !this.closed) return this.launch(partner);
    this.line.add(partner);
    metrics.destination_connectors_waiting.set(this.line.size);
    this.makeRoom();
  }

  private launch(partner: Partner): void {
    this.running += 1;
    metrics.destination_connectors.set(this.running);
    const connector = new Connector(this.options.spawn(), this.options.limits);
    partner.connector = connector;
    partner.is_yielding = false;
    void connector.ended.then((reason) => this.ended(partner, connector, reason));
    this.serve(partner);
  }

  /** Ends as many connectors as partners wait: idle ones first, then those whose turn is over. */
  private makeRoom(): void {
    const active = [...this.partners.values()].filter(({ connector }) => connector);
    let missing = this.line.size - active.filter(({ is_yielding }) => is_yielding).length;
    const now = performance.now();
    const candidates = active
      .filter((one) => !one.is_yielding)
      .sort((a, b) => a.used_at - b.used_at);
    const idle = candidates.filter((one) => one.connector?.is_idle && one.waiting.length === 0);
    const over = candidates
      .filter(({ connector }) => connector && now - connector.started_at >= this.times.turn_ms)
      .sort((a, b) => startOf(a) - startOf(b));
    for (const partner of new Set([...idle, ...over])) {
      if (missing <= 0) return;
      missing -= 1;
      partner.is_yielding = true;
      if (partner.connector?.is_idle) partner.connector.end();
    }
  }

  private ended(partner: Partner, connector: Connector, reason: string | null): void {
    this.running -= 1;
    metrics.destination_connectors.set(this.running);
    metrics.destination_connector_ends.inc({ outcome: reason === null ? 'ended' : 'died' });
    delete partner.connector;
    partner.is_yielding = false;
    if (reason !== null) this.died(partner, connector, reason);
    for (const next of this.line) {
      this.line.delete(next);
      metrics.destination_connectors_waiting.set(this.line.size);
      if (next.waiting.length === 0) continue;
      this.launch(next);
      break;
    }
    this.serve(partner);
  }

  private died(partner: Partner, connector: Connector, reason: string): void {
    const now = performance.now();
    if (now - connector.started_at >= SOUND_MS) partner.deaths = 0;
    const wait_ms = Math.min(RESTART_MAX_MS, this.times.restart_min_ms * 2 ** partner.deaths);
    partner.deaths += 1;
    partner.down = { reason: `the connector ${reason}`, until: now + wait_ms };
    this.failAll(partner, partner.down.reason);
    this.options.log.warn({ partner_id: partner.partner_id, reason, wait_ms }, 'a connector ended');
  }

  private failAll({ waiting }: Partner, text: string): void {
    for (const one of waiting.splice(0)) one.fail(text);
  }

  private expire(partner: Partner, one: Waiting): void {
    const at = partner.waiting.indexOf(one);
    if (at !== -1) partner.waiting.splice(at, 1);
    one.fail(at !== -1 && !partner.connector ? 'no connector is free' : 'timeout');
  }
}

const startOf = ({ connector }: Partner): number => connector?.started_at ?? 0;

const fits = ({ in_flight, is_idle }: Connector, { events, bytes }: Size): boolean =>
  is_idle ||
  (in_flight.events + events <= WINDOW.events && in_flight.bytes + bytes <= WINDOW.bytes);
