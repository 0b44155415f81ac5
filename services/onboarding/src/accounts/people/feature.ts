import { implement } from '@bmg/common/rpc';
import { PasskeysDefinition, PeopleDefinition } from '@bmg/proto/people';
import type { Dependencies } from '../../dependencies';
import { createCeremonies } from './ceremonies';
import { createChallenges } from './challenges';
import { createPeopleHandlers } from './handlers';
import { createIssuer } from './issuer';
import { createPasskeyHandlers } from './passkey-handlers';

export function wirePeople(deps: Dependencies) {
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
