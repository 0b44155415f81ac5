// The standard health protocol: '' and every service name stand for the process as a whole.
import { HealthCheckResponse_ServingStatus as Serving, HealthDefinition } from '@bmg/proto/health';
import type { HealthCheckRequest, HealthCheckResponse } from '@bmg/proto/health';
import type { Call } from './call';
import type { Implementation } from './definition';

export interface Health {
  implementation: Implementation;
  set(serving: boolean): void;
}

export function createHealth(services: string[]): Health {
  const known = new Set(['', ...services]);
  let serving = false;
  let changed: Array<() => void> = [];
  const statusOf = ({ service }: HealthCheckRequest): HealthCheckResponse => ({
    status: !known.has(service)
      ? Serving.SERVICE_UNKNOWN
      : serving
        ? Serving.SERVING
        : Serving.NOT_SERVING,
  });
  return {
    set(now) {
      serving = now;
      const waiting = changed;
      changed = [];
      for (const wake of waiting) wake();
    },
    implementation: {
      definition: HealthDefinition,
      handlers: {
        check: async (request: HealthCheckRequest) => statusOf(request),
        async *watch(request: HealthCheckRequest, call: Call) {
          while (!call.signal?.aborted) {
            yield statusOf(request);
            await new Promise<void>((resolve) => {
              changed.push(resolve);
              call.signal?.addEventListener('abort', () => resolve(), { once: true });
            });
          }
        },
      },
    },
  };
}
