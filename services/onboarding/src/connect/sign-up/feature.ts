import { implementPart } from '@bmg/common/rpc';
import type { Feature } from '@bmg/common/service';
import { DirectoryDefinition, OnboardingDefinition } from '@bmg/proto/onboarding';
import type { Dependencies } from '../../dependencies';
import { createConnectHandlers, createSessionHandlers } from './handlers';
import { registerFromCode } from './register-from-code';

export const signUp = (deps: Dependencies): Feature => ({
  rpcs: [
    implementPart(OnboardingDefinition, {
      ...createConnectHandlers(deps),
      registerFromCode: registerFromCode(deps),
    }),
    implementPart(DirectoryDefinition, createSessionHandlers(deps)),
  ],
});
