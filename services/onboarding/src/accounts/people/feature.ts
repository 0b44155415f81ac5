import { implement } from '@bmg/common/rpc';
import type { Feature } from '@bmg/common/service';
import { PasskeysDefinition, PeopleDefinition } from '@bmg/proto/people';
import type { Dependencies } from '../../dependencies';
import { createCeremonies } from './ceremonies';
import { createPeopleHandlers } from './handlers';
import { createIssuer } from './issuer';
import { createPasskeyHandlers } from './passkey-handlers';

export function people(deps: Dependencies): Feature {
  const ceremonies = createCeremonies(deps);
  const issuer = createIssuer(deps.settings, deps.agent);
  return {
    rpcs: [
      implement(PeopleDefinition, createPeopleHandlers(deps)),
      implement(PasskeysDefinition, createPasskeyHandlers({ ...deps, ceremonies, issuer })),
    ],
  };
}
