import { mayCall, namesOf } from './access';

describe('the names in a certificate', () => {
  test.each([
    ['DNS:gateway', ['gateway']],
    ['DNS:number-admin.bmg.svc.cluster.local', ['number-admin']],
    ['URI:spiffe://mesh.example/ns/bmg/sa/fanout', ['fanout']],
    ['URI:spiffe://mesh.example/fanout', ['fanout']],
    ['DNS:gateway, IP Address:10.0.0.1, DNS:gateway.bmg.svc', ['gateway']],
    ['DNS:gateway, URI:spiffe://mesh.example/operator', ['gateway', 'operator']],
  ])('%s', (text, names) => {
    expect(namesOf(text)).toEqual(names);
  });

  test.each([
    [undefined],
    [''],
    ['IP Address:127.0.0.1'],
    ['DNS:*.bmg.svc'],
    ['URI:https://example.com/gateway'],
    ['email:gateway'],
    // What Node writes for a value that holds a comma, so that it cannot pass for two.
    ['DNS:"evil.example, DNS:operator"'],
    ['DNS:"evil.example, DNS:operator, DNS:x"'],
    ['DNS:"evil\\"example, DNS:operator, DNS:x"'],
    ['URI:"spiffe://mesh.example/x, DNS:operator"'],
  ])('none in %s', (text) => {
    expect(namesOf(text)).toEqual([]);
  });
});

describe('the access rules', () => {
  test.each([
    ['gateway', 'Messaging', 'SendText', true],
    ['gateway', 'NumberAdmin', 'GetProfile', true],
    ['gateway', 'Messaging', 'SendBroadcastMessage', false],
    ['gateway', 'Directory', 'GetCredential', false],
    ['gateway', 'Operator', 'CreatePartner', false],
    ['fanout', 'Directory', 'GetOwners', true],
    ['fanout', 'Directory', 'GetCredential', false],
    ['operator', 'Operator', 'RotateKeyring', true],
    ['operator', 'Directory', 'GetCredential', false],
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
