// What the service consists of.
import type { Loaded } from '@bmg/common/config';
import { implementPart, type Definition, type Handlers } from '@bmg/common/rpc';
import {
  defineService,
  ownIndexes,
  type DefinedService,
  type Feature,
  type Kit,
} from '@bmg/common/service';
import { AuditDefinition } from '@bmg/proto/audit';
import { EndpointRegistryDefinition } from '@bmg/proto/endpoints';
import { KeysDefinition } from '@bmg/proto/keys';
import { DirectoryDefinition, OnboardingDefinition } from '@bmg/proto/onboarding';
import { PasskeysDefinition, PeopleDefinition } from '@bmg/proto/people';
import { SettingsDefinition } from '@bmg/proto/settings';
import { alerts } from './accounts/alerts/alerts';
import { createAuditHandlers } from './accounts/audit/handlers';
import { createSealer } from './accounts/audit/sealer';
import { createKeyHandlers } from './accounts/keys/handlers';
import { createDashboardHandlers } from './accounts/partners/handlers';
import { createCeremonies } from './accounts/people/ceremonies';
import { createPeopleHandlers } from './accounts/people/handlers';
import { createIssuer } from './accounts/people/issuer';
import { createPasskeyHandlers } from './accounts/people/passkey-handlers';
import { createReceiverHandlers } from './accounts/receivers/handlers';
import { createRequestLogHandlers } from './accounts/requests/handlers';
import { usage } from './billing/usage/feature';
import type { Config, settings } from './config';
import { clients } from './connect/clients/feature';
import { createDirectoryHandlers } from './connect/directory/handlers';
import { createConnectHandlers, createSessionHandlers } from './connect/sign-up/handlers';
import { createSyncPoller } from './connect/sync/sync-poller';
import { openDependencies, type Dependencies } from './dependencies';
import { operator } from './operator/feature';

/** The feature of a room that has RPCs only. */
const serving =
  <D extends Definition>(definition: D, handlers: (deps: Dependencies) => Partial<Handlers<D>>) =>
  (deps: Dependencies): Feature => ({ rpcs: [implementPart(definition, handlers(deps))] });

export const createOnboarding = (
  loaded: Loaded<typeof settings>,
  now: () => Date = () => new Date(),
): DefinedService =>
  defineService({
    name: 'onboarding',
    open: (kit: Kit<Config>) => openDependencies(kit, { warnings: loaded.warnings, now }),
    features: [
      // A batch of account events passes these two in this order.
      clients,
      alerts,
      serving(OnboardingDefinition, createConnectHandlers),
      serving(DirectoryDefinition, createSessionHandlers),
      ({ dueEventPoller }) => ({ workers: [dueEventPoller] }),
      (deps) => ({ workers: [createSyncPoller(deps)] }),
      usage,
      ({ payments }) => payments,
      serving(PeopleDefinition, createPeopleHandlers),
      serving(PasskeysDefinition, (deps) =>
        createPasskeyHandlers({
          ...deps,
          ceremonies: createCeremonies(deps),
          issuer: createIssuer(deps.settings, deps.agent),
        }),
      ),
      serving(SettingsDefinition, createDashboardHandlers),
      serving(KeysDefinition, createKeyHandlers),
      serving(EndpointRegistryDefinition, createReceiverHandlers),
      serving(OnboardingDefinition, createRequestLogHandlers),
      serving(DirectoryDefinition, createDirectoryHandlers),
      serving(AuditDefinition, createAuditHandlers),
      (deps) => ({ workers: [createSealer(deps)] }),
      operator,
      ownIndexes,
    ],
  })(loaded);
