// The resources of a request until the socket has taken its answer: its places in pools, and the
// bytes of the answer. So a client that sends requests and does not read the answers uses up its
// own share only.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { Context } from 'koa';
import { watchMinimumRate } from '@bmg/common/overload';
import { stringify } from '../endpoints/parts/json-text';
import type { AnswerLimits } from '../limits/answers';
import type { State } from './state';

/** A larger answer is written in slices, so that its progress shows how fast the client reads. */
const SLICE_BYTES = 16 * 1024;
/** Repeating these is safe, so that an answer without room can be refused after the work too. */
const SAFE_METHODS = new Set(['GET', 'HEAD']);

/** Keeps a place in a pool until the answer is sent. */
export function hold(context: Context, leave: (() => void) | undefined): void {
  const state = context.state as State;
  if (leave) (state.held ??= []).push(leave);
}

/** Gives back the places of the request; the bytes of its answer still count. */
export function releasePlaces(context: Context): void {
  const state = context.state as State;
  for (const leave of state.held ?? []) leave();
  state.held = [];
}

/** Counts and returns the answer's bytes; throws without room if a repeat is safe. */
export function fitAnswer(context: Context, limits: AnswerLimits): number {
  const room = roomOf(context, limits);
  if (context.respond === false) return 0;
  const bytes = encodeBody(context);
  if (SAFE_METHODS.has(context.method)) room.resize(bytes);
  else room.force(bytes);
  return bytes;
}

/** Counts the bytes of an error answer, which is always sent. */
export const countError = (context: Context, limits: AnswerLimits): void =>
  roomOf(context, limits).force(encodeBody(context));

function roomOf(context: Context, limits: AnswerLimits) {
  const state = context.state as State;
  return (state.answer_room ??=
    state.partner_id === undefined
      ? limits.openAnswerRoom(context.ip)
      : limits.answerRoom(state.partner_id));
}

/** Makes JSON of an object, as Koa does later; returns the size of the body. */
function encodeBody(context: Context): number {
  const { body } = context;
  if (body === undefined || body === null || context.method === 'HEAD') return 0;
  if (Buffer.isBuffer(body)) return body.length;
  if (typeof body !== 'string') {
    (context.state as State).answer = body as object;
    context.body = stringify(body as object);
  }
  return Buffer.byteLength(context.body as string);
}

/** The last step of a request: Koa or a stream writes the answer from here on. */
export function holdUntilSent(context: Context): void {
  const state = context.state as State;
  const response = context.res as ServerResponse;
  const isOwn = context.respond !== false;
  if (isOwn) slice(context);
  const stopWatching = isOwn ? evictSlowReader(response) : undefined;
  onceSent(context.req as IncomingMessage, response, () => {
    stopWatching?.();
    releasePlaces(context);
    state.answer_room?.release();
  });
}

function slice(context: Context): void {
  const { body } = context;
  if (context.method === 'HEAD' || (typeof body !== 'string' && !Buffer.isBuffer(body))) return;
  if (body.length <= SLICE_BYTES) return;
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  context.body = Readable.from(slicesOf(bytes));
  context.length = bytes.length;
}

function* slicesOf(bytes: Buffer): Generator<Buffer> {
  for (let from = 0; from < bytes.length; from += SLICE_BYTES) {
    yield bytes.subarray(from, from + SLICE_BYTES);
  }
}

/** Run when a connection closes: answers that wait behind another one emit no event then. */
const unsent = new WeakMap<Socket, Set<() => void>>();

function onceSent({ socket }: IncomingMessage, response: ServerResponse, finish: () => void): void {
  if (response.writableFinished || response.destroyed || socket.destroyed) return finish();
  let of_socket = unsent.get(socket);
  if (!of_socket) {
    const finishes = new Set<() => void>();
    unsent.set(socket, (of_socket = finishes));
    socket.once('close', () => finishes.forEach((each) => each()));
  }
  const all = of_socket;
  all.add(finish);
  response.once('close', () => {
    if (all.delete(finish)) finish();
  });
}

/** Others need the memory and the connection that a client holds which hardly reads. */
const CHECK_EVERY_MS = 15_000;

/** Destroys a response that makes too little progress; returns how to stop watching it. */
export const evictSlowReader = (
  response: ServerResponse,
  check_every_ms = CHECK_EVERY_MS,
): (() => void) => {
  const watch = (): (() => void) =>
    watchMinimumRate(
      check_every_ms,
      () => response.socket?.bytesWritten ?? 0,
      () => response.destroy(new Error('the client reads too slowly')),
    );
  if (response.socket) return watch();
  // Answers to earlier requests of the connection come first.
  let stop = (): void => void response.off('socket', begin);
  const begin = (): void => {
    stop = watch();
  };
  response.once('socket', begin);
  return () => stop();
};
