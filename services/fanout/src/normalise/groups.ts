// The four group fields. They share one shape, a list of groups, and one event. `data.type` names
// what happened, so that an event without an invite link is not mistaken for a new group.
import { toText, type JsonObject } from '@bmg/common/upstream-webhook';
import { emit, keyOfContent, lists, refuse, timeOf, type Context, type FieldRows } from './context';

const groups = lists({ groups: readGroup });

export const groupFields: FieldRows = {
  group_lifecycle_update: groups,
  group_participants_update: groups,
  group_settings_update: groups,
  group_status_update: groups,
};

function readGroup(item: JsonObject, context: Context): void {
  const group_id = toText(item.group_id);
  const request_id = toText(item.request_id);
  // A group that could not be created has no id: the request id identifies it.
  if (group_id === null && request_id === null) return refuse(context, 'no_identity', item);
  const type = toText(item.type);
  const timestamp = timeOf(item.timestamp, context);
  emit(context, {
    event: 'group_lifecycle_update',
    occurrence: keyOfContent('group', item, context, group_id ?? request_id, type),
    contact: group_id,
    timestamp,
    data: { ...item, type, group_id, invite_link: toText(item.invite_link), timestamp },
  });
}
