// Clients of the services that messaging calls. One without an address is absent: its callers do without.
import type { Component } from '@bmg/common/lifecycle';
import { createRpcClient, type Client } from '@bmg/common/rpc';
import { AlertsDefinition } from '@bmg/proto/alerts';
import { BroadcastsDefinition } from '@bmg/proto/broadcasts';
import { DirectoryDefinition } from '@bmg/proto/onboarding';
import { TemplatesDefinition } from '@bmg/proto/templates';
import { EventLogDefinition } from '@bmg/proto/webhooks';
import type { Config } from './config';

export interface Neighbours {
  directory: Client<DirectoryDefinition>;
  alerts: Client<AlertsDefinition>;
  templates: Client<TemplatesDefinition> | undefined;
  broadcasts: Client<BroadcastsDefinition> | undefined;
  eventLog: Client<EventLogDefinition> | undefined;
}

export function connectNeighbours(config: Config): { rpcs: Neighbours; components: Component[] } {
  const { ONBOARDING_ADDR, TEMPLATES_ADDR, BROADCASTS_ADDR, WEBHOOKS_ADDR } = config;
  const directory = createRpcClient(DirectoryDefinition, ONBOARDING_ADDR);
  const alerts = createRpcClient(AlertsDefinition, ONBOARDING_ADDR);
  const templates =
    TEMPLATES_ADDR === undefined ? undefined : createRpcClient(TemplatesDefinition, TEMPLATES_ADDR);
  const broadcasts =
    BROADCASTS_ADDR === undefined
      ? undefined
      : createRpcClient(BroadcastsDefinition, BROADCASTS_ADDR);
  const eventLog =
    WEBHOOKS_ADDR === undefined ? undefined : createRpcClient(EventLogDefinition, WEBHOOKS_ADDR);
  return {
    rpcs: {
      directory: directory.rpc,
      alerts: alerts.rpc,
      templates: templates?.rpc,
      broadcasts: broadcasts?.rpc,
      eventLog: eventLog?.rpc,
    },
    components: [directory, alerts, templates, broadcasts, eventLog].filter(
      (one) => one !== undefined,
    ),
  };
}
