// The types of the answers that the console reads. Those of the public API come from its OpenAPI
// document, through the client package; those below /dashboard/api from the schemas of that API,
// which is private to the console.
import type { components, Envelope as AnyEnvelope } from '@bmg/client';
import type { Session } from '../../../src/console/answers';

export type * from '../../../src/console/answers';

/** A scope of people and keys. */
export type Scope = keyof Session['holders'];

type Schemas = components['schemas'];

export type Client = Schemas['ClientRecord'];
export type DataSync = Schemas['DataSync'];
export type HistorySync = NonNullable<Schemas['HistorySync']>;
export type WebhookEndpoint = Schemas['WebhookEndpoint'];
export type EndpointWithSecret = Schemas['CreateEndpointAnswer'];
export type EndpointSecret = Schemas['RotateEndpointSecretAnswer'];
export type EndpointAttempt = Schemas['WebhookEndpointAttempt'];
export type ListedShadow = Schemas['ListedWebhookShadow'];
export type WebhookShadow = Schemas['WebhookShadow'];
export type ShadowDifference = Schemas['WebhookShadowDifference'];
export type ApiKey = Schemas['ApiKey'];
export type ApiKeyWithSecret = Schemas['CreateKeyAnswer'];
export type Person = Schemas['Person'];
export type InvitedPerson = Schemas['InvitePersonAnswer'];
export type AuditRecord = Schemas['AuditRecord'];
export type AuditPage = Schemas['ListAuditAnswer'];
export type Usage = Schemas['GetUsageAnswer'];
export type FailedEvents = Schemas['ListFailedEventsAnswer'];
export type FailedEvent = Schemas['FailedEvent'];
export type Template = Omit<Schemas['Template'], 'components'> & {
  components: TemplateComponent[];
};
export type GetTemplateAnswer = Schemas['GetTemplateAnswer'];
export type Broadcast = Schemas['Broadcast'];
export type BroadcastDetail = Schemas['BroadcastDetail'];
export type BroadcastForecast = NonNullable<Schemas['BroadcastForecast']>;
export type ApprovalSetting = Schemas['GetBroadcastApprovalAnswer'];
/** Every reason of a broadcast has its contacts and examples. */
export type CheckReason = Required<Schemas['CheckMessageAnswer']['reasons'][number]>;
export type BroadcastCheck = Omit<Schemas['CheckMessageAnswer'], 'reasons'> & {
  reasons: CheckReason[];
};
/** The fields that the screens read of any event, whatever its data. */
export type Envelope = Pick<AnyEnvelope, 'event' | 'waba_id' | 'phone_number_id' | 'timestamp'> & {
  data?: Record<string, unknown>;
};
export type LoggedEvent = Omit<Schemas['LoggedEvent'], 'envelope'> & { envelope: Envelope };
export type EventPage = Omit<Schemas['ListEventsAnswer'], 'events'> & { events: LoggedEvent[] };
export type Attempt = Schemas['DeliveryAttempt'];
export type Replay = Schemas['Replay'];
export type Message = Schemas['Message'];
export type MessagePage = Schemas['ListMessagesAnswer'];
export type MessageTimeline = Schemas['GetTimelineAnswer'];
export type TimelineEntry = Schemas['TimelineEntry'];
export type LedgerPage = Schemas['GetLedgerAnswer'];
export type LedgerEntry = Schemas['LedgerEntry'];
export type LedgerAmounts = Pick<
  Schemas['LedgerTotals'],
  'messages' | 'charged' | 'unpriced' | 'amounts'
>;
export type LedgerTotals = Schemas['LedgerTotals'];
export type PriceList = Schemas['ListPricesAnswer'];
export type ListedPrice = Schemas['ListedPrice'];
export type MessageCheck = Schemas['CheckMessageAnswer'];
export type LedgerChange = NonNullable<LedgerPage['category_changes']>[number];

/** A component of a template, whose content only the upstream defines. */
export interface TemplateComponent {
  type: string;
  format?: string;
  text?: string;
  example?: Record<string, unknown>;
  buttons?: Array<{ type: string; text: string; url?: string; phone_number?: string }>;
}
