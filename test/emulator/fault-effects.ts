// Applies the effect of a fault before or after a request is processed.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { Reply } from './core';
import { errorBody, UpstreamError, upstreamError } from './errors';
import { HANG_MAX_MS, type Fault } from './faults';
import { sendJson, sendText } from './http';
import type { JsonObject } from './types';

export interface JsonOutcome {
  status: number;
  json: JsonObject;
}

/** Applies effects that precede processing. Returns false if the request is finished. */
export async function before(
  fault: Fault,
  { request, response }: { request: IncomingMessage; response: ServerResponse },
): Promise<boolean> {
  const { input } = fault;
  switch (fault.effect) {
    case 'delay_ms':
      await wait(input.delay_ms ?? 0, response);
      return !response.destroyed;
    case 'hang':
      request.resume();
      await wait(HANG_MAX_MS, response);
      response.destroy();
      return false;
    case 'drop':
      if (input.drop === 'after') return true;
      response.destroy();
      return false;
    case 'error': {
      request.resume();
      const { code = 131000, status, subcode, message, error_data } = input.error ?? {};
      const error = upstreamError(code, undefined, {
        ...(status !== undefined ? { status } : {}),
        ...(subcode !== undefined ? { subcode } : {}),
        ...(error_data !== undefined ? { data: error_data } : {}),
      });
      const shown = message ? new UpstreamError(code, message, error.status, error.options) : error;
      sendJson(response, error.status, errorBody(shown));
      return false;
    }
    case 'html': {
      request.resume();
      const page = '<html><body><h1>Sorry, something went wrong.</h1></body></html>';
      const headers = { 'content-type': 'text/html; charset=utf-8' };
      sendText(response, input.html?.status ?? 502, page, headers);
      return false;
    }
    case 'truncated':
    case 'empty':
      return true;
  }
}

/**
 * Applies effects on the answer of a processed request. Returns true if it was answered or cut off.
 */
export function after(
  fault: Fault,
  response: ServerResponse,
  outcome: JsonOutcome | Reply,
): boolean {
  if (fault.effect === 'drop') {
    discard(outcome);
    response.destroy();
    return true;
  }
  if (fault.effect === 'empty') {
    discard(outcome);
    sendText(response, 200, '', { 'content-type': 'application/json; charset=UTF-8' });
    return true;
  }
  if (fault.effect !== 'truncated') return false;
  if (outcome instanceof Reply) return cutReply(outcome, response);
  const text = JSON.stringify(outcome.json);
  const half = text.slice(0, Math.ceil(text.length / 2));
  sendText(response, outcome.status, half, { 'content-type': 'application/json; charset=UTF-8' });
  return true;
}

/** A cut binary answer announces its full length and ends inside its first chunk. */
function cutReply(reply: Reply, response: ServerResponse): boolean {
  if (typeof reply.body === 'string' || Buffer.isBuffer(reply.body)) return false;
  response.writeHead(reply.status, reply.headers);
  (reply.body as Readable).once('data', (chunk: Buffer) => {
    response.write(chunk.subarray(0, Math.ceil(chunk.length / 2)), () => response.destroy());
    (reply.body as Readable).destroy();
  });
  return true;
}

function discard(outcome: JsonOutcome | Reply): void {
  if (outcome instanceof Reply && typeof outcome.body !== 'string' && 'destroy' in outcome.body) {
    (outcome.body as Readable).destroy();
  }
}

/** Resolves early when the caller disconnects. */
function wait(ms: number, response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, Math.min(ms, HANG_MAX_MS));
    response.once('close', done);
    function done(): void {
      clearTimeout(timer);
      response.off('close', done);
      resolve();
    }
  });
}
