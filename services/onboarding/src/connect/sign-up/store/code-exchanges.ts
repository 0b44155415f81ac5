// Code exchanges: the outcome of each sign-up code. A code buys one token and expires within
// seconds, so the token is stored, sealed, until the client is registered: a retry after a crash
// continues from there. A short lease lets one worker at a time process a code.
import type { Collection, Db, IndexDescription } from 'mongodb';
import { isDuplicateKey } from '@bmg/common/mongo';
import { defineMachine } from '@bmg/common/state';
import type { Sealed } from '@bmg/common/vault';
import type { ExchangeFailure } from '../../upstream';

export type ExchangeStatus = 'claimed' | 'exchanged' | 'done' | 'failed';

const exchangeMachine = defineMachine<ExchangeStatus, 'exchange' | 'finish' | 'fail'>({
  exchange: { from: ['claimed'], to: 'exchanged' },
  finish: { from: ['exchanged'], to: 'done' },
  // The upstream refused the code, or its answer was lost: the code is not sent a second time.
  fail: { from: ['claimed'], to: 'failed' },
});

export interface ExchangeResult {
  waba_id: string;
  phone_number_id: string;
  sync: { smb_app_state_sync: string; history: string };
}

export interface CodeExchange {
  _id: string;
  partner_id: string;
  status: ExchangeStatus;
  holder: string;
  lease_until: Date;
  token: Sealed | null;
  failure: ExchangeFailure | null;
  result: ExchangeResult | null;
  created_at: Date;
}

export interface Lease {
  holder: string;
  until: Date;
}

export interface CodeExchanges {
  /**
   * Creates or takes the code's row; `held` is false while another worker holds it or once it is
   * finished.
   */
  claim(
    id: { _id: string; partner_id: string },
    lease: Lease,
    now: Date,
  ): Promise<{ exchange: CodeExchange; held: boolean }>;
  find(_id: string): Promise<CodeExchange | null>;
  renew(_id: string, lease: Lease): Promise<void>;
  release(_id: string, holder: string): Promise<void>;
  /** Stores the token: the code is `exchanged`. */
  keepToken(_id: string, token: Sealed): Promise<void>;
  finish(_id: string, result: ExchangeResult): Promise<void>;
  fail(_id: string, failure: ExchangeFailure): Promise<void>;
}

export const CODE_EXCHANGES = 'code_exchanges';
/**
 * Longer than a connect session lives. Bounds how long the sealed token of an unfinished sign-up is
 * stored.
 */
const KEPT_S = 3 * 3_600;
export const exchangeIndexes: IndexDescription[] = [
  { key: { created_at: 1 }, expireAfterSeconds: KEPT_S },
];

const FREE = new Date(0);
const UNFINISHED: ExchangeStatus[] = ['claimed', 'exchanged'];

/** The identity under which a code's token is sealed. */
export const exchangeTokenIdentity = (_id: string): string => `exchange/${_id}/token`;

export function createCodeExchanges(db: Db): CodeExchanges {
  const exchanges: Collection<CodeExchange> = db.collection(CODE_EXCHANGES);
  const move = async (
    _id: string,
    event: 'exchange' | 'finish' | 'fail',
    change: Partial<CodeExchange>,
  ): Promise<void> => {
    await exchanges.updateOne(
      { _id, status: { $in: [...exchangeMachine.from(event)] } },
      { $set: { status: exchangeMachine.to(event), ...change } },
    );
  };
  return {
    async claim({ _id, partner_id }, { holder, until }, now) {
      const created: CodeExchange = {
        _id,
        partner_id,
        status: 'claimed',
        holder,
        lease_until: until,
        token: null,
        failure: null,
        result: null,
        created_at: now,
      };
      try {
        await exchanges.insertOne(created);
        return { exchange: created, held: true };
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
      }
      const taken = await exchanges.findOneAndUpdate(
        { _id, status: { $in: UNFINISHED }, lease_until: { $lte: now } },
        { $set: { holder, lease_until: until } },
        { returnDocument: 'after' },
      );
      if (taken) return { exchange: taken, held: true };
      // The row expired between the two reads: report it as held, so that the caller tries again.
      return { exchange: (await exchanges.findOne({ _id })) ?? created, held: false };
    },
    find: (_id) => exchanges.findOne({ _id }),
    async renew(_id, { holder, until }) {
      await exchanges.updateOne({ _id, holder }, { $set: { lease_until: until } });
    },
    async release(_id, holder) {
      await exchanges.updateOne({ _id, holder }, { $set: { lease_until: FREE } });
    },
    keepToken: (_id, token) => move(_id, 'exchange', { token }),
    // The client row holds the token from here on.
    finish: (_id, result) => move(_id, 'finish', { result, token: null }),
    fail: (_id, failure) => move(_id, 'fail', { failure }),
  };
}
