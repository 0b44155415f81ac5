// All collections of the service: their stores on one database, and their indexes, which are created
// at the start and checked by `diagnose`.
import type { Indexes } from '@bmg/common/mongo';
import type { Db } from 'mongodb';
import * as alerts from './accounts/alerts';
import * as audit from './accounts/audit';
import * as keys from './accounts/keys';
import * as partners from './accounts/partners';
import * as people from './accounts/people';
import * as receivers from './accounts/receivers';
import * as requests from './accounts/requests';
import * as sessions from './accounts/sessions';
import * as payments from './billing/payments';
import * as usage from './billing/usage';
import * as clients from './connect/clients';
import * as onboardingLog from './connect/onboarding-log';
import * as signUp from './connect/sign-up';
import * as sync from './connect/sync';
import { clientIndexes, CLIENTS, createClients } from './ground/clients';
import { createNumberDays, NUMBER_DAYS, numberDayIndexes } from './ground/number-days';
import {
  createOpenRegistrations,
  OPEN_REGISTRATIONS,
  openRegistrationIndexes,
} from './ground/open-registrations';
import { createPartners, partnerIndexes, PARTNERS } from './ground/partners';
import { createPeople, PEOPLE, peopleIndexes } from './ground/people';
import * as operator from './operator';

export const createStores = (db: Db) => ({
  accounts: payments.createBillingAccounts(db),
  auditLog: audit.createAuditLog(db),
  auditChain: audit.createAuditChain(db),
  charges: payments.createSlotCharges(db),
  clientFacts: clients.createClientFacts(db),
  clients: createClients(db),
  clientSyncs: sync.createClientSyncs(db),
  clientTokens: clients.createClientTokens(db),
  dashboardSessions: sessions.createDashboardSessions(db),
  endpointUsage: usage.createEndpointUsage(db),
  events: onboardingLog.createOnboardingEvents(db),
  exchanges: signUp.createCodeExchanges(db),
  messageUsage: usage.createMessageUsage(db),
  numberDays: createNumberDays(db),
  openRegistrations: createOpenRegistrations(db),
  partnerAlerts: alerts.createPartnerAlerts(db),
  partnerKeys: keys.createPartnerKeys(db),
  partnerLogos: partners.createPartnerLogos(db),
  partners: createPartners(db),
  passkeys: people.createPasskeys(db),
  paymentEvents: payments.createPaymentEvents(db),
  people: createPeople(db),
  requests: requests.createRequests(db),
  sealedRecords: operator.createSealedRecords(db),
  sessions: signUp.createSessions(db),
  usedChallenges: people.createUsedChallenges(db),
  webhookEndpoints: receivers.createWebhookEndpoints(db),
});

export const indexes: Indexes = {
  [CLIENTS]: clientIndexes,
  [PARTNERS]: partnerIndexes,
  [signUp.SESSIONS]: signUp.sessionIndexes,
  [sessions.DASHBOARD_SESSIONS]: sessions.dashboardSessionIndexes,
  [signUp.CODE_EXCHANGES]: signUp.exchangeIndexes,
  [onboardingLog.ONBOARDING_EVENTS]: onboardingLog.onboardingEventIndexes,
  [usage.ENDPOINT_USAGE]: usage.endpointUsageIndexes,
  [usage.COUNTED_MESSAGES]: usage.countedMessageIndexes,
  [usage.MESSAGE_USAGE]: usage.messageUsageIndexes,
  [NUMBER_DAYS]: numberDayIndexes,
  [OPEN_REGISTRATIONS]: openRegistrationIndexes,
  [payments.BILLING_ACCOUNTS]: payments.billingAccountIndexes,
  [payments.SLOT_CHARGES]: payments.slotChargeIndexes,
  [alerts.PARTNER_ALERTS]: alerts.partnerAlertIndexes,
  [keys.PARTNER_KEYS]: keys.partnerKeyIndexes,
  [partners.PARTNER_LOGOS]: partners.partnerLogoIndexes,
  [people.PASSKEYS]: people.passkeyIndexes,
  [payments.PAYMENT_EVENTS]: payments.paymentEventIndexes,
  [PEOPLE]: peopleIndexes,
  [people.USED_CHALLENGES]: people.usedChallengeIndexes,
  [receivers.WEBHOOK_ENDPOINTS]: receivers.webhookEndpointIndexes,
  [requests.REQUESTS]: requests.requestIndexes,
  [audit.AUDIT_LOG]: audit.auditLogIndexes,
  [audit.AUDIT_COUNTS]: audit.auditCountIndexes,
  [audit.AUDIT_CHAIN]: audit.auditChainIndexes,
};
