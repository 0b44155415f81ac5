// RPC handlers of the request log.
import type { Handlers } from '@bmg/common/rpc';
import type { OnboardingDefinition } from '@bmg/proto/onboarding';
import { checkCursor, limitOf, requestMessage, rowOf } from './rules';
import type { Dependencies } from '../../dependencies';

export const createRequestLogHandlers = ({ requests, now }: Dependencies) =>
  ({
    async recordRequests({ partners }) {
      const at = now();
      await requests.insert(
        partners.flatMap(({ partner_id, requests: given }) =>
          given.map((one) => rowOf(partner_id, one, at)),
        ),
      );
      return {};
    },
    async listRequests(request) {
      const limit = limitOf(request.limit);
      checkCursor(request.cursor);
      // An extra row shows whether there is a further page.
      const found = await requests.page(request, limit + 1);
      return {
        requests: found.slice(0, limit).map(requestMessage),
        after: found.length > limit ? found[limit - 1]?._id : undefined,
      };
    },
  }) satisfies Partial<Handlers<OnboardingDefinition>>;
