import { confirm, object, page, text } from '../parts/inputs';
import { call, participant } from '../parts/rules';

/** Contract 11.2: group subject, participants removed per request. */
const SUBJECT_MAX = 128;
const REMOVALS_MAX = 8;
/** Upper bound only: the upstream has a lower limit. */
const DESCRIPTION_MAX = 4_096;
/** The upstream's largest page of groups. */
const GROUPS_PAGE_MAX = 1_024;

/** Only the keys that the contract shows are checked; the SDP is not (contract 11.4). */
const placed = object(
  {
    action: {
      type: 'string',
      enum: ['connect', 'pre_accept', 'accept', 'reject', 'terminate'],
      description: 'What to do with the call.',
    },
    to: { type: 'string', description: 'Phone number to call. For `connect`.' },
    call_id: { type: 'string', description: 'ID of the call. For every action but `connect`.' },
    session: {
      type: 'object',
      properties: {
        sdp_type: { type: 'string', enum: ['offer', 'answer'] },
        sdp: { type: 'string' },
      },
      description: 'Session description, passed to the upstream unchanged.',
    },
  },
  ['action'],
);

export const placeCall = { ...placed, published: { allOf: call, additionalProperties: true } };

export const listGroups = page(GROUPS_PAGE_MAX);

export const createGroup = object(
  {
    subject: text(SUBJECT_MAX, 'Name of the group.'),
    description: text(DESCRIPTION_MAX, 'Description of the group.'),
    join_approval_mode: {
      type: 'string',
      enum: ['auto_approve', 'approval_required'],
      default: 'auto_approve',
      description: 'Whether a person who opens the invite link joins at once or needs approval.',
    },
  },
  ['subject'],
);

export const deleteGroup = object({ confirm }, ['confirm']);

export const removeParticipants = object(
  {
    participants: {
      type: 'array',
      maxItems: REMOVALS_MAX,
      // Objects as GET /groups/{group_id} returns them, or only the phone number or BSUID.
      items: { type: ['string', 'object'], published: participant },
      description:
        'Phone numbers or BSUIDs, or participants as `GET /groups/{group_id}` returns them.',
    },
  },
  ['participants'],
);
