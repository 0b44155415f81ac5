// Components of a process that receives the upstream's webhooks: the ingress, and the canary that tests
// the whole path from outside.
import type { Bus } from '@bmg/common/bus';
import type { Config } from '@bmg/common/config';
import type { Component } from '@bmg/common/lifecycle';
import type { Database } from '@bmg/common/mongo';
import type { GuardedAgent } from '@bmg/common/outbound';
import type { RedisConnection } from '@bmg/common/redis';
import { createRpcClient } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import { PaymentsDefinition } from '@bmg/proto/billing';
import { createCanary } from './canary/canary';
import type { settings } from './config';
import { createIngress } from './ingress/ingress';
import { createOutageWatch } from './ingress/outages';
import { createPaymentEvents } from './ingress/payment-events';

export interface Shared {
  config: Config<typeof settings>;
  redis: RedisConnection;
  mongo: Database;
  bus: Bus;
  agent: GuardedAgent;
  log: Logger;
}

/** Components of a role, in the order of their start. */
export interface Role {
  /** Started before the bus. */
  clients: Component[];
  workers: Component[];
}

export interface IngressRole extends Role {
  /** Known once started. */
  port(): number;
}

export function createIngressRole({ config, redis, mongo, bus, agent, log }: Shared): IngressRole {
  const payments = createRpcClient(PaymentsDefinition, config.ONBOARDING_ADDR);
  const outages = createOutageWatch({ db: mongo.db, bus, now: () => new Date(), log });
  const canary = createCanary(config, { redis, agent, log });
  const ingress = createIngress(config, {
    bus,
    payments: createPaymentEvents(payments.rpc, log),
    outages,
    canary: canary?.receive,
    log,
  });
  return {
    clients: [payments],
    workers: [ingress, outages, ...(canary ? [canary.sender] : [])],
    port: ingress.port,
  };
}
