// The webhooks of a coexistence number's synchronisation: contacts, then history in three phases.
// All come from the same few customers, so that a test knows what to expect.
import type { Core } from './core';
import { webhookError } from './errors';
import { derivedBsuid, digitsOf } from './ids';
import { metadataOf, seconds } from './statuses';
import type { BusinessNumber, JsonObject } from './types';

const PHASES = 3;
/** 6 Jul 2026: the history precedes the onboarding. */
const HISTORY_START_S = 1_783_296_000;
const HISTORY_STEP_S = 60;
const WAIT_MS = 50;
const CONTACTS_MAX = 5000;
const MESSAGES_MAX = 5000;

function syncPhone(index: number): string {
  return `1555020${String(index).padStart(4, '0')}`;
}

export function postSync(core: Core, number: BusinessNumber, sync_type: string): void {
  const values =
    sync_type === 'history' ? historyValues(core, number) : [contactsValue(core, number)];
  values.forEach((value, index) => {
    core.webhooks.later(WAIT_MS * (index + 1), () => {
      const account = core.state.accounts.get(number.waba_id);
      if (account) core.webhooks.notify(account, { field: sync_type, value });
    });
  });
}

function frame(number: BusinessNumber): JsonObject {
  return { messaging_product: 'whatsapp', metadata: metadataOf(number) };
}

function contactsValue(core: Core, number: BusinessNumber): JsonObject {
  const portfolio_id = core.state.accountOf(number).portfolio.id;
  const count = Math.min(core.behaviour.current.sync.contacts, CONTACTS_MAX);
  return {
    ...frame(number),
    state_sync: Array.from({ length: count }, (_, index) => ({
      type: 'contact',
      contact: {
        full_name: `Contact ${index} Ünal`,
        first_name: `Contact ${index}`,
        phone_number: syncPhone(index),
        user_id: derivedBsuid(portfolio_id, syncPhone(index)),
      },
      action: 'add',
      metadata: { timestamp: seconds(Date.now()) },
    })),
  };
}

function historyValues(core: Core, number: BusinessNumber): JsonObject[] {
  const { sync } = core.behaviour.current;
  if (sync.decline_history) {
    const errors = [webhookError(2593109, 'The business declined to share history')];
    return [{ ...frame(number), history: [{ errors }] }];
  }
  const per_phase = Math.min(sync.messages_per_phase, MESSAGES_MAX);
  const values = Array.from({ length: PHASES }, (_, phase): JsonObject => {
    const progress = Math.round(((phase + 1) / PHASES) * 100);
    const metadata = { phase, chunk_order: phase + 1, progress };
    const threads = [thread(core, number, phase, per_phase)];
    return { ...frame(number), history: [{ metadata, threads }] };
  });
  return sync.media_followup ? [...values, mediaFollowup(core, number)] : values;
}

function thread(core: Core, number: BusinessNumber, phase: number, count: number): JsonObject {
  const phone = syncPhone(phase);
  const user_id = derivedBsuid(core.state.accountOf(number).portfolio.id, phone);
  return {
    id: phone,
    context: { wa_id: phone, user_id },
    messages: Array.from({ length: count }, (_, index) => {
      const inbound = index % 2 === 0;
      const sent_s = HISTORY_START_S + (phase * count + index) * HISTORY_STEP_S;
      return {
        from: inbound ? phone : digitsOf(number.display_phone_number),
        ...(inbound ? { from_user_id: user_id } : { to: phone, to_user_id: user_id }),
        id: historyId(number, phase, index),
        timestamp: String(sent_s),
        type: 'text',
        text: { body: `History ${phase}.${index} – grüße` },
        history_context: { status: inbound ? 'READ' : 'DELIVERED' },
      };
    }),
  };
}

function historyId(number: BusinessNumber, phase: number, index: number | string): string {
  return `wamid.${Buffer.from(`history:${number.id}:${number.onboarded_at}:${phase}:${index}`).toString('base64')}`;
}

/** Media of the last two weeks follow in a separate webhook. */
function mediaFollowup(core: Core, number: BusinessNumber): JsonObject {
  const phone = syncPhone(0);
  const user_id = derivedBsuid(core.state.accountOf(number).portfolio.id, phone);
  return {
    ...frame(number),
    contacts: [{ profile: { name: 'Contact 0' }, wa_id: phone, user_id }],
    messages: [
      {
        from: phone,
        from_user_id: user_id,
        id: historyId(number, 0, 'media'),
        timestamp: String(HISTORY_START_S),
        type: 'image',
        image: { mime_type: 'image/jpeg', sha256: 'q1==', id: '100000000000011', caption: 'old' },
      },
    ],
  };
}
