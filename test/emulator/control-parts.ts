// A route of the control interface, with the fields of its body.
import type { Core } from './core';
import { ControlError, read, type Fields, type Input } from './readers';
import type { Account, BusinessNumber, JsonObject } from './types';

export * from './readers';

export interface ControlCall {
  core: Core;
  /** Path segments after `/control`. */
  parts: readonly string[];
  query: URLSearchParams;
}

export interface ControlRoute {
  method: string;
  /** Relative to `/control/`; `*` matches one segment. */
  path: string;
  status: number;
  handle: (call: ControlCall, body: JsonObject) => JsonObject | Promise<JsonObject>;
}

/** `row`: `METHOD path`. */
export function route<F extends Fields>(
  row: string,
  fields: F,
  handler: (call: ControlCall, input: Input<F>) => JsonObject | Promise<JsonObject>,
  status = 200,
): ControlRoute {
  const [method = '', path = ''] = row.split(' ');
  const handle: ControlRoute['handle'] = (call, body) => handler(call, read(fields, body));
  return { method, path, status, handle };
}

export function theNumber({ core }: ControlCall, id: string | undefined): BusinessNumber {
  const found = id === undefined ? undefined : core.state.numbers.get(id);
  if (!found) throw new ControlError(404, `phone_number_id ${id ?? '(missing)'} does not exist`);
  return found;
}

export function theAccount({ core }: ControlCall, id: string | undefined): Account {
  const found = id === undefined ? undefined : core.state.accounts.get(id);
  if (!found) throw new ControlError(404, `waba_id ${id ?? '(missing)'} does not exist`);
  return found;
}
