// Code exchanges: the outcome of each sign-up code. A code buys one token and expires within
// seconds, so the token is stored, sealed, until the client is registered: a retry after a crash
// continues from there. A short lease lets one worker at a time process a code.
import type { Collection, Db } from 'mongodb';
import { storeOnce, type Indexes } from '@bmg/common/mongo';
import { defineMachine } from '@bmg/common/state';
import type { Sealed } from '@bmg/common/vault';
import { changeOne } from '../../../ground/insert';
import type { Lease } from '../../../ground/lease';
import type { ExchangeFailure } from '../../upstream';

type ExchangeStatus = 'claimed' | 'exchanged' | 'done' | 'failed';

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

export const CODE_EXCHANGES = 'code_exchanges';
/** Longer than a connect session lives; bounds how long an unused token is stored. */
const KEPT_S = 3 * 3_600;
export const exchangeIndexes: Indexes = {
  [CODE_EXCHANGES]: [{ key: { created_at: 1 }, expireAfterSeconds: KEPT_S }],
};

const FREE = new Date(0);
const UNFINISHED: ExchangeStatus[] = ['claimed', 'exchanged'];

/** The identity under which a code's token is sealed. */
export const exchangeTokenIdentity = (_id: string): string => `exchange/${_id}/token`;

export function createCodeExchanges(db: Db) {
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
    /** `held` is false while another worker holds the row, or once it is finished. */
    async claim(
      { _id, partner_id }: { _id: string; partner_id: string },
      { holder, until }: Lease,
      now: Date,
    ) {
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
      if (await storeOnce(() => exchanges.insertOne(created)))
        return { exchange: created, held: true };
      const taken = await changeOne(
        exchanges,
        { _id, status: { $in: UNFINISHED }, lease_until: { $lte: now } },
        { $set: { holder, lease_until: until } },
      );
      if (taken) return { exchange: taken, held: true };
      // The row expired between the two reads: report it as held, so that the caller tries again.
      return { exchange: (await exchanges.findOne({ _id })) ?? created, held: false };
    },
    find: (_id: string) => exchanges.findOne({ _id }),
    renew: (_id: string, { holder, until }: Lease) =>
      exchanges.updateOne({ _id, holder }, { $set: { lease_until: until } }),
    release: (_id: string, holder: string) =>
      exchanges.updateOne({ _id, holder }, { $set: { lease_until: FREE } }),
    /** Stores the token: the code is `exchanged`. */
    keepToken: (_id: string, token: Sealed) => move(_id, 'exchange', { token }),
    // The client row holds the token from here on.
    finish: (_id: string, result: ExchangeResult) => move(_id, 'finish', { result, token: null }),
    fail: (_id: string, failure: ExchangeFailure) => move(_id, 'fail', { failure }),
  };
}
