// The number a request acts for: x-waba-id and x-phone-number-id → target. Targets are cached under
// the partner's directory version.
import type { IncomingHttpHeaders } from 'node:http';
import { ApiError, invalidField } from '@bmg/common/errors';
import {
  VersionedCache,
  fromRefusal,
  loadOne,
  notRegistered,
  type Load,
} from '@bmg/common/directory';
import type { Call, Client } from '@bmg/common/rpc';
import type {
  DirectoryDefinition,
  ResolveTargetRequest,
  ResolveTargetResponse,
} from '@bmg/proto/onboarding';
import type { Target } from '../endpoints/endpoint';

const ENTRIES_MAX = 100_000;
const ID = /^[A-Za-z0-9_-]{1,64}$/;

export type ScopeResolver = ReturnType<typeof createScopeResolver>;

/** A header's trimmed text; undefined when absent or blank. */
export const headerText = (headers: IncomingHttpHeaders, name: string): string | undefined => {
  const value = headers[name];
  const text = (Array.isArray(value) ? value.join(',') : value)?.trim();
  return text ? text : undefined;
};

/** The account in x-waba-id. A malformed id is answered like an unknown one (contract 2.2). */
export function wabaHeader(headers: IncomingHttpHeaders): string | undefined {
  const waba_id = headerText(headers, 'x-waba-id');
  if (waba_id !== undefined && !ID.test(waba_id)) {
    throw notRegistered();
  }
  return waba_id;
}

/** A refusal without a known reason: onboarding runs another release. */
class UnexplainedRefusal extends Error {}

export function createScopeResolver(
  directory: Pick<Client<DirectoryDefinition>, 'resolveTarget' | 'resolveTargets'>,
) {
  const load: Load<ResolveTargetRequest, ResolveTargetResponse> = async (targets, call) => {
    const { phone_number_ids, refusals } = await directory.resolveTargets({ targets }, call);
    return phone_number_ids.map((phone_number_id, index) => {
      if (phone_number_id !== '') return { phone_number_id };
      const refusal = refusals[index];
      return (refusal && fromRefusal(refusal)) ?? new UnexplainedRefusal();
    });
  };
  const cache = new VersionedCache(ENTRIES_MAX, load);
  const resolve = async (
    target: ResolveTargetRequest,
    call: Call,
  ): Promise<ResolveTargetResponse> => {
    try {
      return await loadOne(load, target, call);
    } catch (error) {
      if (!(error instanceof UnexplainedRefusal)) throw error;
      return directory.resolveTarget(target, call);
    }
  };
  return async (
    partner_id: string,
    headers: IncomingHttpHeaders,
    version: string | undefined,
    call: Call,
  ): Promise<Target> => {
    const waba_id = wabaHeader(headers);
    if (waba_id === undefined) {
      throw new ApiError('MISSING_WABA', 'the header x-waba-id is required', {
        details: { fields: ['x-waba-id'] },
      });
    }
    const number_header = headerText(headers, 'x-phone-number-id');
    if (number_header !== undefined && !ID.test(number_header)) {
      throw invalidField('x-phone-number-id', 'does not belong to the WABA');
    }
    const named = { partner_id, waba_id, phone_number_id: number_header };
    const { phone_number_id } = await cache.get(
      `${partner_id}/${waba_id}/${number_header ?? ''}`,
      version,
      () => resolve(named, call),
      named,
    );
    return { partner_id, waba_id, phone_number_id, directory_version: version ?? '' };
  };
}
