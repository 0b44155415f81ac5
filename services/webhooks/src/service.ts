// The composition root. A process takes the upstream's webhooks in, delivers events to partners, or
// does both.
import type { Loaded } from '@bmg/common/config';
import {
  defineService,
  ownIndexes,
  purge,
  type DefinedService,
  type Kit,
} from '@bmg/common/service';
import { purgeRows } from './collections';
import type { Config, settings } from './config';
import { delivery } from './delivery/feature';
import { openDelivery, openEngines, openIngress, type DeliveryRole } from './dependencies';
import { eventLog } from './event-log/feature';
import { ingress } from './ingress/feature';
import { receivers } from './receivers/feature';
import { recovery } from './recovery/feature';
import { shadows } from './shadows/feature';

const name = 'webhooks';

const DELIVERY = [
  // The first three record attempts, so that they stop after those who make them.
  shadows,
  receivers,
  delivery,
  eventLog,
  recovery,
  (deps: DeliveryRole) => purge(purgeRows(deps.eventLog.packer))(deps),
  ownIndexes,
];

const ROLES = {
  ingress: defineService({
    name,
    open: (kit: Kit<Config>) => openIngress(kit, openEngines(kit)),
    features: [ingress],
  }),
  delivery: defineService({
    name,
    open: (kit: Kit<Config>) => openDelivery(kit, openEngines(kit)),
    features: DELIVERY,
  }),
  all: defineService({
    name,
    open(kit: Kit<Config>) {
      const engines = openEngines(kit);
      return { ...openDelivery(kit, engines), ...openIngress(kit, engines) };
    },
    features: [ingress, ...DELIVERY],
  }),
};

export const createWebhooks = (loaded: Loaded<typeof settings>): DefinedService =>
  ROLES[loaded.config.WEBHOOKS_ROLE](loaded);
