// Renews the certificates of a release that helm made (`bmg certificates renew`): those that are
// about to expire, or that do not fit the authority or the service any more. A failure of one
// service does not keep the others from their renewal.
import { X509Certificate } from 'node:crypto';
import {
  authorityWarning,
  dayOf,
  issue,
  readAuthority,
  reasonToRenew,
  type Authority,
  type TlsData,
} from './certificate';
import type { SecretsApi } from './secrets-api';

/** How often a Secret is read and checked again if another client changes it in between. */
const TRIES = 5;

export interface Renewal {
  /** The prefix of all names: the chart's fullname. */
  release: string;
  services: string[];
  valid_days: number;
}

export interface Outcome {
  service: string;
  result: 'kept' | 'renewed' | 'failed';
  /** The last day of the certificate in use; null if it failed. */
  valid_until: string | null;
  /** Why it was renewed, or why it failed. */
  reason: string | null;
}

export type Report = Awaited<ReturnType<typeof renewCertificates>>;

export async function renewCertificates(
  api: SecretsApi,
  { release, services, valid_days }: Renewal,
) {
  const authorityOf = async (): Promise<Authority> => {
    const name = `${release}-mtls-ca`;
    const { data } = await api.read(name);
    return readAuthority(data, Date.now()).catch((error: unknown) => {
      throw new Error(`the Secret ${name} holds no usable authority: ${reasonOf(error)}`);
    });
  };
  let authority = await authorityOf();

  const renew = async (service: string): Promise<Omit<Outcome, 'service'>> => {
    const secret = `${release}-${service}-tls`;
    const host = `${release}-${service}`;
    const names = [service, host, `${host}.${api.namespace}.svc`];
    for (let tries = 1; tries <= TRIES; tries += 1) {
      const { version, data } = await api.read(secret);
      const reason = reasonToRenew(data, names, authority, Date.now());
      if (reason === undefined) return { result: 'kept', valid_until: endOf(data), reason: null };
      const next = await issue(names, valid_days, authority, Date.now());
      if (await api.write(secret, version, next)) {
        return { result: 'renewed', valid_until: endOf(next), reason };
      }
      // A helm upgrade, which may have created another authority too.
      authority = await authorityOf();
    }
    throw new Error(`the Secret ${secret} was changed by others ${TRIES} times in a row`);
  };

  const outcomes: Outcome[] = [];
  for (const service of services) {
    const outcome = await renew(service).catch((error: unknown) => ({
      result: 'failed' as const,
      valid_until: null,
      reason: reasonOf(error),
    }));
    outcomes.push({ service, ...outcome });
  }
  return { outcomes, warning: authorityWarning(authority, Date.now()) ?? null };
}

const endOf = (data: TlsData): string => dayOf(new X509Certificate(data['tls.crt'] as string));

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
