import type { Peppers } from '@bmg/common/keys';
import { implement } from '@bmg/common/rpc';
import { PasskeysDefinition, PeopleDefinition } from '@bmg/proto/people';
import type { Feature } from '../../ground/feature';
import { createCeremonies } from './ceremonies';
import { createChallenges } from './challenges';
import { createPeopleHandlers, type PeopleDependencies } from './handlers';
import { createIssuer } from './issuer';
import { createPasskeyHandlers, type PasskeyDependencies } from './passkey-handlers';
import type { UsedChallenges } from './store';

type Needs = PeopleDependencies &
  Omit<PasskeyDependencies, 'ceremonies' | 'issuer'> & {
    peppers: Peppers;
    usedChallenges: UsedChallenges;
    settings: Parameters<typeof createIssuer>[0] & { PUBLIC_URL: string };
    agent: Parameters<typeof createIssuer>[1];
  };

export function createPeopleFeature(deps: Needs): Feature {
  const challenges = createChallenges(deps.peppers, deps.usedChallenges, deps.now);
  const ceremonies = createCeremonies(challenges, deps.settings.PUBLIC_URL);
  const issuer = createIssuer(deps.settings, deps.agent);
  return {
    rpcs: [
      implement(PeopleDefinition, createPeopleHandlers(deps)),
      implement(PasskeysDefinition, createPasskeyHandlers({ ...deps, ceremonies, issuer })),
    ],
  };
}
