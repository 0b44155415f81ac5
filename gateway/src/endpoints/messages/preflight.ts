// The pre-flight, POST /messages/check: validates the body of a send or of a broadcast as its
// endpoint does. Every reason to refuse the send becomes a fault of the request, because the answer
// lists all problems.
import { ApiError } from '@bmg/common/errors';
import { ContactFaults } from '@bmg/common/messages';
import type { Recipient } from '@bmg/proto/messaging';
import { createRequest } from '../broadcasts/request';
import { createBroadcast } from '../broadcasts/schemas';
import { compile, type Validator } from '../parts/schema';
import type { Endpoint, Fields, Input, Target } from '../endpoint';

interface Fault {
  code: string;
  field: string | undefined;
  message: string;
}

/** Builds the request of a pre-flight from the rows of the send endpoints, by kind. */
export function preflightOf(rows: Readonly<Record<string, Endpoint>>) {
  const validators = new Map<string, Validator>(
    Object.entries(rows).map(([kind, { body = {} }]) => [kind, compile(body, 'body')]),
  );
  return (input: Input<object, object>) => {
    const { kind, ...body } = input.body as Fields & { kind: string };
    const row = rows[kind] as Endpoint;
    const checked = { kind, target: input.target, body };
    try {
      const valid = (validators.get(kind) as Validator)(body);
      const request = row.request?.({ ...input, params: {}, query: {}, body: valid });
      return { ...checked, recipient: (request as { recipient: Recipient }).recipient };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { ...checked, faults: faultsOf(error) };
    }
  };
}

const BROADCAST = 'broadcast';

/** A body without `kind` is a broadcast's. */
export const isBroadcast = ({ kind }: Fields): boolean => kind === undefined || kind === BROADCAST;

export async function preflightOfBroadcast({
  body,
  target,
  approval_above,
}: {
  body: Fields;
  target: Target;
  approval_above?: number | undefined;
}) {
  const { kind: _kind, ...broadcast } = body;
  const faults = new ContactFaults(Infinity);
  try {
    const request = await createRequest({ body: validateBroadcast(broadcast), target }, faults);
    return { ...request, approval_above };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const ofContacts = faults.list().flatMap(faultsOf);
    return { target, faults: ofContacts.length > 0 ? ofContacts : faultsOf(error) };
  }
}

const validateBroadcast = compile(createBroadcast, 'body');

/** One fault for each field that the error names. */
function faultsOf({ code, message, details }: ApiError): Fault[] {
  const { field, fields, also } = (details ?? {}) as {
    field?: string;
    fields?: string[];
    also?: string[];
  };
  const named = fields ?? (field === undefined ? [undefined] : [field]);
  return [
    ...named.map((name) => ({ code, field: name, message })),
    ...(also ?? []).map((name) => ({ code, field: name, message: `${name} is invalid` })),
  ];
}
