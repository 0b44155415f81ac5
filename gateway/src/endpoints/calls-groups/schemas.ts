import { object, text } from '../parts/inputs';
import { page } from '../number-setup/schemas';
import { confirm } from '../phone/schemas';

/** Limits: group subject, participants removed per request. */
const SUBJECT_MAX = 128;
const REMOVALS_MAX = 8;
/** Sanity alone: the upstream has a shorter limit. */
const DESCRIPTION_MAX = 4_096;
/** The upstream's largest page of groups. */
const GROUPS_PAGE_MAX = 1_024;

/** Shown keys are checked, the rest is passed on; what is in the sdp is nobody's business here. */
export const placeCall = object(
  {
    action: {
      type: 'string',
      enum: ['connect', 'pre_accept', 'accept', 'reject', 'terminate'],
    },
    to: { type: 'string', description: 'phone number, for connect' },
    call_id: { type: 'string', description: 'the running call, for every other action' },
    session: {
      type: 'object',
      properties: {
        sdp_type: { type: 'string', enum: ['offer', 'answer'] },
        sdp: { type: 'string' },
      },
      description: '{sdp_type, sdp}, passed on unchanged',
    },
  },
  ['action'],
);

export const listGroups = page(GROUPS_PAGE_MAX);

export const createGroup = object(
  {
    subject: text(SUBJECT_MAX),
    description: text(DESCRIPTION_MAX),
    join_approval_mode: {
      type: 'string',
      enum: ['auto_approve', 'approval_required'],
      default: 'auto_approve',
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
      // As GET /groups/{group_id} shows them, or just the phone number or BSUID.
      items: { type: ['string', 'object'] },
      description: 'phone numbers or BSUIDs; a removed one cannot come back by the invite link',
    },
  },
  ['participants'],
);
