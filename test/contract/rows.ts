// Rows of the endpoint table, as unit tests use them: without a gateway around them.
import { endpoints } from '../../gateway/src/endpoints';
import type { Endpoint, Fields, Input } from '../../gateway/src/endpoints/endpoint';
import { compile } from '../../gateway/src/endpoints/parts/schema';

export const TARGET = {
  partner_id: 'ptn_1',
  waba_id: '900',
  phone_number_id: '800',
  directory_version: '',
};

/** The row of a verb and a path, such as `POST /keys/:key_id/rotate`. */
export function rowOf(name: string): Endpoint {
  const found = endpoints.find(({ verb, path }) => `${verb} ${path}` === name);
  if (!found) throw new Error(`no row ${name}`);
  return found;
}

/** The input of a row's functions, with these changes. */
export const inputOf = (change: object = {}): Input => ({
  partner_id: 'ptn_1',
  base_url: 'https://gateway.example.com/v1',
  params: {},
  query: {},
  body: {},
  target: TARGET,
  waba_id: undefined,
  ...change,
});

/** The query of a GET, or the body of any other row, as its schema takes it. Throws ApiError. */
export function taken(name: string, value: object): Fields {
  const { verb, query = {}, body = {} } = rowOf(name);
  return verb === 'GET' ? compile(query, 'query')(value) : compile(body, 'body')(value);
}

/** The request of the row's RPC. */
export const requestOf = (name: string, change: object = {}): Fields =>
  rowOf(name).request?.(inputOf(change)) as Fields;

/** The answer to a reply of the row's RPC. */
export const replyOf = (name: string, reply: object, change: object = {}): Fields =>
  rowOf(name).reply?.(reply, inputOf(change)) as Fields;
