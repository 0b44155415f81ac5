import type { ReactNode } from 'react';

/** Names and values. Pairs without a value are left out. */
export function Facts({ of }: { of: ReadonlyArray<readonly [string, ReactNode]> }) {
  return (
    <dl className="facts">
      {of
        .filter(([, value]) => value !== undefined && value !== null)
        .map(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name}=`}>{value}</dd>])}
    </dl>
  );
}
