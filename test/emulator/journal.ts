// Records every request and every accepted send, for tests. Both logs are rings of a fixed size;
// the totals stay exact after a ring has dropped its oldest entries.
import type { IncomingHttpHeaders } from 'node:http';
import type { SentMessage } from './types';

/** Longer bodies are recorded by size and hash only. */
export const BODY_LOG_MAX_BYTES = 16 * 1024;
const REQUESTS_MAX = 10_000;
const MESSAGES_MAX = 200_000;
const RECIPIENTS_MAX = 1_000_000;
const SECONDS_MAX = 3600;
const LOGGED_HEADERS = [
  'content-type',
  'content-length',
  'user-agent',
  'traceparent',
  'file_offset',
  'x-request-id',
];
const SECRET_PARAMETERS = ['access_token', 'client_secret', 'input_token', 'appsecret_proof'];

export class Ring<T extends { seq: number }> {
  private items: T[] = [];
  private next = 0;
  private seq = 0;

  constructor(private readonly size_max: number) {}

  nextSeq(): number {
    this.seq += 1;
    return this.seq;
  }

  /** Returns the entry that made room, if any. */
  add(item: T): T | undefined {
    const dropped = this.items[this.next];
    if (this.items.length < this.size_max) this.items.push(item);
    else this.items[this.next] = item;
    this.next = (this.next + 1) % this.size_max;
    return dropped;
  }

  /** Oldest first. */
  *walk(): Generator<T> {
    const wrapped = this.items.length === this.size_max ? this.next : 0;
    for (let i = 0; i < this.items.length; i += 1) {
      yield this.items[(wrapped + i) % this.items.length] as T;
    }
  }

  get size(): number {
    return this.items.length;
  }

  get last_seq(): number {
    return this.seq;
  }

  clear(): void {
    this.items = [];
    this.next = 0;
  }
}

export interface LargeBody {
  size: number;
  sha256: string;
  [detail: string]: unknown;
}

export interface RequestEntry {
  seq: number;
  time: number;
  method: string;
  path: string;
  query: string;
  authorization: string | undefined;
  headers: IncomingHttpHeaders;
  /** The text of a small body; size and hash of a large one. */
  body: string | LargeBody | null;
  status: number | null;
  duration_ms: number | null;
  fault: string | null;
}

export class Journal {
  readonly requests = new Ring<RequestEntry>(REQUESTS_MAX);
  readonly messages = new Ring<SentMessage>(MESSAGES_MAX);
  private readonly by_id = new Map<string, SentMessage>();
  private total = 0;
  private readonly recipients = new Map<string, number>();
  private readonly seconds = new Map<number, number>();

  addMessage(message: SentMessage): void {
    const dropped = this.messages.add(message);
    if (dropped) this.by_id.delete(dropped.id);
    this.by_id.set(message.id, message);
    this.total += 1;
    const peer = message.wa_id ?? message.user_id ?? '';
    if (this.recipients.size < RECIPIENTS_MAX || this.recipients.has(peer)) {
      increment(this.recipients, peer);
    }
    increment(this.seconds, Math.floor(message.time / 1000));
    const [oldest] = this.seconds.keys();
    if (this.seconds.size > SECONDS_MAX) this.seconds.delete(oldest as number);
  }

  summary() {
    const sends = [...this.recipients.values()];
    return {
      total: this.total,
      distinct_recipients: sends.length,
      max_sends_to_one_recipient: sends.reduce((max, count) => Math.max(max, count), 0),
      /** Epoch second → accepted sends. */
      per_second: Object.fromEntries(this.seconds) as Record<string, number>,
    };
  }

  messageById(id: string): SentMessage | undefined {
    return this.by_id.get(id);
  }

  clear(): void {
    this.requests.clear();
    this.messages.clear();
    this.by_id.clear();
    this.total = 0;
    this.recipients.clear();
    this.seconds.clear();
  }
}

function increment<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

export function showRequest({ authorization, ...entry }: RequestEntry) {
  const headers: Record<string, string> = {};
  for (const name of LOGGED_HEADERS) {
    const value = entry.headers[name];
    if (value !== undefined) headers[name] = String(value);
  }
  if (authorization) headers['authorization'] = maskAuthorization(authorization);
  return {
    ...entry,
    time: new Date(entry.time).toISOString(),
    query: showQuery(entry.query),
    headers,
    body: typeof entry.body === 'string' ? parsed(entry.body) : (entry.body as any),
  };
}

/** Keeps the scheme and the last four characters, enough to distinguish two tokens. */
function maskAuthorization(value: string): string {
  const space = value.indexOf(' ');
  const scheme = space > 0 ? `${value.slice(0, space)} ` : '';
  return `${scheme}…${value.slice(-4)}`;
}

function showQuery(text: string): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(text)) {
    shown[name] = SECRET_PARAMETERS.includes(name) ? `…${value.slice(-4)}` : value;
  }
  return shown;
}

/** Any: tests read arbitrary bodies. */
function parsed(text: string): any {
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** `raw` is the text of the body, with every digit of its numbers. */
export function showMessage(message: SentMessage) {
  const { seq, id, waba_id, phone_number_id, to, recipient, wa_id, user_id, type, raw } = message;
  return {
    ...{ seq, id, waba_id, phone_number_id, to, recipient, wa_id, user_id, type, raw },
    body: parsed(raw),
    biz_opaque_callback_data: message.biz_opaque_callback_data,
    time: new Date(message.time).toISOString(),
  };
}
