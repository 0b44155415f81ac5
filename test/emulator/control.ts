// The control interface: routes each request to its handler in control-*.ts.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { controlBehaviourRoutes } from './control-behaviour';
import { controlLogRoutes } from './control-logs';
import { bad, ControlError } from './control-parts';
import { controlObjectRoutes } from './control-objects';
import { controlTrafficRoutes } from './control-traffic';
import { controlWorldRoutes } from './control-world';
import type { Core } from './core';
import { BodyTooLarge, decodeSegment, readBody, sendJson } from './http';
import { isObject } from './operations/parameters';
import type { JsonObject } from './types';

/** Enough for a webhook of three megabytes as an escaped JSON string. */
const CONTROL_BODY_MAX_BYTES = 16 * 1024 * 1024;

const table = [
  ...controlWorldRoutes,
  ...controlObjectRoutes,
  ...controlTrafficRoutes,
  ...controlBehaviourRoutes,
  ...controlLogRoutes,
];

export async function handleControl(
  core: Core,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  query: string,
): Promise<void> {
  const method = request.method ?? 'GET';
  const parts = path.split('/').slice(2).map(decodeSegment);
  const found = table.find((route) => route.method === method && fits(route.path, parts));
  if (!found) {
    const known = table.map((route) => `${route.method} /control/${route.path}`);
    return sendJson(response, 404, { error: `There is no ${method} ${path}`, known });
  }
  try {
    const body = parse(await readBody(request, CONTROL_BODY_MAX_BYTES));
    const call = { core, parts, query: new URLSearchParams(query) };
    sendJson(response, found.status, await found.handle(call, body));
  } catch (error) {
    if (error instanceof BodyTooLarge) return sendJson(response, 413, { error: 'Body too large' });
    if (!(error instanceof ControlError)) throw error;
    sendJson(response, error.status, { error: error.message });
  }
}

function fits(pattern: string, parts: readonly string[]): boolean {
  const wanted = pattern.split('/');
  return (
    wanted.length === parts.length &&
    wanted.every((part, index) => part === '*' || part === parts[index])
  );
}

function parse(text: string): JsonObject {
  if (text.trim() === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw bad('The body is not valid JSON');
  }
  if (!isObject(value)) throw bad('The body must be a JSON object');
  return value;
}
