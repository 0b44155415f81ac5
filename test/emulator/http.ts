// Reads request bodies and writes answers over node:http.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { invalid } from './errors';
import type { JsonObject } from './types';

const JSON_BODY_MAX_BYTES = 4 * 1024 * 1024;

export class BodyTooLarge extends Error {}

export async function readBody(
  request: IncomingMessage,
  size_max = JSON_BODY_MAX_BYTES,
): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > size_max) throw new BodyTooLarge();
    chunks.push(chunk);
  }
  return chunks.length === 1 ? (chunks[0] as Buffer).toString() : Buffer.concat(chunks).toString();
}

const DISCARD_MAX_BYTES = 256 * 1024 * 1024;

/**
 * A body that is read chunk by chunk. Unlike plain iteration, stopping early does not close the
 * connection: the rest can be discarded, so that an answer still reaches the sender.
 */
export class BodySource {
  private readonly iterator: AsyncIterator<Buffer>;

  constructor(request: IncomingMessage) {
    this.iterator = (request as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  }

  async next(): Promise<Buffer | null> {
    const { value, done } = await this.iterator.next();
    return done ? null : (value as Buffer);
  }

  async *bytes(): AsyncGenerator<Buffer> {
    for (let chunk = await this.next(); chunk !== null; chunk = await this.next()) yield chunk;
  }

  async discard(): Promise<void> {
    let left = DISCARD_MAX_BYTES;
    for (let chunk = await this.next(); chunk !== null && left > 0; chunk = await this.next()) {
      left -= chunk.length;
    }
  }
}

/** Parses the parameters of a JSON or form body; an empty body has none. */
export function parseBody(text: string, content_type: string | undefined): JsonObject {
  if (text === '') return {};
  const type = (content_type ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === 'application/x-www-form-urlencoded') return parseForm(text);
  if (type !== 'application/json') {
    throw invalid(`The content type "${type}" of the request body is not supported`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid('The request body is not valid JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid('The request body must be a JSON object');
  }
  return value as JsonObject;
}

function parseForm(text: string): JsonObject {
  const body: JsonObject = {};
  for (const [name, value] of new URLSearchParams(text)) {
    try {
      body[name] = /^[[{]/.test(value) ? JSON.parse(value) : value;
    } catch {
      body[name] = value;
    }
  }
  return body;
}

const JSON_TYPE = 'application/json; charset=UTF-8';

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  sendText(response, status, JSON.stringify(body), { 'content-type': JSON_TYPE, ...headers });
}

export function sendText(
  response: ServerResponse,
  status: number,
  text: string | Buffer,
  headers: Record<string, string>,
): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

export async function sendStream(
  response: ServerResponse,
  status: number,
  source: NodeJS.ReadableStream,
  headers: Record<string, string>,
): Promise<void> {
  response.writeHead(status, headers);
  try {
    await pipeline(source, response);
  } catch {
    // The receiver disconnected during the download: there is no one to answer.
    response.destroy();
  }
}

/** Decodes a path segment; one with invalid escapes stays unchanged. */
export function decodeSegment(part: string): string {
  if (!part.includes('%')) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
