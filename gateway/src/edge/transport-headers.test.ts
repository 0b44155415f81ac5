import { transportHeaders } from './notice-headers';

test.each([
  ['https://gateway.example.com/v1', { 'Strict-Transport-Security': 'max-age=31536000' }],
  ['http://127.0.0.1:8080', {}],
])('responses below %s have the headers %j', (public_url, headers) => {
  expect(transportHeaders(public_url)).toEqual(headers);
});
