// Deletes a client's data in the database of every service (`bmg client purge`). Onboarding comes
// last: its record of the client stays until the rest is deleted, so an interrupted purge is
// visible and can be repeated.
import { DataDefinition, type Purged } from '@bmg/proto/data';
import { findService } from './advice';
import { doesNotAnswer, isUnavailable, SERVICES, type Address, type Session } from './session';

/** Those that store data of clients. */
const { 'number-admin': _, ...HOLDERS } = SERVICES;
/** A service may have millions of documents of a client. Its connections last little longer. */
const PURGE_LIMIT_MS = 540_000;

export interface PurgeReport {
  partner_id: string;
  waba_id: string;
  /** False when the documents were only counted. */
  purged: boolean;
  services: Record<string, Record<string, number>>;
  /** `service.collection` of the data kept because another partner has the same account. */
  kept_for_others: string[];
}

/** Counts a client's documents, by service and collection; with `yes` it also deletes them. */
export async function purgeClient(
  session: Session,
  scope: { partner_id: string; waba_id: string },
  yes: boolean,
): Promise<PurgeReport> {
  const report: PurgeReport = { ...scope, purged: yes, services: {}, kept_for_others: [] };
  for (const [service, address] of Object.entries(HOLDERS)) {
    const data = session.client(DataDefinition, address);
    const { purged } = await data
      .purgeClient({ ...scope, dry_run: !yes }, session.call(PURGE_LIMIT_MS))
      .catch((error: unknown) => {
        throw isUnavailable(error) ? new Error(unavailable(service, address)) : error;
      });
    report.services[service] = Object.fromEntries(
      purged.map(({ collection, documents }): [string, number] => [collection, documents]),
    );
    report.kept_for_others.push(
      ...purged
        .filter((one: Purged) => one.kept_for_others)
        .map((one) => `${service}.${one.collection}`),
    );
  }
  return report;
}

const unavailable = (service: string, address: Address): string =>
  `the ${service} service ${doesNotAnswer(address)}: ${findService(address[0])}, ` +
  `then run this again. Data of other services may be deleted already`;

export function describePurge({ purged, services, kept_for_others }: PurgeReport): string {
  const counts = Object.entries(services).flatMap(([service, collections]) =>
    Object.entries(collections).map(
      ([collection, documents]) => `${String(documents).padStart(8)}  ${service}.${collection}`,
    ),
  );
  return [
    purged ? 'deleted:' : 'would be deleted:',
    ...counts,
    ...(kept_for_others.length > 0
      ? [`kept, because another partner has the same account: ${kept_for_others.join(', ')}`]
      : []),
    purged
      ? [
          'Copies expire by themselves: on Kafka within 7 days (dead letters: 14 days), in Redis within',
          '180 days (IDs only). Repeat the purge once the deliveries that were in flight have ended.',
        ].join('\n')
      : 'Nothing was deleted. Add --yes to delete this data; it cannot be undone.',
  ].join('\n');
}
