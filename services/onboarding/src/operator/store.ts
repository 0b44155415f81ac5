// All stored secrets, for the rotation of the key ring: finds those that an older key wraps and
// replaces them. A secret that changed in the meantime is skipped, because the newest key wraps it
// already.
import type { Collection, Db, Document, Filter } from 'mongodb';
import type { Sealed } from '@bmg/common/vault';
import { CLIENTS, secretIdentity, type Client } from '../ground/clients';
import { CODE_EXCHANGES, type CodeExchange, exchangeTokenIdentity } from '../connect/sign-up';
import { PARTNERS, shadowIdentity, webhookSecretIdentity, type Partner } from '../ground/partners';
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

export interface SealedRecords {
  /** A page of records that another key wraps; `next` is the cursor for the next call. */
  stale(
    key_id: string,
    page: { after?: string | undefined; limit: number },
  ): Promise<{ records: SealedRecord[]; next: string | undefined }>;
  /** False if the record has changed since it was read. */
  replace(record: SealedRecord, sealed: Sealed): Promise<boolean>;
  countStale(key_id: string): Promise<number>;
}

interface Source {
  collection: string;
  stale(key_id: string): Filter<Document>;
  secrets(document: Document): Array<{ identity: string; path: string; sealed: Sealed }>;
}

/** Read in this order; a cursor is `collection:_id`. */
const SOURCES: Source[] = [
  {
    collection: CLIENTS,
    stale: (key_id) => ({
      $or: [
        { 'token.key_id': { $exists: true, $ne: key_id } },
        { 'pin.key_id': { $exists: true, $ne: key_id } },
      ],
    }),
    secrets(document) {
      const client = document as Client;
      return (['token', 'pin'] as const).flatMap((field) => {
        const sealed = client[field];
        return sealed ? [{ identity: secretIdentity(client, field), path: field, sealed }] : [];
      });
    },
  },
  {
    collection: CODE_EXCHANGES,
    stale: (key_id) => ({ 'token.key_id': { $exists: true, $ne: key_id } }),
    secrets(document) {
      const { _id, token } = document as CodeExchange;
      return token ? [{ identity: exchangeTokenIdentity(_id), path: 'token', sealed: token }] : [];
    },
  },
  {
    collection: PARTNERS,
    stale: (key_id) => ({
      $or: [
        { webhook_secrets: { $elemMatch: { 'sealed.key_id': { $ne: key_id } } } },
        { 'shadow.sealed.key_id': { $exists: true, $ne: key_id } },
      ],
    }),
    secrets(document) {
      const { _id, webhook_secrets, shadow } = document as Partner;
      const signing = webhook_secrets.map(({ sealed, created_at }, index) => ({
        identity: webhookSecretIdentity(_id, created_at),
        path: `webhook_secrets.${index}.sealed`,
        sealed,
      }));
      const of_shadow = shadow && {
        identity: shadowIdentity(_id, shadow.id),
        path: 'shadow.sealed',
        sealed: shadow.sealed,
      };
      return [...signing, ...(of_shadow ? [of_shadow] : [])];
    },
  },
  {
    collection: WEBHOOK_ENDPOINTS,
    stale: (key_id) => ({
      $or: [
        { 'headers.key_id': { $exists: true, $ne: key_id } },
        { 'destination.credentials.key_id': { $exists: true, $ne: key_id } },
        { secrets: { $elemMatch: { 'sealed.key_id': { $ne: key_id } } } },
      ],
    }),
    secrets(document) {
      const { _id, secrets, headers, destination } = document as WebhookEndpoint;
      const signing = secrets.map(({ sealed, created_at }, index) => ({
        identity: endpointSecretIdentity(_id, created_at),
        path: `secrets.${index}.sealed`,
        sealed,
      }));
      const sent = headers && {
        identity: endpointHeadersIdentity(_id),
        path: 'headers',
        sealed: headers,
      };
      const credentials = destination?.credentials && {
        identity: endpointDestinationIdentity(_id),
        path: 'destination.credentials',
        sealed: destination.credentials,
      };
      return [...signing, ...(sent ? [sent] : []), ...(credentials ? [credentials] : [])];
    },
  },
];

export function createSealedRecords(db: Db): SealedRecords {
  const open = (name: string): Collection<{ _id: string }> => db.collection(name);
  return {
    async stale(key_id, { after, limit }) {
      const [start, place] = startOf(after);
      for (const [index, source] of SOURCES.entries()) {
        if (index < start) continue;
        const behind = index === start && place !== undefined ? { _id: { $gt: place } } : {};
        const found = (await open(source.collection)
          .find({ ...source.stale(key_id), ...behind } as Filter<{ _id: string }>)
          .sort({ _id: 1 })
          .limit(limit)
          .toArray()) as Array<{ _id: string }>;
        const last = found.at(-1);
        if (!last) continue;
        const records = found.flatMap((document) =>
          source
            .secrets(document)
            .filter(({ sealed }) => sealed.key_id !== key_id)
            .map((secret) => ({ ...secret, collection: source.collection, _id: document._id })),
        );
        return { records, next: `${source.collection}:${last._id}` };
      }
      return { records: [], next: undefined };
    },
    async replace({ collection, _id, path, sealed: old }, sealed) {
      const { matchedCount } = await open(collection).updateOne(
        { _id, [`${path}.wrapped_key`]: old.wrapped_key } as Filter<{ _id: string }>,
        { $set: { [path]: sealed } as object },
      );
      return matchedCount === 1;
    },
    async countStale(key_id) {
      const counts = await Promise.all(
        SOURCES.map(({ collection, stale }) =>
          open(collection).countDocuments(stale(key_id) as Filter<{ _id: string }>),
        ),
      );
      return counts.reduce((total, count) => total + count, 0);
    },
  };
}

/**
 * The source and ID that a cursor names. An unknown cursor starts from the beginning, which is
 * harmless.
 */
function startOf(after: string | undefined): [number, string | undefined] {
  const [, name, place] = /^([^:]+):(.*)$/s.exec(after ?? '') ?? [];
  const index = SOURCES.findIndex(({ collection }) => collection === name);
  return index === -1 ? [0, undefined] : [index, place];
}
