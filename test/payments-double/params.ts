// The processor's form encoding: `a[b]=c`, and lists as `a[0]=b`.
import type { Params } from './types';

export function parseParams(encoded: string): Params {
  const params: Params = {};
  for (const [name, value] of new URLSearchParams(encoded)) {
    const path = name.split(/[[\]]+/).filter((part) => part !== '');
    let place = params;
    for (const part of path.slice(0, -1)) {
      const inner = place[part];
      place = place[part] = typeof inner === 'object' ? inner : {};
    }
    const last = path.at(-1);
    if (last !== undefined) place[last] = value;
  }
  return params;
}
