// Setup for tests over the whole endpoint table: new accounts in the emulator, a partner that has
// registered them, files to fetch, and requests built from a row of the table.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Endpoint, Fields } from '../../gateway/src/endpoints/endpoint';
import { exampleOf } from '../../gateway/src/openapi/example';
import { ONE, type Mesh, type SeededNumber, type TestPartner } from '../harness/shared-mesh';

export interface FileServer {
  url: string;
  close(): Promise<void>;
}

/** A person who is signed in to the console (people-support.ts). */
export interface Owner {
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: object,
  ): Promise<Pick<TableAnswer, 'status' | 'headers' | 'body'>>;
}

export interface Stage {
  mesh: Mesh;
  partner: TestPartner;
  files: FileServer;
  /** A number in use in the business app, the usual case. */
  one: SeededNumber;
  /** A number of the cloud API only, with calling and groups enabled. */
  cloud: SeededNumber;
  /** Calls the rows that are for people only; absent in tests of other rows. */
  owner?: Owner;
}

/** A customer who may be called and has just sent a message. */
export const ADA = '15550100777';
const SMALLEST_JPEG = Buffer.from('ffd8ffe000104a46494600010100000100010000ffd9', 'hex');
const RATE = 100_000;

/** Serves a small image under every path. */
export async function startFiles(): Promise<FileServer> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'image/jpeg');
    response.end(SMALLEST_JPEG);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const CALLING_ON = {
  calling: {
    status: 'ENABLED',
    call_icon_visibility: 'DEFAULT',
    callback_permission_status: 'ENABLED',
  },
  storage_configuration: { status: 'DEFAULT' },
};

/** Creates an account with one number in the emulator. */
export async function newAccount(mesh: Mesh, number: Fields = {}): Promise<SeededNumber> {
  const created = await mesh.emulator.createAccount({ numbers: [number] });
  return {
    waba_id: created.waba_id,
    phone_number_id: created.phone_number_ids[0] as string,
    access_token: created.tokens[0] as string,
  };
}

/** Posts the upstream's webhook of an offboarding. */
export async function offboard(mesh: Mesh, { waba_id }: SeededNumber): Promise<void> {
  const time = Math.floor(Date.now() / 1_000);
  const changes = [{ field: 'account_update', value: { event: 'ACCOUNT_OFFBOARDED' } }];
  const entry = [{ id: waba_id, time, changes }];
  await mesh.emulator.postWebhook({ body: { object: 'whatsapp_business_account', entry } });
}

export async function createStage(mesh: Mesh, files: FileServer): Promise<Stage> {
  const partner = await mesh.createPartner({ rate_limit_per_sec: RATE });
  const one = await newAccount(mesh, { is_on_biz_app: true });
  const cloud = await newAccount(mesh, { groups: 'enabled', settings: CALLING_ON });
  for (const number of [one, cloud, ONE]) {
    const { status, body } = await partner.register(number);
    if (status >= 300) throw new Error(`a number was not registered: ${JSON.stringify(body)}`);
  }
  await mesh.emulator.inbound({
    phone_number_id: one.phone_number_id,
    from: ADA,
    text: 'Hi',
    force: true,
  });
  return { mesh, partner, files, one, cloud };
}

/** Overrides of one request; the row and its docs supply the rest. */
export interface Given {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: Fields;
  /** Defaults to the first number of the stage. */
  number?: SeededNumber;
}

export interface TableRequest {
  method: string;
  path: string;
  query: Record<string, string | string[]>;
  body: Fields | undefined;
  headers: Record<string, string>;
  /** Made in the console of the stage's owner, if it has one. */
  person_only: boolean;
}

/** The query fields that every request needs. */
const neededQuery = ({ query }: Endpoint) =>
  (query ? exampleOf(query) : {}) as Record<string, string>;

export function requestOf(endpoint: Endpoint, stage: Stage, given: Given): TableRequest {
  const { params = {}, query = neededQuery(endpoint), number = stage.one } = given;
  const example = endpoint.example;
  return {
    method: endpoint.verb,
    path: endpoint.path.replace(/:(\w+)/g, (_colon, name: string) =>
      encodeURIComponent(params[name] ?? name),
    ),
    query,
    body: endpoint.body ? structuredClone(given.body ?? example ?? {}) : undefined,
    headers: endpoint.scope === 'number' ? { 'x-waba-id': number.waba_id } : {},
    person_only: endpoint.person_only ?? false,
  };
}

export interface TableAnswer {
  status: number;
  headers: Headers;
  type: string;
  text: string;
  /** The parsed JSON; undefined for a file. */
  body: any; // any: tests read arbitrary response bodies
}

/** The console takes twenty requests a second of a partner. */
const TOO_MANY = 429;
const AGAIN_MS = 200;

async function sendAs(
  owner: Owner,
  path: string,
  { method, body, headers }: TableRequest,
): Promise<TableAnswer> {
  for (;;) {
    const answer = await owner.call(method, `/v1${path}`, body, headers);
    if (answer.status === TOO_MANY) {
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      continue;
    }
    const [type = ''] = (answer.headers.get('content-type') ?? '').split(';');
    return { ...answer, type, text: JSON.stringify(answer.body) };
  }
}

export async function send(
  { mesh, partner, owner }: Pick<Stage, 'mesh' | 'partner' | 'owner'>,
  request: TableRequest,
): Promise<TableAnswer> {
  const { method, path, query, body, headers, person_only } = request;
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  );
  const search = new URLSearchParams(pairs).toString();
  if (person_only && owner) return sendAs(owner, `${path}${search && `?${search}`}`, request);
  const answer = await fetch(`${mesh.base_url}${path}${search && `?${search}`}`, {
    method,
    headers: {
      'x-partner-key': partner.partner_key,
      ...(body && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const { headers: found } = answer;
  // A file that ends early has an answer all the same: its headers.
  const text = await answer.text().catch((error: Error) => {
    throw Object.assign(error, { headers: found });
  });
  const type = (answer.headers.get('content-type') ?? '').split(';')[0] ?? '';
  return {
    status: answer.status,
    headers: answer.headers,
    type,
    text,
    body: type === 'application/json' ? JSON.parse(text) : undefined,
  };
}

/** Above every sequence number, so that the answer holds no requests. */
const NO_ENTRY = 2 ** 40;

/** Sequence number of the last request that the emulator received. */
export async function lastSeq({ emulator }: Mesh): Promise<number> {
  const answer = await fetch(`${emulator.url}/control/requests?since=${NO_ENTRY}&limit=1`);
  return ((await answer.json()) as { last_seq: number }).last_seq;
}
