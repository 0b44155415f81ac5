import { mayCall, namesOf } from './access';

describe('the names in a certificate', () => {
  const CHART = ['DNS:bmg-{caller}.messaging.svc', 'URI:spiffe://mesh.example/ns/bmg/sa/{caller}'];

  test.each([
    ['DNS:bmg-gateway.messaging.svc', ['gateway']],
    ['DNS:gateway, DNS:bmg-number-admin.messaging.svc, IP Address:10.0.0.1', ['number-admin']],
    ['URI:spiffe://mesh.example/ns/bmg/sa/fanout', ['fanout']],
    [
      'DNS:bmg-gateway.messaging.svc, URI:spiffe://mesh.example/ns/bmg/sa/operator',
      ['gateway', 'operator'],
    ],
  ])('%s', (text, names) => {
    expect(namesOf(text, CHART)).toEqual(names);
  });

  test.each([
    [undefined],
    [''],
    ['IP Address:127.0.0.1'],
    // Other teams: another namespace, release, trust domain or depth.
    ['DNS:operator'],
    ['DNS:operator.other-team.svc'],
    ['DNS:bmg-operator.other-team.svc'],
    ['DNS:other-operator.messaging.svc'],
    ['DNS:bmg-operator.messaging.svc.evil.example'],
    ['DNS:x.bmg-operator.messaging.svc'],
    ['DNS:*.messaging.svc'],
    ['URI:spiffe://mesh.example/ns/other-team/sa/operator'],
    ['URI:spiffe://other.example/ns/bmg/sa/operator'],
    ['URI:spiffe://mesh.example/ns/bmg/sa/operator/x'],
    ['URI:spiffe://mesh.example/operator'],
    ['email:operator'],
    // Callers that do not exist.
    ['DNS:bmg-stranger.messaging.svc'],
    ['DNS:bmg-{caller}.messaging.svc'],
    // How Node quotes a value that contains a comma, so that it cannot pass for two.
    ['DNS:"evil.example, DNS:bmg-operator.messaging.svc"'],
    ['DNS:"evil.example, DNS:bmg-operator.messaging.svc, DNS:x"'],
    ['DNS:"evil\\"example, DNS:bmg-operator.messaging.svc, DNS:x"'],
    ['URI:"spiffe://mesh.example/x, DNS:bmg-operator.messaging.svc"'],
  ])('none in %s', (text) => {
    expect(namesOf(text, CHART)).toEqual([]);
  });

  test('without configuration only the bare name identifies a caller', () => {
    expect(namesOf('DNS:gateway, DNS:operator.other-team.svc')).toEqual(['gateway']);
  });
});

describe('the access rules', () => {
  test.each([
    ['gateway', 'Messaging', 'SendText', true],
    ['gateway', 'NumberAdmin', 'GetProfile', true],
    ['gateway', 'Messaging', 'SendBroadcastMessage', false],
    ['gateway', 'Messaging', 'SendClaimedMessage', false],
    ['gateway', 'Messaging', 'SettleSends', false],
    ['gateway', 'Directory', 'GetCredential', false],
    ['gateway', 'Operator', 'CreatePartner', false],
    ['fanout', 'Directory', 'GetOwners', true],
    ['fanout', 'Directory', 'GetCredential', false],
    ['operator', 'Operator', 'RotateKeyring', true],
    ['operator', 'Directory', 'GetCredential', false],
    ['operator', 'People', 'InvitePerson', true],
    ['operator', 'People', 'UpdatePerson', true],
    ['operator', 'People', 'RemovePerson', true],
    ['operator', 'People', 'RenewInvitation', false],
    ['operator', 'Passkeys', 'AcceptInvitation', false],
    ['webhooks', 'People', 'InvitePerson', false],
    ['stranger', 'Messaging', 'SendText', false],
    ['constructor', 'Messaging', 'SendText', false],
  ])('%s → %s/%s: %s', (name, service, method, allowed) => {
    expect(mayCall([name], service, method)).toBe(allowed);
  });

  test('allow nothing without a name, and with several names the rules of all', () => {
    expect(mayCall([], 'Messaging', 'SendText')).toBe(false);
    expect(mayCall(['fanout', 'gateway'], 'Messaging', 'SendText')).toBe(true);
  });
});
