// The access rules of gRPC: for each RPC, the callers that may use it. An RPC that is not listed is
// closed to every caller, and all are closed to an unknown one.
import { processIdentities } from '../config';

export const CALLER_NAMES = [
  'gateway',
  'messaging',
  'templates',
  'number-admin',
  'broadcasts',
  'webhooks',
  'fanout',
  // An operator with the command line, or with grpcurl.
  'operator',
  // The platform's own programs that send without the edge (proto/examples).
  'internal',
] as const;

export type Caller = (typeof CALLER_NAMES)[number];

/** Callers, and the methods that they may use, by the names of the proto. */
type Grant = [callers: readonly Caller[], ...methods: string[]];

/** A line has several methods, separated by spaces. */
const GRANTS: Readonly<Record<string, readonly Grant[]>> = {
  Alerts: [[['messaging', 'webhooks'], 'ListWatchers RaiseAlert']],
  Audit: [
    [['gateway', 'operator'], 'BeginChange EndChange'],
    [['gateway'], 'RecordRefusal ListAuditRecords ExportAuditRecords'],
    [['operator'], 'ListAllAuditRecords CheckAuditChain EraseAuditPerson'],
  ],
  Broadcasts: [
    [
      ['gateway'],
      'CreateBroadcast GetBroadcast CancelBroadcast PauseBroadcast ResumeBroadcast',
      'ApproveBroadcast CheckBroadcast',
    ],
    [['gateway', 'operator'], 'ListBroadcasts'],
    [['messaging'], 'GetPace FindContact FindBroadcast'],
  ],
  Data: [[['operator'], 'PurgeClient']],
  Directory: [
    [
      ['gateway'],
      'Authenticate AuthenticateSession ResolveTarget AuthenticateMany RenewKeyHash',
      'ResolveTargets',
    ],
    [['messaging', 'templates', 'number-admin', 'broadcasts'], 'GetCredential GetCredentials'],
    [['messaging', 'templates', 'broadcasts', 'webhooks', 'fanout'], 'GetOwners'],
    [['messaging'], 'ListNumbers'],
    [['webhooks'], 'GetReceiver GetReceivers'],
    [['fanout'], 'GetOwnersOfNumbers GetExtraEvents'],
    [['number-admin'], 'StorePin GetPin'],
  ],
  EndpointRegistry: [
    [
      ['webhooks'],
      'ListEndpoints RegisterEndpoint ChangeEndpoint DeleteEndpoint RotateEndpointSecret',
      'DisableEndpoint ConfirmTest RegisterShadow RemoveShadow',
    ],
  ],
  Destinations: [[['webhooks'], 'Check Send']],
  Endpoints: [
    [['gateway', 'operator'], 'ListEndpoints GetEndpoint ListEndpointAttempts ListShadows'],
    [
      ['gateway'],
      'CreateEndpoint UpdateEndpoint DeleteEndpoint RotateEndpointSecret TestEndpoint',
      'StartShadow GetShadow StopShadow',
    ],
  ],
  EventLog: [
    [['gateway', 'operator'], 'ListEvents GetEvent ReplayEvents GetReplay'],
    [['messaging', 'operator'], 'FindEvents'],
  ],
  Indexes: [[['operator'], 'CompareIndexes ApplyIndexes']],
  Keys: [
    [['gateway', 'operator'], 'ListKeys CreateKey UpdateKey RotateKey RevokeKey'],
    [['gateway'], 'GetKey'],
  ],
  Ledger: [
    [['gateway'], 'GetLedger ExportLedger'],
    [['operator'], 'CloseMonth ListMonths'],
  ],
  Messaging: [
    [['gateway', 'internal'], 'SendText SendTemplate FindOutcome'],
    [
      ['gateway'],
      'SendMedia SendInteractive SendLocation SendContacts SendReaction MarkRead UploadMedia',
      'DownloadMedia LookupContact GetAnalytics CheckMessage ListMessages GetTimeline',
    ],
    [['broadcasts'], 'SendBroadcastMessage SendClaimedMessage SettleSends CheckContacts'],
  ],
  NumberAdmin: [
    [
      ['gateway'],
      'GetProfile UpdateProfile ListQrCodes CreateQrCode UpdateQrCode DeleteQrCode',
      'GetConversationalAutomation UpdateConversationalAutomation ListBlocked BlockUsers',
      'UnblockUsers GetCommerceSettings UpdateCommerceSettings GetSettings UpdateSettings',
      'GetPhoneStatus GetWaba ListActivities ListAssignedUsers ListSolutions ListSchedules',
      'ListFlows GetFlow RequestCode VerifyCode SetTwoStepPin RegisterPhone DeregisterPhone',
      'PlaceCall ListGroups CreateGroup GetGroup DeleteGroup RemoveGroupParticipants',
    ],
  ],
  Onboarding: [
    [
      ['gateway'],
      'RegisterFromCode CreateConnectSession GetLogo GetEmbeddedSignupConfig RegisterClient',
      'ListClients DeleteClient RefreshClient ResubscribeWebhook ListMessageDays',
      'RecordRequests ListRequests OpenConnectPage ReportConnectStep',
    ],
    [['gateway', 'operator'], 'ListOnboardingEvents GetUsage'],
  ],
  Operator: [
    [
      ['operator'],
      'CreatePartner UpdatePartner ListPartners GetPartner NotifyPartner RotateKey',
      'RotateWebhookSecret ListAllClients RestoreClient RotateKeyring Diagnose SubscribeApp',
    ],
  ],
  Passkeys: [
    [
      ['gateway'],
      'ReadInvitation StartRegistration AcceptInvitation StartLogIn LogIn StartIssuerLogIn',
      'LogInWithIssuer ListPasskeys AddPasskey RenamePasskey RemovePasskey',
    ],
  ],
  Payments: [
    [['webhooks'], 'HandlePaymentEvent'],
    [['gateway', 'operator'], 'CreateCardSession GetBilling'],
  ],
  People: [
    [['gateway', 'operator'], 'ListPeople InvitePerson UpdatePerson RemovePerson'],
    [['gateway'], 'GetPerson RenewInvitation GetBroadcastApproval SetBroadcastApproval'],
  ],
  Rates: [
    [['operator'], 'LoadRates GetRates'],
    [['gateway', 'operator'], 'ListPrices'],
    [['fanout'], 'CompareCategories'],
  ],
  Settings: [
    [
      ['gateway'],
      'OpenSession UseSession CloseSession ListSessions CloseAllSessions EndSession',
      'GetSettings ListNumberDays UpdateSettings RevealWebhookSecret RotateWebhookSecret',
    ],
  ],
  Templates: [
    [['gateway', 'broadcasts', 'internal'], 'ListTemplates'],
    [
      ['gateway'],
      'CreateTemplate GetTemplate UpdateTemplate GetTemplateAnalytics ListLibraryTemplates',
      'UploadHeader DeleteTemplate',
    ],
    [['messaging', 'broadcasts'], 'FindTemplate'],
    [['messaging'], 'ListCategories'],
  ],
  Webhooks: [
    [['gateway', 'operator'], 'ListFailedEvents RetryEvent RetryAllEvents SendTestEvent'],
    [['operator'], 'GetBacklog'],
  ],
};

/** The callers of each RPC, by service and method. */
export const RPCS: Readonly<Record<string, Readonly<Record<string, readonly Caller[]>>>> =
  Object.fromEntries(
    Object.entries(GRANTS).map(([service, grants]) => [
      service,
      Object.fromEntries(
        grants.flatMap(([callers, ...lines]) =>
          lines.flatMap((line) => line.split(' ').map((method) => [method, callers] as const)),
        ),
      ),
    ]),
  );

/** The standard services, which every process serves. */
const STANDARD: typeof RPCS = {
  Health: { Check: CALLER_NAMES, Watch: CALLER_NAMES },
  ServerReflection: { ServerReflectionInfo: ['operator'] },
};

const rows = new Map<string, ReadonlySet<string>>(
  Object.entries({ ...RPCS, ...STANDARD }).flatMap(([service, methods]) =>
    Object.entries(methods).map(
      ([method, callers]) => [`${service}/${method}`, new Set<string>(callers)] as const,
    ),
  ),
);

export const mayCall = (names: readonly string[], service: string, method: string): boolean => {
  const allowed = rows.get(`${service}/${method}`);
  return allowed !== undefined && names.some((name) => allowed.has(name));
};

/** `mesh` for an RPC that processes of the mesh call; `none` for one without a row. */
export type Audience = 'mesh' | 'operator' | 'none';

/** The callers that an RPC is meant for when callers have no certificates. */
export function audienceOf(service: string, method: string): Audience {
  const callers = rows.get(`${service}/${method}`);
  if (!callers) return 'none';
  return callers.size === 1 && callers.has('operator') ? 'operator' : 'mesh';
}

const QUOTED = /"(?:[^"\\]|\\.)*"/g;

/**
 * The callers that a certificate identifies. One of the names in its subjectAltName, as Node writes
 * it, must equal one of `identities` (GRPC_IDENTITIES) with the caller's name in it: the same label
 * in another namespace or trust domain is another team's.
 */
export function namesOf(
  subjectaltname: string | undefined,
  identities: readonly string[] = processIdentities(),
): Caller[] {
  // Values with a comma or a quotation mark are quoted: none of our names needs that.
  const held = new Set((subjectaltname ?? '').replace(QUOTED, '""').split(', '));
  return CALLER_NAMES.filter((caller) =>
    identities.some((identity) => held.has(identity.replaceAll('{caller}', caller))),
  );
}
