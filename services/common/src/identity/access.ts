// The access rules of gRPC: which RPCs each caller may use, by the name in its certificate. An
// unknown name may use health and reflection only. Without certificates no call is refused.
import { isIP } from 'node:net';

/** `Service` stands for all its methods, `Service/Method` for one. */
export const CALLERS = {
  // The edge: everything that partners reach, and their authentication.
  gateway: [
    'Onboarding',
    'Directory/Authenticate',
    'Directory/AuthenticateSession',
    'Directory/ResolveTarget',
    'Messaging/SendText',
    'Messaging/SendTemplate',
    'Messaging/SendMedia',
    'Messaging/SendInteractive',
    'Messaging/SendLocation',
    'Messaging/SendReaction',
    'Messaging/MarkRead',
    'Messaging/UploadMedia',
    'Messaging/DownloadMedia',
    'Messaging/LookupContact',
    'Messaging/GetAnalytics',
    'Messaging/FindOutcome',
    'Messaging/CheckMessage',
    'Templates',
    'Broadcasts',
    'NumberAdmin',
    'Settings',
    'Payments/CreateCardSession',
    'Payments/GetBilling',
    'Webhooks',
    'EventLog',
  ],
  // The upstream's tokens: those who call the upstream themselves, or stop when a number may not
  // send. GetOwners: a client's data is deleted only once the client is.
  messaging: [
    'Directory/GetCredential',
    'Directory/GetOwners',
    'Templates/FindTemplate',
    'Broadcasts/GetPace',
  ],
  templates: ['Directory/GetCredential', 'Directory/GetOwners'],
  'number-admin': ['Directory/GetCredential', 'Directory/GetPin', 'Directory/StorePin'],
  broadcasts: [
    'Directory/GetCredential',
    'Directory/GetOwners',
    'Messaging/SendBroadcastMessage',
    'Templates/ListTemplates',
  ],
  webhooks: ['Directory/GetOwners', 'Directory/GetReceiver', 'Payments/HandlePaymentEvent'],
  fanout: ['Directory/GetOwners'],
  // An operator with the command line, or with grpcurl as the runbook describes.
  operator: [
    'Data',
    'Operator',
    'Rates',
    'Onboarding/GetUsage',
    'Onboarding/ListOnboardingEvents',
    'Broadcasts/ListBroadcasts',
    'Payments/CreateCardSession',
    'Payments/GetBilling',
    'Webhooks',
    'EventLog',
  ],
  // The platform's own programs that send without the edge (proto/examples).
  internal: [
    'Messaging/SendText',
    'Messaging/SendTemplate',
    'Messaging/FindOutcome',
    'Templates/ListTemplates',
  ],
} as const satisfies Record<string, readonly string[]>;

export type Caller = keyof typeof CALLERS;

const rows = new Map<string, ReadonlySet<string>>(
  Object.entries(CALLERS).map(([name, allowed]) => [name, new Set<string>(allowed)]),
);

/** `service` and `method` as the proto spells them, without the package. */
export const mayCall = (names: readonly string[], service: string, method: string): boolean =>
  names.some((name) => {
    const allowed = rows.get(name);
    return allowed !== undefined && (allowed.has(service) || allowed.has(`${service}/${method}`));
  });

const QUOTED = /"(?:[^"\\]|\\.)*"/g;

/**
 * The names in a certificate's subjectAltName, as Node writes it: the last part of a SPIFFE id
 * (spiffe://mesh.example/ns/bmg/sa/gateway), the first label of a DNS name (gateway.bmg.svc).
 */
export function namesOf(subjectaltname: string | undefined): string[] {
  const found = new Set<string>();
  // Values with a comma or a quotation mark are quoted: none of our names needs that.
  for (const entry of (subjectaltname ?? '').replace(QUOTED, '""').split(', ')) {
    const spiffe = /^URI:spiffe:\/\/[^/"]+(?:\/[^/"]+)*\/([\w-]+)$/.exec(entry);
    const dns = /^DNS:([\w-]+)(?:\.[\w.-]+)?$/.exec(entry);
    const name = spiffe?.[1] ?? dns?.[1];
    if (name !== undefined && isIP(name) === 0) found.add(name);
  }
  return [...found];
}
