// Compiles the route table into one lookup per request: method, type of the first node, edge,
// length.
import type { Route } from './core';
import { unknownObject, upstreamError } from './errors';
import type { Kind, State } from './state';

export interface Match {
  route: Route;
  kind: Kind | null;
}

export class Router {
  private readonly table = new Map<string, Route>();

  constructor(routes: readonly Route[]) {
    for (const route of routes) {
      const [, ...parts] = route.pattern.split('/');
      const key = keyOf(route.method, parts[0] ?? '', parts);
      if (this.table.has(key)) throw new Error(`Two routes for ${key}`);
      this.table.set(key, route);
    }
  }

  find(state: State, app_id: string, method: string, segments: readonly string[]): Match {
    const [first = ''] = segments;
    const literal = this.table.get(keyOf(method, first, segments));
    if (literal) return { route: literal, kind: null };
    const kind: Kind | null = first === app_id ? 'app' : state.kindOf(first);
    if (kind === null) {
      // A first segment that looks like an ID is a missing object; any other word is an unknown
      // path.
      if (/\d/.test(first) || segments.length > 1) throw unknownObject(method, first);
      throw upstreamError(2500, `Unknown path components: /${segments.join('/')}`);
    }
    const route = this.table.get(keyOf(method, `:${kind}`, segments));
    if (!route) throw noSuchEdge(method, segments);
    return { route, kind };
  }

  /** True if the handler reads the body itself. */
  streams(state: State, method: string, segments: readonly string[]): boolean {
    if (method !== 'POST') return false;
    const [first = ''] = segments;
    const kind = state.kindOf(first);
    return kind !== null && this.table.get(keyOf(method, `:${kind}`, segments))?.body === 'stream';
  }
}

function noSuchEdge(method: string, segments: readonly string[]): Error {
  const [first = '', edge] = segments;
  if (edge === undefined) return unknownObject(method, first);
  return upstreamError(2500, `Unknown path components: /${segments.slice(1).join('/')}`);
}

function keyOf(method: string, first: string, parts: readonly string[]): string {
  return `${method} ${first} ${parts[1] ?? ''} ${parts.length}`;
}
