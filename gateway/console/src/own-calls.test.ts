import { ownCallsOf } from './own-calls';

test('the calls of the console are not among those of the partner', () => {
  const endpoints = [
    { endpoint: '/clients', calls: 3, errors: 1 },
    { endpoint: '/messages/send', calls: 2, errors: 0 },
    { endpoint: 'console /clients', calls: 29, errors: 4 },
  ];
  expect(ownCallsOf({ endpoints })).toEqual({ calls: 5, errors: 1 });
});
