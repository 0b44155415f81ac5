// The RPCs that send, and those that find the outcome of a send.
import type { Once } from '@bmg/common/idempotency';
import type { Call, Handlers } from '@bmg/common/rpc';
import { needTarget, segment, type Targeted } from '@bmg/common/upstream';
import type { MessagingDefinition, SendResult } from '@bmg/proto/messaging';
import { sendClaimed, type ClaimedSendDependencies } from './claimed-send';
import {
  contactsContent,
  interactiveContent,
  locationContent,
  mediaContent,
  reactionContent,
  templateContent,
  textContent,
} from './content';
import { createLearner, type LearnDependencies } from './learn-contacts';
import { findOutcome, type OutcomeDependencies } from './outcome';
import { repeatable } from './outcome-errors';
import { send } from './send';
import { settleSends, type SettleDependencies } from './settle-sends';

export type SendHandlers = Pick<
  Handlers<MessagingDefinition>,
  | 'sendText'
  | 'sendTemplate'
  | 'sendMedia'
  | 'sendInteractive'
  | 'sendLocation'
  | 'sendContacts'
  | 'sendReaction'
  | 'sendBroadcastMessage'
  | 'sendClaimedMessage'
  | 'markRead'
  | 'findOutcome'
  | 'settleSends'
>;

export type SendHandlerDependencies = ClaimedSendDependencies &
  LearnDependencies &
  OutcomeDependencies &
  SettleDependencies & { once: Once };

export function createSendHandlers(deps: SendHandlerDependencies): SendHandlers {
  const learning = createLearner(deps);
  /** The message record has the first answer, for a repeat. */
  const find = async ({ target }: Targeted, request_id: string): Promise<SendResult | undefined> =>
    (await findOutcome(deps, { target, request_id })).result;
  const sending = <Q extends Targeted>(
    work: (request: Q, call: Call) => Promise<SendResult>,
  ): typeof work => deps.once(learning(work), { find });
  return {
    sendText: sending((request, call) =>
      send(deps, request, textContent(request.text, request.preview_url), call),
    ),
    sendTemplate: sending((request, call) =>
      send(deps, request, templateContent(request.template), call),
    ),
    sendMedia: sending((request, call) =>
      send(deps, request, mediaContent(request.type, request.media), call),
    ),
    sendInteractive: sending((request, call) =>
      send(deps, request, interactiveContent(request.interactive), call),
    ),
    sendLocation: sending((request, call) => send(deps, request, locationContent(request), call)),
    sendContacts: sending((request, call) =>
      send(deps, request, contactsContent(request.contacts), call),
    ),
    sendReaction: sending((request, call) =>
      send(deps, request, reactionContent(request.message_id, request.emoji), call),
    ),
    sendBroadcastMessage: learning((request, call) =>
      send(deps, request, templateContent(request.template), call),
    ),
    sendClaimedMessage: learning((request, call) => sendClaimed(deps, request, call)),
    async markRead(request, call) {
      const target = needTarget(request.target);
      const { access_token } = await deps.credentials.forSending(target, call);
      const read = {
        operation: 'POST /{phone_number_id}/messages (read)',
        method: 'POST',
        path: `/${segment(target.phone_number_id)}/messages`,
        token: access_token,
        body: {
          messaging_product: 'whatsapp',
          status: 'read',
          message_id: request.message_id,
          ...(request.typing_indicator && { typing_indicator: request.typing_indicator }),
        },
      } as const;
      await repeatable(deps.upstream.request(read, call));
      return {};
    },
    findOutcome: (request) => findOutcome(deps, request),
    settleSends: (request) => settleSends(deps, request),
  };
}
