import { csvLine } from '.';

test('quotes cells with commas, quotation marks and line breaks', () => {
  expect(csvLine(['a', 'b,c', 'say "x"', 'one\ntwo', null, true, 7])).toBe(
    'a,"b,c","say ""x""","one\ntwo",,true,7\r\n',
  );
});

test.each(['=1+1', '+SUM(A1)', '-cmd', '@x', '\tx'])(
  'keeps spreadsheets from running %j',
  (text) => {
    expect(csvLine([text])).toBe(`'${text}\r\n`);
  },
);

test('leaves decimals as they are', () => {
  expect(csvLine(['-12.50', '0.1'])).toBe('-12.50,0.1\r\n');
});
