// The services with a database, and a call to each of them.
import { ApiError, isUnimplemented, notAllowedReason } from '@bmg/common/errors';
import type { Client } from '@bmg/common/rpc';
import { IndexesDefinition, type IndexDifference } from '@bmg/proto/data';
import { findService } from './advice';
import { settingOf, type Address, type Session } from './session';

/** Those that store data of clients, in the order in which a purge deletes it. */
export const HOLDERS: Record<string, Address> = {
  messaging: ['MESSAGING_ADDR', '127.0.0.1:50052'],
  templates: ['TEMPLATES_ADDR', '127.0.0.1:50053'],
  broadcasts: ['BROADCASTS_ADDR', '127.0.0.1:50054'],
  webhooks: ['WEBHOOKS_ADDR', '127.0.0.1:50056'],
  onboarding: ['ONBOARDING_ADDR', '127.0.0.1:50051'],
};
const DATABASES: Record<string, Address> = {
  ...HOLDERS,
  'number-admin': ['NUMBER_ADMIN_ADDR', '127.0.0.1:50055'],
};

export type Reply<T> = { service: string } & ({ answer: T } | { problem: string; advice: string });

/** Calls all of them at once; one that fails has a problem instead of an answer. */
export const eachDatabase = <T>(
  session: Session,
  call: (indexes: Client<IndexesDefinition>) => Promise<T>,
): Promise<Array<Reply<T>>> =>
  Promise.all(
    Object.entries(DATABASES).map(async ([service, address]): Promise<Reply<T>> => {
      try {
        return { service, answer: await call(session.client(IndexesDefinition, address)) };
      } catch (error) {
        return { service, ...problemOf(error, address) };
      }
    }),
  );

function problemOf(error: unknown, [setting, fallback]: Address) {
  if (isUnimplemented(error)) {
    return { problem: 'runs an earlier release', advice: 'upgrade it, then run this again' };
  }
  if (isUnavailable(error)) {
    const problem = `does not answer at ${settingOf(setting, fallback)}`;
    return { problem, advice: findService(setting) };
  }
  const problem = notAllowedReason(error) ?? (error as Error).message;
  return { problem, advice: 'read its log' };
}

export const isUnavailable = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'SERVICE_UNAVAILABLE';

export function describeDifference(one: IndexDifference): string {
  const name = one.name === '' ? '' : ` (${one.name})`;
  const options = one.options.map(
    ({ name: option, declared, stored }) =>
      `; ${option} is ${stored || 'absent'}, declared ${declared || 'absent'}`,
  );
  return `${one.collection}  { ${one.key} }  ${one.state}${name}${options.join('')}`;
}
