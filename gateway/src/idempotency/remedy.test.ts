import { endpoints } from '../endpoints';
import { remedyOf } from './remedy';

test('every endpoint that takes a key has its way out of an outcome that is not known', () => {
  const remedies = endpoints
    .filter(({ idempotent }) => idempotent)
    .map(({ verb, path, rpc }) => [`${verb} ${path}`, remedyOf(rpc)]);
  expect(Object.fromEntries(remedies)).toEqual({
    'POST /messages/send': 'ask',
    'POST /messages/template': 'ask',
    'POST /messages/media': 'ask',
    'POST /messages/interactive': 'ask',
    'POST /messages/location': 'ask',
    'POST /messages/reaction': 'ask',
    'POST /messages/read': 'again',
    'POST /media/upload': 'none',
    'POST /templates': 'none',
    'POST /broadcasts': 'again',
    'POST /calls': 'none',
    'POST /groups': 'none',
  });
});
