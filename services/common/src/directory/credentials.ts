// The upstream token of a target: fetched from the directory, cached under the directory version
// that the gateway saw.
import type { Target } from '@bmg/proto/common';
import type {
  DirectoryDefinition,
  GetCredentialRequest,
  GetCredentialResponse,
} from '@bmg/proto/onboarding';
import { ApiError } from '../errors';
import type { Call, Client } from '../rpc';
import { notRegistered } from './refusals';
import { VersionedCache, loadOne, type Load } from './versioned-cache';
import { partnerVersionKey, type Versions } from './versions';

export type Credential = GetCredentialResponse;

export type Credentials = ReturnType<typeof createCredentials>;

const ENTRIES_MAX = 50_000;

export function createCredentials(
  directory: Pick<Client<DirectoryDefinition>, 'getCredentials'>,
  versions: Pick<Versions, 'current'>,
) {
  const load: Load<GetCredentialRequest, Credential> = async (scopes, call) => {
    const { found } = await directory.getCredentials({ scopes }, call);
    return found.map(({ credential }) => credential ?? notRegistered());
  };
  const cache = new VersionedCache(ENTRIES_MAX, load);
  /** For reads and administration. */
  const of = async (target: Target, call: Call): Promise<Credential> => {
    const { partner_id, waba_id, phone_number_id } = target;
    // An internal caller sends no version: use the current one.
    const version =
      target.directory_version || (await versions.current([partnerVersionKey(partner_id)]))?.[0];
    const scope = { partner_id, waba_id, phone_number_id };
    const fetch = (): Promise<Credential> => loadOne(load, scope, call);
    return cache.get(`${partner_id}/${waba_id}/${phone_number_id}`, version, fetch, scope);
  };
  return {
    of,
    /** For sends: throws `refusalToSend` while sending is stopped. */
    async forSending(target: Target, call: Call): Promise<Credential> {
      const credential = await of(target, call);
      const refusal = refusalToSend(credential);
      if (refusal) throw refusal;
      return credential;
    },
  };
}

/** The error of a send while sending is stopped. */
export function refusalToSend({ sending, payment_url }: Credential): ApiError | undefined {
  if (sending === 'active') return undefined;
  if (sending === 'paused') {
    return new ApiError(
      'NO_ACTIVE_WABA',
      'the number is paused while the platform links it again, usually for a few minutes',
      { retryable: true, retry_after_s: 60 },
    );
  }
  if (sending === 'payment_action_required') {
    return new ApiError(
      'PAYMENT_ACTION_REQUIRED',
      'a payment needs authentication by the bank: open payment_url',
      {
        payment_url,
      },
    );
  }
  return new ApiError('PAYMENT_FAILED', 'sending is stopped because an invoice is unpaid', {
    payment_url,
  });
}
