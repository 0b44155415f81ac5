// The deletion of a client's data on request, in the database of every service. Onboarding comes last: its
// record of the client stays until the rest is gone, so that what was cut off is seen and can be repeated.
import { ApiError } from '@bmg/common/errors';
import { DataDefinition, type Purged } from '@bmg/proto/data';
import { settingOf, type Address, type Session } from './session';

const HOLDERS: Record<string, Address> = {
  messaging: ['MESSAGING_ADDR', '127.0.0.1:50052'],
  templates: ['TEMPLATES_ADDR', '127.0.0.1:50053'],
  broadcasts: ['BROADCASTS_ADDR', '127.0.0.1:50054'],
  webhooks: ['WEBHOOKS_ADDR', '127.0.0.1:50056'],
  onboarding: ['ONBOARDING_ADDR', '127.0.0.1:50051'],
};

export interface PurgeReport {
  partner_id: string;
  waba_id: string;
  /** False for a count alone. */
  purged: boolean;
  services: Record<string, Record<string, number>>;
  /** `service.collection` of what other partners still need. */
  kept_for_others: string[];
}

export async function purgeClient(
  session: Session,
  scope: { partner_id: string; waba_id: string },
  yes: boolean,
): Promise<PurgeReport> {
  const report: PurgeReport = { ...scope, purged: yes, services: {}, kept_for_others: [] };
  for (const [service, address] of Object.entries(HOLDERS)) {
    const data = session.client(DataDefinition, address);
    const { purged } = await data
      .purgeClient({ ...scope, dry_run: !yes }, session.call())
      .catch((error: unknown) => {
        throw absent(error) ? new Error(away(service, address)) : error;
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

const absent = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'SERVICE_UNAVAILABLE';

const away = (service: string, [setting, fallback]: Address): string =>
  `the ${service} service does not answer at ${settingOf(setting, fallback)}: start the mesh (make up), or set ` +
  `${setting}. What was deleted already stays deleted; run this again`;

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
      ? [`kept, since another partner has the account: ${kept_for_others.join(', ')}`]
      : []),
    purged
      ? 'What is on Kafka goes by itself within seven days (dead letters: fourteen), in Redis within 180 days (ids alone). Repeat this once the deliveries that were under way have settled.'
      : 'Nothing was deleted: say --yes to do it. It cannot be undone.',
  ].join('\n');
}
