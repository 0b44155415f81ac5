// All 34 methods, each a row or a function of one of the operation files.
import type { Client, Handlers } from '@bmg/common/rpc';
import type { Credentials } from '@bmg/common/directory';
import { createRunner, type Operations, type Runner, type Upstream } from '@bmg/common/upstream';
import type { NumberAdminDefinition } from '@bmg/proto/numberadmin';
import type { DirectoryDefinition } from '@bmg/proto/onboarding';
import { createNumbers, type NumberOf } from './numbers';
import { automation } from './operations/automation';
import { blocking } from './operations/blocking';
import { calls } from './operations/calls';
import { commerce } from './operations/commerce';
import { diagnostics } from './operations/diagnostics';
import { groups } from './operations/groups';
import { phone } from './operations/phone';
import { profile } from './operations/profile';
import { qrCodes } from './operations/qr-codes';
import { settings } from './operations/settings';

export interface Dependencies {
  upstream: Upstream;
  credentials: Credentials;
  directory: Pick<Client<DirectoryDefinition>, 'storePin' | 'getPin'>;
  platform_pin: string;
}

/** What the functions among the operations work with. */
export interface Tools extends Pick<Dependencies, 'credentials' | 'directory' | 'platform_pin'> {
  ask: Runner['ask'];
  numberOf: NumberOf;
}

/** The methods of one operation file. */
export type Part<M extends keyof NumberAdminDefinition['methods']> = Pick<
  Operations<Handlers<NumberAdminDefinition>>,
  M
>;

export function createHandlers(dependencies: Dependencies): Handlers<NumberAdminDefinition> {
  const { upstream, credentials } = dependencies;
  const numberOf = createNumbers(createRunner({ upstream, credentials }).ask);
  const runner = createRunner({ upstream, credentials, numberOf });
  const tools: Tools = { ...dependencies, ask: runner.ask, numberOf };
  return runner.handlers<Handlers<NumberAdminDefinition>>({
    ...profile,
    ...qrCodes,
    ...automation,
    ...blocking,
    ...commerce,
    ...settings(tools),
    ...diagnostics(tools),
    ...phone(tools),
    ...calls(tools),
    ...groups,
  });
}
