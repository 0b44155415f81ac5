// The settings of a number. The upstream accepts one feature group per request, so a write of
// several groups may fail halfway; the error then lists the groups that were applied.
import { ApiError, invalidField, missingFields, rewrap } from '@bmg/common/errors';
import { succeeded, type Json } from '@bmg/common/upstream';
import type { Part, Tools } from '../tools';

/** Twice as many as the platform has. */
const GROUPS_MAX = 10;

function groupsOf(settings: Json = {}): Array<[string, unknown]> {
  const groups = Object.entries(settings).filter(([name]) => name !== 'messaging_product');
  if (groups.length === 0) {
    throw missingFields(
      ['calling', 'storage_configuration'],
      'at least one feature group is required, such as calling or storage_configuration',
    );
  }
  if (groups.length > GROUPS_MAX) {
    throw invalidField('body', `must have at most ${GROUPS_MAX} feature groups`);
  }
  return groups;
}

/** The upstream's error, with the groups applied before it. */
function halfDone(error: unknown, groups: string[], failed: number): unknown {
  if (!(error instanceof ApiError) || failed === 0) return error;
  const applied = groups.slice(0, failed);
  return rewrap(error, {
    message: `${error.message} (${applied.join(', ')} applied already)`,
    details: {
      applied,
      failed: groups[failed],
      not_sent: groups.slice(failed + 1),
      upstream_details: error.details,
    },
  });
}

export const settings = ({ ask }: Tools): Part<'getSettings' | 'updateSettings'> => ({
  getSettings: {
    upstream: 'GET /{phone_number_id}/settings',
    reply: (body) => ({ fields: body }),
  },
  async updateSettings(request, call) {
    const groups = groupsOf(request.settings);
    const names = groups.map(([name]) => name);
    for (const [index, [name, value]] of groups.entries()) {
      try {
        const body = { [name]: value };
        succeeded(await ask({ upstream: 'POST /{phone_number_id}/settings', body }, request, call));
      } catch (error) {
        throw halfDone(error, names, index);
      }
    }
    return {};
  },
});
