// All indexes of the service: created at the start, checked by `diagnose`.
import type { Indexes } from '@bmg/common/mongo';
import {
  AUDIT_COUNTS,
  AUDIT_LOG,
  auditCountIndexes,
  auditLogIndexes,
} from './accounts/audit/store';
import { BILLING_ACCOUNTS, billingAccountIndexes } from './billing/payments/store/billing-accounts';
import { clientIndexes, CLIENTS } from './ground/clients';
import { DASHBOARD_SESSIONS, dashboardSessionIndexes } from './accounts/sessions/store';
import { ENDPOINT_USAGE, endpointUsageIndexes } from './billing/usage/store/endpoint-usage';
import { CODE_EXCHANGES, exchangeIndexes } from './connect/sign-up/store/code-exchanges';
import {
  COUNTED_MESSAGES,
  countedMessageIndexes,
  MESSAGE_USAGE,
  messageUsageIndexes,
} from './billing/usage/store/message-usage';
import { NUMBER_DAYS, numberDayIndexes } from './ground/number-days';
import { ONBOARDING_EVENTS, onboardingEventIndexes } from './connect/onboarding-log/store';
import { PARTNER_ALERTS, partnerAlertIndexes } from './accounts/alerts/store';
import { PARTNER_KEYS, partnerKeyIndexes } from './accounts/keys/store';
import { PARTNER_LOGOS, partnerLogoIndexes } from './accounts/partners/store';
import { PASSKEYS, passkeyIndexes } from './accounts/people/store/passkeys';
import { PAYMENT_EVENTS, paymentEventIndexes } from './billing/payments/store/payment-events';
import { PEOPLE, peopleIndexes } from './ground/people';
import { partnerIndexes, PARTNERS } from './ground/partners';
import { sessionIndexes, SESSIONS } from './connect/sign-up/store/connect-sessions';
import { SLOT_CHARGES, slotChargeIndexes } from './billing/payments/store/slot-charges';
import { USED_CHALLENGES, usedChallengeIndexes } from './accounts/people/store/used-challenges';
import { WEBHOOK_ENDPOINTS, webhookEndpointIndexes } from './accounts/receivers/store';

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
