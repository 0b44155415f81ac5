// The RPCs that send, and those that find the outcome of a send.
import { type Call, implementPart } from '@bmg/common/rpc';
import { needTarget, segment, type Targeted } from '@bmg/common/upstream';
import { MessagingDefinition, type SendResult, type MarkReadRequest } from '@bmg/proto/messaging';
import { sendClaimed } from './claimed-send';
import { type Content, CONTENT, templateContent } from './content';
import { createLearner } from './learn-contacts';
import { findOutcome, settleSends } from './outcome';
import { repeatable } from './outcome-errors';
import { send, type SendRequest } from './send';
import type { Feature } from '@bmg/common/service';
import type { Dependencies } from '../dependencies';
import type { Done } from '@bmg/proto/common';

export function sends(deps: Dependencies): Feature {
  const learning = createLearner(deps);
  /** The message record has the first answer, for a repeat. */
  const find = async ({ target }: Targeted, request_id: string): Promise<SendResult | undefined> =>
    (await findOutcome(deps, { target, request_id })).result;
  const sending = <C>(content: (request: C) => Content) =>
    deps.once(
      learning((request: C & SendRequest, call) => send(deps, request, content(request), call)),
      { find },
    );
  return {
    buffers: [deps.sendJournal],
    rpcs: [
      implementPart(MessagingDefinition, {
        sendText: sending(CONTENT.text),
        sendTemplate: sending(CONTENT.template),
        sendMedia: sending(CONTENT.media),
        sendInteractive: sending(CONTENT.interactive),
        sendLocation: sending(CONTENT.location),
        sendContacts: sending(CONTENT.contacts),
        sendReaction: sending(CONTENT.reaction),
        sendBroadcastMessage: learning((request, call) =>
          send(deps, request, templateContent(request), call),
        ),
        sendClaimedMessage: learning((request, call) => sendClaimed(deps, request, call)),
        markRead: (request, call) => markRead(deps, request, call),
        findOutcome: (request) => findOutcome(deps, request),
        settleSends: (request) => settleSends(deps, request),
      }),
    ],
  };
}

async function markRead(
  { credentials, upstream }: Dependencies,
  { target: given, message_id, typing_indicator }: MarkReadRequest,
  call: Call,
): Promise<Done> {
  const target = needTarget(given);
  const { access_token } = await credentials.forSending(target, call);
  const read = {
    operation: 'POST /{phone_number_id}/messages (read)',
    method: 'POST',
    path: `/${segment(target.phone_number_id)}/messages`,
    token: access_token,
    body: {
      messaging_product: 'whatsapp',
      status: 'read',
      message_id,
      ...(typing_indicator && { typing_indicator }),
    },
  } as const;
  await repeatable(upstream.request(read, call));
  return {};
}
