// One connector process as the service sees it: hands calls over, takes the replies, and kills the
// process when it grows, hangs or breaks the protocol.
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { ConnectorReply, ConnectorRequest } from '@bmg/proto/destinations';
import { frameOf, readFrames, REPLY_MAX_BYTES } from './frames';

export interface ConnectorLimits {
  memory_bytes: number;
  /** A connector that uses CPU for a part of this time without a reply is killed. */
  silence_ms: number;
  /** The connector's own limits end every call earlier. */
  call_ms: number;
}

export const LIMITS: ConnectorLimits = {
  memory_bytes: 192 * 1024 * 1024,
  silence_ms: 10_000,
  call_ms: 20_000,
};
const SILENT_CPU_SHARE = 0.1;
const PING_EVERY_MS = 2_000;
/** An ending connector is killed after this time. */
const END_LIMIT_MS = 3_000;

export type Work = Pick<Partial<ConnectorRequest>, 'send' | 'check'>;

/** What a call weighs in the window of its connector. */
export interface Size {
  events: number;
  bytes: number;
}

interface Open {
  since: number;
  size: Size;
  settle(reply: ConnectorReply | undefined): void;
}

export class Connector {
  readonly started_at = performance.now();
  /** The reason why it ended; null after a regular end. */
  readonly ended: Promise<string | null>;
  readonly in_flight: Size = { events: 0, bytes: 0 };
  private readonly open = new Map<number, Open>();
  private next_call = 1;
  private reason: string | null | undefined;
  /** Unknown until it has started, which may take long on a busy machine. */
  private heard_at: number | undefined;
  private pinged_at = performance.now();
  /** CPU time at the last reply. */
  private cpu_ms = 0;

  constructor(
    private readonly child: ChildProcess,
    private readonly limits: ConnectorLimits = LIMITS,
  ) {
    this.ended = new Promise((resolve) => {
      child.once('error', () => this.end_with('could not be started', resolve));
      child.once('exit', (code, signal) =>
        this.end_with(`ended with ${signal ?? `code ${code}`}`, resolve),
      );
    });
    // A broken pipe: the process has ended, or will be killed for its silence.
    child.stdin?.on('error', () => undefined);
    const replies = child.stdio[3] as Readable;
    replies.on('error', () => undefined);
    const broken = (): void => this.kill('broke the protocol of its replies');
    readFrames(
      replies,
      REPLY_MAX_BYTES,
      (bytes) => {
        try {
          this.take(ConnectorReply.decode(bytes));
        } catch {
          broken();
        }
      },
      broken,
    );
    this.write({ call: 0 });
  }

  get is_idle(): boolean {
    return this.open.size === 0;
  }

  /** The reply; undefined if the process ended before it. */
  call(work: Work, size: Size): Promise<ConnectorReply | undefined> {
    const call = this.next_call;
    this.next_call += 1;
    if (this.is_idle && this.heard_at !== undefined) this.hear();
    this.in_flight.events += size.events;
    this.in_flight.bytes += size.bytes;
    return new Promise((settle) => {
      this.open.set(call, { since: performance.now(), size, settle });
      this.write({ call, ...work });
    });
  }

  /** Ends once the calls in flight have their replies, or after a short time. */
  end(): void {
    this.reason ??= null;
    this.child.stdin?.end();
    setTimeout(() => this.child.kill('SIGKILL'), END_LIMIT_MS).unref();
  }

  kill(reason: string): void {
    this.reason ??= reason;
    this.child.kill('SIGKILL');
  }

  /** Called several times a second. Kills the process if it is over its bounds. */
  watch(): void {
    const { pid } = this.child;
    if (pid === undefined || this.reason !== undefined) return;
    const bytes = residentBytes(pid);
    const { memory_bytes, silence_ms, call_ms } = this.limits;
    if (bytes !== undefined && bytes > memory_bytes) {
      return this.kill(`used more than ${memory_bytes / 1024 / 1024} MiB of memory`);
    }
    const [oldest] = this.open.values();
    if (oldest === undefined) return;
    const now = performance.now();
    const silent_ms = now - (this.heard_at ?? now);
    const used_ms = (cpuTimeMs(pid) ?? 0) - this.cpu_ms;
    const is_busy = used_ms >= silent_ms * SILENT_CPU_SHARE;
    if ((silent_ms >= silence_ms && is_busy) || now - oldest.since >= call_ms) {
      return this.kill('stopped responding');
    }
    if (now - this.pinged_at >= PING_EVERY_MS) {
      this.pinged_at = now;
      this.write({ call: 0 });
    }
  }

  private write(request: { call: number } & Work): void {
    const message = ConnectorRequest.encode(ConnectorRequest.fromPartial(request)).finish();
    this.child.stdin?.write(frameOf(message));
  }

  private hear(): void {
    this.heard_at = performance.now();
    this.cpu_ms = cpuTimeMs(this.child.pid ?? 0) ?? 0;
  }

  private take(reply: ConnectorReply): void {
    this.hear();
    const open = this.open.get(reply.call);
    if (open === undefined) return;
    this.settle(reply.call, open, reply);
  }

  private settle(call: number, { size, settle }: Open, reply: ConnectorReply | undefined): void {
    this.open.delete(call);
    this.in_flight.events -= size.events;
    this.in_flight.bytes -= size.bytes;
    settle(reply);
  }

  private end_with(found: string, resolve: (reason: string | null) => void): void {
    const reason = this.reason === undefined ? found : this.reason;
    this.reason = reason;
    // First, so that the calls that fail below find the connector ended.
    resolve(reason);
    for (const [call, open] of this.open) this.settle(call, open, undefined);
  }
}

const PAGE_BYTES = 4_096;
/** Linux reports CPU time in this unit on all architectures that we run on. */
const TICK_MS = 10;
/** Fields of /proc/<pid>/stat after the command's name, which may hold spaces. */
const USER_TICKS = 11;
const SYSTEM_TICKS = 12;

/** Linux reports this; undefined elsewhere, or once the process has ended. */
const read = (pid: number, name: string): string | undefined => {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return undefined;
  }
};

function residentBytes(pid: number): number | undefined {
  const pages = read(pid, 'statm')?.split(' ')[1];
  return pages === undefined ? undefined : Number(pages) * PAGE_BYTES;
}

function cpuTimeMs(pid: number): number | undefined {
  const stat = read(pid, 'stat');
  if (stat === undefined) return undefined;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[USER_TICKS]) + Number(fields[SYSTEM_TICKS])) * TICK_MS;
}
