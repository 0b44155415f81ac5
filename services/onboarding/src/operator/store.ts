// All stored secrets, for the rotation of the key ring: finds those that an older key wraps and
// replaces them. A secret that changed in the meantime is skipped, because the newest key wraps it
// already.
import type { Collection, Db, Document, Filter } from 'mongodb';
import type { Sealed } from '@bmg/common/vault';
import { CLIENTS, secretIdentity, type Client } from '../ground/clients';
import { CODE_EXCHANGES, type CodeExchange, exchangeTokenIdentity } from '../connect/sign-up';
import {
  PARTNERS,
  shadowIdentity,
  webhookSecretIdentity,
  type Partner,
  type WebhookSecret,
} from '../ground/partners';
import {
  endpointDestinationIdentity,
  endpointHeadersIdentity,
  endpointSecretIdentity,
  WEBHOOK_ENDPOINTS,
  type WebhookEndpoint,
} from '../accounts/receivers';

export interface SealedRecord {
  identity: string;
  sealed: Sealed;
  collection: string;
  _id: string;
  /** Path in the document: a field, or an element of the list that holds the secret. */
  path: string;
}

interface Source {
  collection: string;
  /** The identity of the secret at each path. */
  fields: Record<string, (document: any) => string>; // any: each collection has its own documents
  /** The list with the secrets that sign, and the identity of each. */
  signing?: { path: string; identity(_id: string, created_at: Date): string };
}

/** Read in this order; a cursor is `collection:_id`. */
const SOURCES: Source[] = [
  {
    collection: CLIENTS,
    fields: {
      token: (client: Client) => secretIdentity(client, 'token'),
      pin: (client: Client) => secretIdentity(client, 'pin'),
    },
  },
  {
    collection: CODE_EXCHANGES,
    fields: { token: ({ _id }: CodeExchange) => exchangeTokenIdentity(_id) },
  },
  {
    collection: PARTNERS,
    fields: {
      'shadow.sealed': ({ _id, shadow }: Partner) => shadowIdentity(_id, shadow?.id ?? ''),
    },
    signing: { path: 'webhook_secrets', identity: webhookSecretIdentity },
  },
  {
    collection: WEBHOOK_ENDPOINTS,
    fields: {
      headers: ({ _id }: WebhookEndpoint) => endpointHeadersIdentity(_id),
      'destination.credentials': ({ _id }: WebhookEndpoint) => endpointDestinationIdentity(_id),
    },
    signing: { path: 'secrets', identity: endpointSecretIdentity },
  },
];

interface SealedDocument extends Document {
  _id: string;
}

const staleIn = ({ fields, signing }: Source, key_id: string): Filter<SealedDocument> => ({
  $or: [
    ...Object.keys(fields).map((path) => ({
      [`${path}.key_id`]: { $exists: true, $ne: key_id },
    })),
    ...(signing ? [{ [signing.path]: { $elemMatch: { 'sealed.key_id': { $ne: key_id } } } }] : []),
  ],
});

function secretsIn({ collection, fields, signing }: Source, document: SealedDocument) {
  const { _id } = document;
  const secrets = (signing ? document[signing.path] : []) as WebhookSecret[];
  return [
    ...secrets.map(({ sealed, created_at }, index) => ({
      identity: signing?.identity(_id, created_at) ?? '',
      path: `${signing?.path}.${index}.sealed`,
      sealed,
    })),
    ...Object.entries(fields).flatMap(([path, identity]) => {
      const sealed = valueAt(document, path) as Sealed | null | undefined;
      return sealed ? [{ identity: identity(document), path, sealed }] : [];
    }),
  ].map((secret): SealedRecord => ({ ...secret, collection, _id }));
}

const valueAt = (document: Document, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((value, name) => (value as Document | null | undefined)?.[name], document);

export function createSealedRecords(db: Db) {
  const open = (name: string): Collection<SealedDocument> => db.collection(name);
  return {
    /** A page of records that another key wraps; `next` is the cursor for the next call. */
    async stale(key_id: string, { after, limit }: { after?: string | undefined; limit: number }) {
      const [start, place] = startOf(after);
      for (const [index, source] of SOURCES.entries()) {
        if (index < start) continue;
        const behind = index === start && place !== undefined ? { _id: { $gt: place } } : {};
        const found = await open(source.collection)
          .find({ ...staleIn(source, key_id), ...behind }, { sort: { _id: 1 }, limit })
          .toArray();
        const last = found.at(-1);
        if (!last) continue;
        const records = found
          .flatMap((document) => secretsIn(source, document))
          .filter(({ sealed }) => sealed.key_id !== key_id);
        return { records, next: `${source.collection}:${last._id}` };
      }
      return { records: [], next: undefined };
    },
    /** False if the record has changed since it was read. */
    async replace({ collection, _id, path, sealed: old }: SealedRecord, sealed: Sealed) {
      const { matchedCount } = await open(collection).updateOne(
        { _id, [`${path}.wrapped_key`]: old.wrapped_key },
        { $set: { [path]: sealed } },
      );
      return matchedCount === 1;
    },
    async countStale(key_id: string) {
      const counts = await Promise.all(
        SOURCES.map((source) => open(source.collection).countDocuments(staleIn(source, key_id))),
      );
      return counts.reduce((total, count) => total + count, 0);
    },
  };
}

/** The source and ID of a cursor. An unknown one starts from the beginning: harmless. */
function startOf(after: string | undefined): [number, string | undefined] {
  const [, name, place] = /^([^:]+):(.*)$/s.exec(after ?? '') ?? [];
  const index = SOURCES.findIndex(({ collection }) => collection === name);
  return index === -1 ? [0, undefined] : [index, place];
}
