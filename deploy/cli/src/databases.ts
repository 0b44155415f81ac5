// A call to each service with a database.
import { isUnimplemented, notAllowedReason } from '@bmg/common/errors';
import type { Client } from '@bmg/common/rpc';
import { IndexesDefinition, type IndexDifference } from '@bmg/proto/data';
import { findService } from './advice';
import { doesNotAnswer, isUnavailable, SERVICES, type Address, type Session } from './session';

export type Reply<T> = { service: string } & ({ answer: T } | { problem: string; advice: string });

/** Calls all of them at once; one that fails has a problem instead of an answer. */
export const eachDatabase = <T>(
  session: Session,
  call: (indexes: Client<IndexesDefinition>) => Promise<T>,
): Promise<Array<Reply<T>>> =>
  Promise.all(
    Object.entries(SERVICES).map(async ([service, address]): Promise<Reply<T>> => {
      try {
        return { service, answer: await call(session.client(IndexesDefinition, address)) };
      } catch (error) {
        return { service, ...problemOf(error, address) };
      }
    }),
  );

function problemOf(error: unknown, address: Address) {
  if (isUnimplemented(error)) {
    return { problem: 'runs an earlier release', advice: 'upgrade it, then run this again' };
  }
  if (isUnavailable(error)) {
    return { problem: doesNotAnswer(address), advice: findService(address[0]) };
  }
  const problem = notAllowedReason(error) ?? (error as Error).message;
  return { problem, advice: 'read its log' };
}

export function describeDifference(one: IndexDifference): string {
  const name = one.name === '' ? '' : ` (${one.name})`;
  const options = one.options.map(
    ({ name: option, declared, stored }) =>
      `; ${option} is ${stored || 'absent'}, declared ${declared || 'absent'}`,
  );
  return `${one.collection}  { ${one.key} }  ${one.state}${name}${options.join('')}`;
}
