// Looks up the partners that receive an event: the owners of its number, or of its account, from
// onboarding's directory, cached under the directory version of the account.
import { VersionedCache, wabaVersionKey, type Versions } from '@bmg/common/directory';
import { type Client, ownCall } from '@bmg/common/rpc';
import type { SpanContext } from '@bmg/common/telemetry';
import type {
  DirectoryDefinition,
  GetOwnersOfNumbersRequest_Number as AskedNumber,
  GetOwnersResponse,
} from '@bmg/proto/onboarding';

export interface Concerned {
  waba_id: string;
  phone_number_id: string | null;
  display_phone_number: string | null;
}

const ENTRIES_MAX = 100_000;
const ASK_LIMIT_MS = 5_000;
const NO_OWNERS: GetOwnersResponse = {
  partner_ids: [],
  phone_number_id: undefined,
  waba_id: undefined,
};

/** Thrown inside the cache: "no owner" is not cached, so a registration takes effect at once. */
class NotOwned extends Error {}

export type Owners = ReturnType<typeof createOwners>;

export function createOwners(directory: Client<DirectoryDefinition>, versions: Versions) {
  const cache = new VersionedCache<GetOwnersResponse, AskedNumber>(
    ENTRIES_MAX,
    async (numbers, call) => {
      const { owners } = await directory.getOwnersOfNumbers({ numbers }, call);
      return owners.map((answer) => (answer.partner_ids.length === 0 ? new NotOwned() : answer));
    },
  );
  const fetch = async (one: Concerned, span: SpanContext): Promise<GetOwnersResponse> => {
    const { waba_id, phone_number_id, display_phone_number } = one;
    const answer = await directory.getOwners(
      {
        all_active: false,
        waba_id,
        phone_number_id: phone_number_id ?? undefined,
        display_phone_number: display_phone_number ?? undefined,
      },
      ownCall(span, ASK_LIMIT_MS),
    );
    if (answer.partner_ids.length === 0) throw new NotOwned();
    return answer;
  };
  const ask = async (
    one: Concerned,
    version: string | undefined,
    span: SpanContext,
  ): Promise<GetOwnersResponse> => {
    const { waba_id, phone_number_id } = one;
    const question = phone_number_id === null ? undefined : { waba_id, phone_number_id };
    try {
      return await cache.get(keyOf(one), version, () => fetch(one, span), question);
    } catch (error) {
      if (error instanceof NotOwned) return NO_OWNERS;
      throw error;
    }
  };
  return {
    /**
     * One answer for each of `concerned`, in their order; without partners if none has registered.
     * Throws when the directory is unavailable and the cache has no answer.
     */
    async of(concerned: Concerned[], span: SpanContext): Promise<GetOwnersResponse[]> {
      const distinct = new Map(concerned.map((one) => [keyOf(one), one]));
      const wabas = [...new Set(concerned.map(({ waba_id }) => waba_id))];
      const read = await versions.current(wabas.map(wabaVersionKey));
      const versionOf = new Map(wabas.map((waba_id, index) => [waba_id, read?.[index]]));
      const answers = new Map(
        await Promise.all(
          [...distinct].map(async ([key, one]) => {
            // Changes are announced per account: without one, the answer is cached only briefly.
            const version = one.waba_id === '' ? undefined : versionOf.get(one.waba_id);
            return [key, await ask(one, version, span)] as const;
          }),
        ),
      );
      return concerned.map((one) => answers.get(keyOf(one)) as GetOwnersResponse);
    },
  };
}

const keyOf = ({ waba_id, phone_number_id, display_phone_number }: Concerned): string =>
  `${waba_id}/${phone_number_id ?? ''}/${display_phone_number ?? ''}`;
