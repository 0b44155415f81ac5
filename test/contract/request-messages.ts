// Builds requests from schemas and the gRPC messages that services receive for them.
import type { Codec } from '@bmg/common/rpc';
import type { Endpoint, Fields, Input } from '../../gateway/src/endpoints/endpoint';
import type { Schema } from '../../gateway/src/endpoints/parts/schema';

export interface Sample {
  field: string;
  kind: 'body' | 'query';
  with: Fields;
  without: Fields;
}

/** Values of fields whose rules go beyond their schema. */
const SPECIAL: Record<string, unknown> = {
  context: { message_id: 'wamid.QUOTED' },
  context_message_id: 'wamid.QUOTED',
  reply_to: 'wamid.QUOTED',
  from: '2026-09-01',
  to: '15550100999',
  user_id: 'US.4Qm7Zr81Kd99',
  recipient: 'US.4Qm7Zr81Kd99',
  scheduled_at: '2099-01-01T00:00:00Z',
  expires_at: '2099-02-01T00:00:00Z',
  contacts: [{ recipient: '15550100999', params: { '1': 'Bo' } }],
  access_token: 'ANOTHER-TOKEN',
};
const SPECIAL_BY_ROW: Record<string, Record<string, unknown>> = {
  getUsage: { to: '2026-09-02' },
  getLedger: { to: '2026-09-02' },
  replayEvents: { from: '2026-09-02T00:00:00Z', to: '2026-09-03T00:00:00Z' },
  listAuditRecords: { from: '2026-09-01T00:00:00Z', to: '2026-09-02T00:00:00Z' },
  listEvents: { from: '2026-09-01T00:00:00Z', to: '2026-09-02T00:00:00Z' },
};

const NUMBER_MARGIN = 1;

/** Returns a valid value that differs from the default and from the current value. */
function valueFor(field: string, schema: Schema, endpoint: Endpoint, present?: unknown): unknown {
  const special = { ...SPECIAL, ...SPECIAL_BY_ROW[endpoint.rpc.method] };
  if (field in special) return special[field];
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum.find((one) => one !== schema.default && one !== present);
  if (schema.pattern === '^[0-9]{6}$') return '654321';
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case 'integer':
    case 'number':
      return ((schema.default as number | undefined) ?? schema.minimum ?? 0) + NUMBER_MARGIN;
    case 'boolean':
      return present !== true;
    case 'array':
      return [valueFor('', schema.items ?? { type: 'object' }, endpoint)];
    case 'object':
      return objectFor(schema, endpoint);
    case undefined:
    default:
      return schema.errorMessage?.includes('URL') ? 'https://example.org/sample' : 'sample-1';
  }
}

function objectFor({ properties }: Schema, endpoint: Endpoint): Fields {
  if (!properties) return { key: 'sample' };
  return Object.fromEntries(
    Object.entries(properties).map(([name, inner]) => [name, valueFor(name, inner, endpoint)]),
  );
}

/** Yields one sample for each property in the row's schemas. */
export function* samples(endpoint: Endpoint): Generator<Sample> {
  for (const kind of ['query', 'body'] as const) {
    const schema = endpoint[kind];
    const base: Fields = kind === 'body' ? { ...endpoint.example } : {};
    for (const [field, property] of Object.entries(schema?.properties ?? {})) {
      const value = valueFor(field, property, endpoint, base[field]);
      const { [field]: _left, ...others } = base;
      // A phone number wins over a BSUID, so the alias is tested by itself.
      if (schema?.requiredOneOf?.includes(field)) delete others['to'];
      const without = kind === 'body' && field in base ? base : others;
      yield { field, kind, with: { ...others, [field]: value }, without };
    }
  }
}

export async function requestOf(endpoint: Endpoint, fields: Fields): Promise<object> {
  const input: Input = {
    partner_id: 'ptn_1',
    base_url: 'https://gateway.test/v1',
    params: Object.fromEntries(
      [...endpoint.path.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, '7']),
    ),
    query: endpoint.query ? fields : {},
    body: endpoint.body ? fields : {},
    target: {
      partner_id: 'ptn_1',
      waba_id: '900000000000001',
      phone_number_id: '800000000000001',
      directory_version: '1',
    },
    waba_id: undefined,
  };
  return (await endpoint.request?.(input)) ?? {};
}

/** Encodes and decodes the message, which yields the service's view of it. */
export function messageOf({ rpc }: Endpoint, request: object): unknown {
  const { requestType } = rpc.codecs as { requestType: Codec<object> };
  return requestType.decode(requestType.encode(requestType.fromPartial(request)).finish());
}
