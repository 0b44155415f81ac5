// All indexes of the service: created at the start, checked by `diagnose`.
import type { Indexes } from '@bmg/common/mongo';
import { AUDIT_COUNTS, AUDIT_LOG, auditCountIndexes, auditLogIndexes } from './accounts/audit';
import {
  BILLING_ACCOUNTS,
  billingAccountIndexes,
  PAYMENT_EVENTS,
  paymentEventIndexes,
  SLOT_CHARGES,
  slotChargeIndexes,
} from './billing/payments';
import { clientIndexes, CLIENTS } from './ground/clients';
import { DASHBOARD_SESSIONS, dashboardSessionIndexes } from './accounts/sessions';
import {
  COUNTED_MESSAGES,
  countedMessageIndexes,
  ENDPOINT_USAGE,
  endpointUsageIndexes,
  MESSAGE_USAGE,
  messageUsageIndexes,
} from './billing/usage';
import { CODE_EXCHANGES, exchangeIndexes, sessionIndexes, SESSIONS } from './connect/sign-up';
import { NUMBER_DAYS, numberDayIndexes } from './ground/number-days';
import { ONBOARDING_EVENTS, onboardingEventIndexes } from './connect/onboarding-log';
import { PARTNER_ALERTS, partnerAlertIndexes } from './accounts/alerts';
import { PARTNER_KEYS, partnerKeyIndexes } from './accounts/keys';
import { PARTNER_LOGOS, partnerLogoIndexes } from './accounts/partners';
import { passkeyIndexes, PASSKEYS, USED_CHALLENGES, usedChallengeIndexes } from './accounts/people';
import { PEOPLE, peopleIndexes } from './ground/people';
import { partnerIndexes, PARTNERS } from './ground/partners';
import { WEBHOOK_ENDPOINTS, webhookEndpointIndexes } from './accounts/receivers';

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
