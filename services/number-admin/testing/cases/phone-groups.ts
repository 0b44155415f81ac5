// Phone life cycle, calls, groups.
import { CURSORS, GROUP_ID, GROUP_PATH, OK, ON_NUMBER, PAGING, PRODUCT, type Case } from './case';

/** The list that a group has to be in. */
const LOOK_UP = { method: 'GET', path: `${ON_NUMBER}/groups`, query: { limit: '1000' } };
const LISTED = { data: { groups: [{ id: GROUP_ID }] } };

export const phoneGroups: Case[] = [
  {
    method: 'requestCode',
    request: { code_method: 'SMS', language: 'en_US' },
    answers: [OK],
    sent: [
      {
        method: 'POST',
        path: `${ON_NUMBER}/request_code`,
        body: { code_method: 'SMS', language: 'en_US' },
      },
    ],
    reply: { fields: {} },
  },
  {
    method: 'verifyCode',
    request: { code: '123456' },
    answers: [{ success: true, id: 'x1' }],
    sent: [{ method: 'POST', path: `${ON_NUMBER}/verify_code`, body: { code: '123456' } }],
    reply: { fields: { id: 'x1' } },
  },
  {
    method: 'setTwoStepPin',
    request: { pin: '246810' },
    answers: [OK],
    sent: [{ method: 'POST', path: ON_NUMBER, body: { pin: '246810' } }],
    reply: { pin_stored: true },
  },
  {
    method: 'registerPhone',
    request: { pin: '246810' },
    answers: [OK],
    sent: [{ method: 'POST', path: `${ON_NUMBER}/register`, body: { ...PRODUCT, pin: '246810' } }],
    reply: { fields: {} },
  },
  {
    method: 'deregisterPhone',
    answers: [OK],
    sent: [{ method: 'POST', path: `${ON_NUMBER}/deregister`, body: undefined }],
    reply: { fields: {} },
  },
  {
    method: 'placeCall',
    request: { call: { action: 'terminate', call_id: 'wacid.1' } },
    answers: [{ ...PRODUCT, success: true }],
    sent: [
      {
        method: 'POST',
        path: `${ON_NUMBER}/calls`,
        body: { ...PRODUCT, action: 'terminate', call_id: 'wacid.1' },
      },
    ],
    reply: { fields: {} },
  },
  {
    method: 'placeCall',
    request: {
      call: {
        action: 'connect',
        to: '15550100777',
        session: { sdp_type: 'offer', sdp: 'v=0\r\n' },
      },
    },
    answers: [{ ...PRODUCT, calls: [{ id: 'wacid.2' }] }],
    sent: [
      {
        body: {
          ...PRODUCT,
          action: 'connect',
          to: '15550100777',
          session: { sdp_type: 'offer', sdp: 'v=0\r\n' },
        },
      },
    ],
    reply: { fields: { calls: [{ id: 'wacid.2' }] } },
  },
  {
    method: 'listGroups',
    request: { before: 'b0' },
    answers: [{ data: { groups: [{ id: GROUP_ID, subject: 'Team' }] }, paging: PAGING }],
    sent: [{ method: 'GET', path: `${ON_NUMBER}/groups`, query: { before: 'b0' } }],
    reply: { items: [{ id: GROUP_ID, subject: 'Team' }], ...CURSORS },
  },
  {
    method: 'createGroup',
    request: { subject: 'Team' },
    answers: [{ ...PRODUCT, request_id: 'rq-0002' }],
    sent: [
      {
        method: 'POST',
        path: `${ON_NUMBER}/groups`,
        body: { ...PRODUCT, subject: 'Team', join_approval_mode: 'auto_approve' },
      },
    ],
    reply: { fields: { request_id: 'rq-0002' } },
  },
  {
    method: 'getGroup',
    request: { group_id: GROUP_ID },
    answers: [{ ...PRODUCT, id: GROUP_ID, participants: [{ wa_id: '15550100777' }] }, LISTED],
    sent: [
      {
        method: 'GET',
        path: GROUP_PATH,
        query: {
          fields:
            'subject,description,participants,join_approval_mode,suspended,creation_timestamp,' +
            'total_participant_count',
        },
      },
      LOOK_UP,
    ],
    reply: { fields: { id: GROUP_ID, participants: [{ wa_id: '15550100777' }] } },
  },
  {
    method: 'deleteGroup',
    request: { group_id: GROUP_ID },
    answers: [{ id: GROUP_ID }, LISTED, OK],
    sent: [
      { method: 'GET', path: GROUP_PATH, query: { fields: 'id' } },
      LOOK_UP,
      { method: 'DELETE', path: GROUP_PATH, query: {}, body: undefined },
    ],
    reply: { fields: {} },
  },
  {
    method: 'removeGroupParticipants',
    request: { group_id: GROUP_ID, participants: ['15550100777', 'US.4Qm7Zr81Kd02'] },
    answers: [{ id: GROUP_ID }, LISTED, { ...PRODUCT, request_id: 'rq-0003' }],
    sent: [
      { method: 'GET', path: GROUP_PATH, query: { fields: 'id' } },
      LOOK_UP,
      {
        method: 'DELETE',
        path: `${GROUP_PATH}/participants`,
        body: {
          ...PRODUCT,
          participants: [{ user: '15550100777' }, { user_id: 'US.4Qm7Zr81Kd02' }],
        },
      },
    ],
    reply: { fields: { request_id: 'rq-0003' } },
  },
];
