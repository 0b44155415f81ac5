// Phone life cycle, calls, groups.
import {
  CURSORS,
  del,
  get,
  GROUP_ID,
  GROUP_PATH,
  ON_NUMBER,
  PAGING,
  post,
  PRODUCT,
  type Case,
} from './case';

/** The list that a group has to be in. */
const LOOK_UP = get(`${ON_NUMBER}/groups`, { limit: '1000' });
const LISTED = { data: { groups: [{ id: GROUP_ID }] } };
const OK = { success: true };
const CODE = { code_method: 'SMS', language: 'en_US' };
const HANG_UP = { action: 'terminate', call_id: 'wacid.1' };
const CONNECT = {
  action: 'connect',
  to: '15550100777',
  session: { sdp_type: 'offer', sdp: 'v=0\r\n' },
};

export const phoneGroups: Case[] = [
  {
    method: 'requestCode',
    request: CODE,
    sent: [post(`${ON_NUMBER}/request_code`, CODE)],
    reply: { fields: {} },
  },
  {
    method: 'verifyCode',
    request: { code: '123456' },
    answers: [{ success: true, id: 'x1' }],
    sent: [post(`${ON_NUMBER}/verify_code`, { code: '123456' })],
    reply: { fields: { id: 'x1' } },
  },
  {
    method: 'setTwoStepPin',
    request: { pin: '246810' },
    sent: [post(ON_NUMBER, { pin: '246810' })],
    reply: { pin_stored: true },
  },
  {
    method: 'registerPhone',
    request: { pin: '246810' },
    sent: [post(`${ON_NUMBER}/register`, { ...PRODUCT, pin: '246810' })],
    reply: { fields: {} },
  },
  {
    method: 'deregisterPhone',
    sent: [post(`${ON_NUMBER}/deregister`)],
    reply: { fields: {} },
  },
  {
    method: 'placeCall',
    request: { call: HANG_UP },
    answers: [{ ...PRODUCT, success: true }],
    sent: [post(`${ON_NUMBER}/calls`, { ...PRODUCT, ...HANG_UP })],
    reply: { fields: {} },
  },
  {
    method: 'placeCall',
    request: { call: CONNECT },
    answers: [{ ...PRODUCT, calls: [{ id: 'wacid.2' }] }],
    sent: [post(`${ON_NUMBER}/calls`, { ...PRODUCT, ...CONNECT })],
    reply: { fields: { calls: [{ id: 'wacid.2' }] } },
  },
  {
    method: 'listGroups',
    request: { before: 'b0' },
    answers: [{ data: { groups: [{ id: GROUP_ID, subject: 'Team' }] }, paging: PAGING }],
    sent: [get(`${ON_NUMBER}/groups`, { before: 'b0' })],
    reply: { items: [{ id: GROUP_ID, subject: 'Team' }], ...CURSORS },
  },
  {
    method: 'createGroup',
    request: { subject: 'Team' },
    answers: [{ ...PRODUCT, request_id: 'rq-0002' }],
    sent: [
      post(`${ON_NUMBER}/groups`, {
        ...PRODUCT,
        subject: 'Team',
        join_approval_mode: 'auto_approve',
      }),
    ],
    reply: { fields: { request_id: 'rq-0002' } },
  },
  {
    method: 'getGroup',
    request: { group_id: GROUP_ID },
    answers: [{ ...PRODUCT, id: GROUP_ID, participants: [{ wa_id: '15550100777' }] }, LISTED],
    sent: [
      get(GROUP_PATH, {
        fields:
          'subject,description,participants,join_approval_mode,suspended,creation_timestamp,' +
          'total_participant_count',
      }),
      LOOK_UP,
    ],
    reply: { fields: { id: GROUP_ID, participants: [{ wa_id: '15550100777' }] } },
  },
  {
    method: 'deleteGroup',
    request: { group_id: GROUP_ID },
    answers: [{ id: GROUP_ID }, LISTED, OK],
    sent: [get(GROUP_PATH, { fields: 'id' }), LOOK_UP, del(GROUP_PATH)],
    reply: { fields: {} },
  },
  {
    method: 'removeGroupParticipants',
    request: { group_id: GROUP_ID, participants: ['15550100777', 'US.4Qm7Zr81Kd02'] },
    answers: [{ id: GROUP_ID }, LISTED, { ...PRODUCT, request_id: 'rq-0003' }],
    sent: [
      get(GROUP_PATH, { fields: 'id' }),
      LOOK_UP,
      del(`${GROUP_PATH}/participants`, {
        ...PRODUCT,
        participants: [{ user: '15550100777' }, { user_id: 'US.4Qm7Zr81Kd02' }],
      }),
    ],
    reply: { fields: { request_id: 'rq-0003' } },
  },
];
