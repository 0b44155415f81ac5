// All indexes of the service: created at the start, checked by `diagnose`.
import type { Indexes } from '@bmg/common/mongo';
import { AUDIT_COUNTS, AUDIT_LOG, auditCountIndexes, auditLogIndexes } from './audit-log';
import { BILLING_ACCOUNTS, billingAccountIndexes } from './billing-accounts';
import { clientIndexes, CLIENTS } from './clients';
import { DASHBOARD_SESSIONS, dashboardSessionIndexes } from './dashboard-sessions';
import { ENDPOINT_USAGE, endpointUsageIndexes } from './endpoint-usage';
import { CODE_EXCHANGES, exchangeIndexes } from './code-exchanges';
import {
  COUNTED_MESSAGES,
  countedMessageIndexes,
  MESSAGE_USAGE,
  messageUsageIndexes,
} from './message-usage';
import { NUMBER_DAYS, numberDayIndexes } from './number-days';
import { ONBOARDING_EVENTS, onboardingEventIndexes } from './onboarding-events';
import { PARTNER_ALERTS, partnerAlertIndexes } from './partner-alerts';
import { PARTNER_KEYS, partnerKeyIndexes } from './partner-keys';
import { PARTNER_LOGOS, partnerLogoIndexes } from './partner-logos';
import { PASSKEYS, passkeyIndexes } from './passkeys';
import { PAYMENT_EVENTS, paymentEventIndexes } from './payment-events';
import { PEOPLE, peopleIndexes } from './people';
import { partnerIndexes, PARTNERS } from './partners';
import { sessionIndexes, SESSIONS } from './connect-sessions';
import { SLOT_CHARGES, slotChargeIndexes } from './slot-charges';
import { USED_CHALLENGES, usedChallengeIndexes } from './used-challenges';
import { WEBHOOK_ENDPOINTS, webhookEndpointIndexes } from './webhook-endpoints';

export const indexes: Indexes = {
  [CLIENTS]: clientIndexes,
  [PARTNERS]: partnerIndexes,
  [SESSIONS]: sessionIndexes,
  [DASHBOARD_SESSIONS]: dashboardSessionIndexes,
  [CODE_EXCHANGES]: exchangeIndexes,
  [ONBOARDING_EVENTS]: onboardingEventIndexes,
  [ENDPOINT_USAGE]: endpointUsageIndexes,
  [COUNTED_MESSAGES]: countedMessageIndexes,
  [MESSAGE_USAGE]: messageUsageIndexes,
  [NUMBER_DAYS]: numberDayIndexes,
  [BILLING_ACCOUNTS]: billingAccountIndexes,
  [SLOT_CHARGES]: slotChargeIndexes,
  [PARTNER_ALERTS]: partnerAlertIndexes,
  [PARTNER_KEYS]: partnerKeyIndexes,
  [PARTNER_LOGOS]: partnerLogoIndexes,
  [PASSKEYS]: passkeyIndexes,
  [PAYMENT_EVENTS]: paymentEventIndexes,
  [PEOPLE]: peopleIndexes,
  [USED_CHALLENGES]: usedChallengeIndexes,
  [WEBHOOK_ENDPOINTS]: webhookEndpointIndexes,
  [AUDIT_LOG]: auditLogIndexes,
  [AUDIT_COUNTS]: auditCountIndexes,
};
