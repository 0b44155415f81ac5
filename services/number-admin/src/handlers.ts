// The 34 RPCs, collected from the operation files.
import type { Handlers } from '@bmg/common/rpc';
import { createAccountLimits, createRunner } from '@bmg/common/upstream';
import type { NumberAdminDefinition } from '@bmg/proto/numberadmin';
import { createMembership } from './membership';
import { createNumbers } from './numbers';
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
import type { Dependencies, Tools } from './tools';

export function createNumberAdminHandlers(
  dependencies: Dependencies,
): Handlers<NumberAdminDefinition> {
  const { upstream, credentials, log } = dependencies;
  const common = { upstream, credentials, limits: createAccountLimits(log) };
  const requireMember = createMembership(createRunner(common).ask);
  const numberOf = createNumbers(requireMember);
  const runner = createRunner({ ...common, numberOf });
  const tools: Tools = { ...dependencies, ask: runner.ask, numberOf, requireMember };
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
    ...groups(tools),
  });
}
