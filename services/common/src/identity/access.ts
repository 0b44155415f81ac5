// The access rules of gRPC: for each RPC, the callers that may use it. An RPC without a row is closed
// to every caller, and all are closed to an unknown one.
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

/** Service, method, callers. The names are those of the protos, without the package. */
export const RPCS: Readonly<Record<string, Readonly<Record<string, readonly Caller[]>>>> = {
  Alerts: {
    ListWatchers: ['messaging', 'webhooks'],
    RaiseAlert: ['messaging', 'webhooks'],
  },
  Audit: {
    BeginChange: ['gateway', 'operator'],
    EndChange: ['gateway', 'operator'],
    RecordRefusal: ['gateway'],
    ListAuditRecords: ['gateway'],
    ExportAuditRecords: ['gateway'],
    ListAllAuditRecords: ['operator'],
    CheckAuditChain: ['operator'],
    EraseAuditPerson: ['operator'],
  },
  Broadcasts: {
    CreateBroadcast: ['gateway'],
    ListBroadcasts: ['gateway', 'operator'],
    GetBroadcast: ['gateway'],
    CancelBroadcast: ['gateway'],
    PauseBroadcast: ['gateway'],
    ResumeBroadcast: ['gateway'],
    ApproveBroadcast: ['gateway'],
    CheckBroadcast: ['gateway'],
    GetPace: ['messaging'],
    FindContact: ['messaging'],
    FindBroadcast: ['messaging'],
  },
  Data: {
    PurgeClient: ['operator'],
  },
  Directory: {
    Authenticate: ['gateway'],
    AuthenticateSession: ['gateway'],
    ResolveTarget: ['gateway'],
    GetCredential: ['messaging', 'templates', 'number-admin', 'broadcasts'],
    GetOwners: ['messaging', 'templates', 'broadcasts', 'webhooks', 'fanout'],
    ListNumbers: ['messaging'],
    GetReceiver: ['webhooks'],
    AuthenticateMany: ['gateway'],
    RenewKeyHash: ['gateway'],
    ResolveTargets: ['gateway'],
    GetCredentials: ['messaging', 'templates', 'number-admin', 'broadcasts'],
    GetOwnersOfNumbers: ['fanout'],
    GetReceivers: ['webhooks'],
    GetExtraEvents: ['fanout'],
    StorePin: ['number-admin'],
    GetPin: ['number-admin'],
  },
  EndpointRegistry: {
    ListEndpoints: ['webhooks'],
    RegisterEndpoint: ['webhooks'],
    ChangeEndpoint: ['webhooks'],
    DeleteEndpoint: ['webhooks'],
    RotateEndpointSecret: ['webhooks'],
    DisableEndpoint: ['webhooks'],
    ConfirmTest: ['webhooks'],
    RegisterShadow: ['webhooks'],
    RemoveShadow: ['webhooks'],
  },
  Destinations: {
    Check: ['webhooks'],
    Send: ['webhooks'],
  },
  Endpoints: {
    ListEndpoints: ['gateway', 'operator'],
    GetEndpoint: ['gateway', 'operator'],
    CreateEndpoint: ['gateway'],
    UpdateEndpoint: ['gateway'],
    DeleteEndpoint: ['gateway'],
    RotateEndpointSecret: ['gateway'],
    TestEndpoint: ['gateway'],
    ListEndpointAttempts: ['gateway', 'operator'],
    StartShadow: ['gateway'],
    ListShadows: ['gateway', 'operator'],
    GetShadow: ['gateway'],
    StopShadow: ['gateway'],
  },
  EventLog: {
    ListEvents: ['gateway', 'operator'],
    GetEvent: ['gateway', 'operator'],
    ReplayEvents: ['gateway', 'operator'],
    GetReplay: ['gateway', 'operator'],
    FindEvents: ['messaging', 'operator'],
  },
  Indexes: {
    CompareIndexes: ['operator'],
    ApplyIndexes: ['operator'],
  },
  Keys: {
    ListKeys: ['gateway', 'operator'],
    GetKey: ['gateway'],
    CreateKey: ['gateway', 'operator'],
    UpdateKey: ['gateway', 'operator'],
    RotateKey: ['gateway', 'operator'],
    RevokeKey: ['gateway', 'operator'],
  },
  Ledger: {
    GetLedger: ['gateway'],
    ExportLedger: ['gateway'],
    CloseMonth: ['operator'],
    ListMonths: ['operator'],
  },
  Messaging: {
    SendText: ['gateway', 'internal'],
    SendTemplate: ['gateway', 'internal'],
    SendMedia: ['gateway'],
    SendInteractive: ['gateway'],
    SendLocation: ['gateway'],
    SendContacts: ['gateway'],
    SendReaction: ['gateway'],
    MarkRead: ['gateway'],
    UploadMedia: ['gateway'],
    DownloadMedia: ['gateway'],
    LookupContact: ['gateway'],
    GetAnalytics: ['gateway'],
    SendBroadcastMessage: ['broadcasts'],
    SendClaimedMessage: ['broadcasts'],
    SettleSends: ['broadcasts'],
    FindOutcome: ['gateway', 'internal'],
    CheckMessage: ['gateway'],
    ListMessages: ['gateway'],
    GetTimeline: ['gateway'],
    CheckContacts: ['broadcasts'],
  },
  NumberAdmin: {
    GetProfile: ['gateway'],
    UpdateProfile: ['gateway'],
    ListQrCodes: ['gateway'],
    CreateQrCode: ['gateway'],
    UpdateQrCode: ['gateway'],
    DeleteQrCode: ['gateway'],
    GetConversationalAutomation: ['gateway'],
    UpdateConversationalAutomation: ['gateway'],
    ListBlocked: ['gateway'],
    BlockUsers: ['gateway'],
    UnblockUsers: ['gateway'],
    GetCommerceSettings: ['gateway'],
    UpdateCommerceSettings: ['gateway'],
    GetSettings: ['gateway'],
    UpdateSettings: ['gateway'],
    GetPhoneStatus: ['gateway'],
    GetWaba: ['gateway'],
    ListActivities: ['gateway'],
    ListAssignedUsers: ['gateway'],
    ListSolutions: ['gateway'],
    ListSchedules: ['gateway'],
    ListFlows: ['gateway'],
    GetFlow: ['gateway'],
    RequestCode: ['gateway'],
    VerifyCode: ['gateway'],
    SetTwoStepPin: ['gateway'],
    RegisterPhone: ['gateway'],
    DeregisterPhone: ['gateway'],
    PlaceCall: ['gateway'],
    ListGroups: ['gateway'],
    CreateGroup: ['gateway'],
    GetGroup: ['gateway'],
    DeleteGroup: ['gateway'],
    RemoveGroupParticipants: ['gateway'],
  },
  Onboarding: {
    RegisterFromCode: ['gateway'],
    CreateConnectSession: ['gateway'],
    GetLogo: ['gateway'],
    ListOnboardingEvents: ['gateway', 'operator'],
    GetEmbeddedSignupConfig: ['gateway'],
    RegisterClient: ['gateway'],
    ListClients: ['gateway'],
    DeleteClient: ['gateway'],
    RefreshClient: ['gateway'],
    ResubscribeWebhook: ['gateway'],
    GetUsage: ['gateway', 'operator'],
    ListMessageDays: ['gateway'],
    RecordRequests: ['gateway'],
    ListRequests: ['gateway'],
    OpenConnectPage: ['gateway'],
    ReportConnectStep: ['gateway'],
  },
  Operator: {
    CreatePartner: ['operator'],
    UpdatePartner: ['operator'],
    ListPartners: ['operator'],
    GetPartner: ['operator'],
    NotifyPartner: ['operator'],
    RotateKey: ['operator'],
    RotateWebhookSecret: ['operator'],
    ListAllClients: ['operator'],
    RestoreClient: ['operator'],
    RotateKeyring: ['operator'],
    Diagnose: ['operator'],
    SubscribeApp: ['operator'],
  },
  Passkeys: {
    ReadInvitation: ['gateway'],
    StartRegistration: ['gateway'],
    AcceptInvitation: ['gateway'],
    StartLogIn: ['gateway'],
    LogIn: ['gateway'],
    StartIssuerLogIn: ['gateway'],
    LogInWithIssuer: ['gateway'],
    ListPasskeys: ['gateway'],
    AddPasskey: ['gateway'],
    RenamePasskey: ['gateway'],
    RemovePasskey: ['gateway'],
  },
  Payments: {
    HandlePaymentEvent: ['webhooks'],
    CreateCardSession: ['gateway', 'operator'],
    GetBilling: ['gateway', 'operator'],
  },
  People: {
    ListPeople: ['gateway', 'operator'],
    GetPerson: ['gateway'],
    InvitePerson: ['gateway', 'operator'],
    UpdatePerson: ['gateway', 'operator'],
    RemovePerson: ['gateway', 'operator'],
    RenewInvitation: ['gateway'],
    GetBroadcastApproval: ['gateway'],
    SetBroadcastApproval: ['gateway'],
  },
  Rates: {
    LoadRates: ['operator'],
    GetRates: ['operator'],
    ListPrices: ['gateway', 'operator'],
    CompareCategories: ['fanout'],
  },
  Settings: {
    OpenSession: ['gateway'],
    UseSession: ['gateway'],
    CloseSession: ['gateway'],
    ListSessions: ['gateway'],
    CloseAllSessions: ['gateway'],
    EndSession: ['gateway'],
    GetSettings: ['gateway'],
    ListNumberDays: ['gateway'],
    UpdateSettings: ['gateway'],
    RevealWebhookSecret: ['gateway'],
    RotateWebhookSecret: ['gateway'],
  },
  Templates: {
    ListTemplates: ['gateway', 'broadcasts', 'internal'],
    CreateTemplate: ['gateway'],
    GetTemplate: ['gateway'],
    UpdateTemplate: ['gateway'],
    GetTemplateAnalytics: ['gateway'],
    ListLibraryTemplates: ['gateway'],
    UploadHeader: ['gateway'],
    DeleteTemplate: ['gateway'],
    FindTemplate: ['messaging', 'broadcasts'],
    ListCategories: ['messaging'],
  },
  Webhooks: {
    ListFailedEvents: ['gateway', 'operator'],
    RetryEvent: ['gateway', 'operator'],
    RetryAllEvents: ['gateway', 'operator'],
    SendTestEvent: ['gateway', 'operator'],
    GetBacklog: ['operator'],
  },
};

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
