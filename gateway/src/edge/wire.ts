// Builds the middleware line of the endpoints: who calls, the usage record, and safe repetition.
import type { Bus } from '@bmg/common/bus';
import type { RedisConnection } from '@bmg/common/redis';
import type { Logger } from '@bmg/common/telemetry';
import { AuditDefinition } from '@bmg/proto/audit';
import { MessagingDefinition } from '@bmg/proto/messaging';
import { OnboardingDefinition } from '@bmg/proto/onboarding';
import { createRecorder } from '../audit/recorder';
import { createRefusalLog } from '../audit/refusal-log';
import type { Auth } from '../auth/wire';
import type { Clients } from '../clients';
import { createGuards } from '../idempotency';
import type { Limits } from '../limits/wire';
import { createRequestLog } from '../request-log';
import { createMeter } from './meter';

interface Parts {
  redis: RedisConnection;
  bus: Bus;
  rpc: Clients;
  auth: Auth;
  limits: Limits;
  public_url: string;
  docs_url: string;
  log: Logger;
}

export function wireEdge({ redis, bus, rpc, auth, limits, public_url, docs_url, log }: Parts) {
  const meter = createMeter(bus, log);
  const messaging = rpc.client(MessagingDefinition);
  const audit = rpc.client(AuditDefinition);
  const recorder = createRecorder({ audit, log });
  return {
    meter,
    refused: createRefusalLog({ audit, log }),
    requests: createRequestLog({ onboarding: rpc.client(OnboardingDefinition), log }),
    chain: {
      ...auth,
      bucket: limits.bucket,
      load: limits.load,
      meter,
      recorder,
      base_url: `${public_url}/v1`,
      client: rpc.client,
      guards: createGuards({ redis, messaging, docs_url, log }),
    },
  };
}
