// RPC handlers of the directory: authentication of callers, the number a call is for, its
// credential, and the partners that own a number. Other services cache these answers under the
// directory version.
import { loadOne, toRefusal } from '@bmg/common/directory';
import { ApiError } from '@bmg/common/errors';
import type { Handlers } from '@bmg/common/rpc';
import type { DirectoryDefinition, Refusal } from '@bmg/proto/onboarding';
import { LISTED_NUMBERS_MAX, secretIdentity } from '../../ground/clients';
import { createBatches, extraEventsOfAll } from './batches';
import type { Dependencies } from '../../dependencies';
import { createCallers } from './callers';
import { refuseTooMany } from './rules';
import { createOwnerHandlers } from './owners';

/** The directory without `authenticateSession`. Single look-ups are batches of one. */
export const createDirectoryHandlers = (
  deps: Dependencies,
): Omit<Handlers<DirectoryDefinition>, 'authenticateSession'> => {
  const { clients, partners, partnerKeys, peppers } = deps;
  const { targets, credentials, receivers } = createBatches(deps);
  const callers = createCallers(deps);
  return {
    authenticate: ({ key_hash }, call) => loadOne(callers.unrestricted, key_hash, call),
    async authenticateMany({ key_hashes, restrictions }, call) {
      refuseTooMany('key_hashes', key_hashes);
      const load = restrictions ? callers.all : callers.unrestricted;
      return { callers: byName(key_hashes, await load(key_hashes, call)) };
    },
    async renewKeyHash({ key_hash, newest }) {
      // A gateway with another order of the peppers must not undo the renewal.
      if (!peppers.isNewest(newest)) return { renewed: false };
      const renewed =
        (await partners.renewKeyHash(key_hash, newest)) ||
        (await partnerKeys.renewHash(key_hash, newest));
      return { renewed };
    },
    resolveTarget: (target, call) => loadOne(targets, target, call),
    async resolveTargets(request, call) {
      refuseTooMany('targets', request.targets);
      const phone_number_ids: string[] = [];
      const refusals: Record<number, Refusal> = {};
      for (const [index, answer] of (await targets(request.targets, call)).entries()) {
        phone_number_ids.push(answer instanceof Error ? '' : answer.phone_number_id);
        if (answer instanceof ApiError) refusals[index] = toRefusal(answer);
      }
      return { phone_number_ids, refusals };
    },
    getCredential: (scope, call) => loadOne(credentials, scope, call),
    async getCredentials({ scopes }, call) {
      refuseTooMany('scopes', scopes);
      const found = (await credentials(scopes, call)).map((answer) => ({
        credential: answer instanceof Error ? undefined : answer,
      }));
      return { found };
    },
    ...createOwnerHandlers(deps),
    async listNumbers(request) {
      const numbers = await clients.numbersOf(request);
      return {
        phone_number_ids: numbers.slice(0, LISTED_NUMBERS_MAX),
        has_more: numbers.length > LISTED_NUMBERS_MAX,
      };
    },
    getReceiver: ({ partner_id }, call) => loadOne(receivers, partner_id, call),
    async getReceivers({ partner_ids }, call) {
      refuseTooMany('partner_ids', partner_ids);
      return { receivers: byName(partner_ids, await receivers(partner_ids, call)) };
    },
    async getExtraEvents({ partner_ids }) {
      refuseTooMany('partner_ids', partner_ids);
      return extraEventsOfAll(deps, partner_ids);
    },
    ...pinHandlers(deps),
  };
};

const pinHandlers = ({ clients, vault }: Dependencies) =>
  ({
    async storePin({ pin, ...scope }) {
      const sealed = vault.seal(secretIdentity(scope, 'pin'), pin);
      const client = await clients.find(scope);
      if (client?.status !== 'active') return { stored: false };
      await clients.change(scope, { pin: sealed });
      return { stored: true };
    },
    async getPin(request) {
      const client = await clients.find(request);
      if (client?.status !== 'active' || !client.pin) return { pin: undefined };
      return { pin: vault.open(secretIdentity(request, 'pin'), client.pin) };
    },
  }) satisfies Partial<Handlers<DirectoryDefinition>>;

/** The answers by the names of their entries, without those that are refused. */
const byName = <V>(names: string[], answers: Array<V | Error>): Record<string, V> =>
  Object.fromEntries(
    answers.flatMap((answer, index) =>
      answer instanceof Error ? [] : [[names[index] as string, answer] as const],
    ),
  );
