// The RPCs of the service: what each sends to the upstream, and what it learns from the answer.
import type { Handlers } from '@bmg/common/rpc';
import { needTarget, segment } from '@bmg/common/upstream';
import type { MessagingDefinition } from '@bmg/proto/messaging';
import { getAnalytics, type AnalyticsDependencies } from './analytics';
import { preflightContacts } from './preflight/preflight-contacts';
import { preflightMessage, type PreflightDependencies } from './preflight/preflight-message';
import { lookupContact } from './contacts/lookup';
import {
  interactiveContent,
  locationContent,
  mediaContent,
  reactionContent,
  templateContent,
  textContent,
} from './send/content';
import { getTimeline, type TimelineDependencies } from './message-log/get-timeline';
import { listMessages, type ListDependencies } from './message-log/list-messages';
import { uploadMedia, type UploadDependencies } from './media/upload';
import { downloadMedia, type DownloadDependencies } from './media/download';
import { sendClaimed, type ClaimedSendDependencies } from './send/claimed-send';
import { findOutcome } from './send/outcome';
import { createLearner } from './send/learn-contacts';
import { failingAsNotSent, repeatable, uploadedOnce } from './send/outcome-errors';
import { send } from './send/send';
import type { RecentContacts } from './contacts/recent-contacts';
import type { RecordReads } from './record-reads';
import { settleSends, type SettleDependencies } from './send/settle-sends';
import type { Contacts } from './store/contacts';
import { isSearch } from './store/message-list';

type SendHandlers = Pick<
  Handlers<MessagingDefinition>,
  | 'sendText'
  | 'sendTemplate'
  | 'sendMedia'
  | 'sendInteractive'
  | 'sendLocation'
  | 'sendReaction'
  | 'markRead'
  | 'sendBroadcastMessage'
  | 'sendClaimedMessage'
>;

const createSendHandlers = (deps: ClaimedSendDependencies): SendHandlers => ({
  sendText: (q, call) => send(deps, q, textContent(q.text, q.preview_url), call),
  sendTemplate: (q, call) => send(deps, q, templateContent(q.template), call),
  sendMedia: (q, call) => send(deps, q, mediaContent(q.type, q.media), call),
  sendInteractive: (q, call) => send(deps, q, interactiveContent(q.interactive), call),
  sendLocation: (q, call) => send(deps, q, locationContent(q), call),
  sendReaction: (q, call) => send(deps, q, reactionContent(q.message_id, q.emoji), call),
  sendBroadcastMessage: (q, call) => send(deps, q, templateContent(q.template), call),
  sendClaimedMessage: (q, call) => sendClaimed(deps, q, call),
  async markRead(q, call) {
    const target = needTarget(q.target);
    const { access_token } = await deps.credentials.forSending(target, call);
    const read = {
      operation: 'POST /{phone_number_id}/messages (read)',
      method: 'POST',
      path: `/${segment(target.phone_number_id)}/messages`,
      token: access_token,
      body: { messaging_product: 'whatsapp', status: 'read', message_id: q.message_id },
    } as const;
    await repeatable(deps.upstream.request(read, call));
    return {};
  },
});

export type MessagingDependencies = ClaimedSendDependencies &
  SettleDependencies &
  UploadDependencies &
  DownloadDependencies &
  AnalyticsDependencies &
  ListDependencies &
  TimelineDependencies &
  PreflightDependencies & { contacts: Contacts; recent: RecentContacts; recordReads: RecordReads };

export function createMessagingHandlers(
  given: MessagingDependencies,
): Handlers<MessagingDefinition> {
  const deps = { ...given, credentials: failingAsNotSent(given.credentials) };
  const { markRead, ...sends } = createSendHandlers(deps);
  const learning = createLearner(deps);
  const { run } = deps.recordReads;
  return {
    sendText: learning(sends.sendText),
    sendTemplate: learning(sends.sendTemplate),
    sendMedia: learning(sends.sendMedia),
    sendInteractive: learning(sends.sendInteractive),
    sendLocation: learning(sends.sendLocation),
    sendReaction: learning(sends.sendReaction),
    sendBroadcastMessage: learning(sends.sendBroadcastMessage),
    sendClaimedMessage: learning(sends.sendClaimedMessage),
    markRead,
    uploadMedia: (q, call) => uploadedOnce(uploadMedia(deps, q, call), call),
    downloadMedia: (q, call) => downloadMedia(deps, q, call),
    lookupContact: (q) => lookupContact(deps.contacts, q),
    getAnalytics: (q, call) =>
      run(needTarget(q.target).partner_id, 'days', () => getAnalytics(deps, q, call)),
    findOutcome: (q) => findOutcome(deps, q),
    listMessages: (q) =>
      run(q.partner_id, isSearch(q) ? 'search' : 'page', () => listMessages(deps, q)),
    getTimeline: (q, call) => run(q.partner_id, 'timeline', () => getTimeline(deps, q, call)),
    settleSends: (q) => settleSends(deps, q),
    checkMessage: (q, call) => preflightMessage(deps, q, call),
    checkContacts: (q, call) => preflightContacts(deps, q, call),
  };
}
