import { EXAMPLES_MAX, Findings, upstreamRefusal } from './findings';

test('counts the contacts of a reason, and shows the first ones with their own words', () => {
  const findings = new Findings();
  for (let place = 0; place < 100; place += 1) {
    findings.add(upstreamRefusal(131_026, `could not be reached on day ${place}`, 'to'), place);
  }
  findings.add(upstreamRefusal(132_005, 'the body is too long'), 100);
  const [unreachable, long] = findings.list();
  expect(unreachable?.places).toHaveLength(100);
  expect(unreachable?.examples).toHaveLength(EXAMPLES_MAX);
  expect(unreachable?.examples[9]).toEqual({
    place: 9,
    field: 'to',
    message: 'could not be reached on day 9',
  });
  expect(long?.places).toEqual([100]);
});

test('keeps reasons separate that concern no single contact', () => {
  const findings = new Findings();
  findings.add(upstreamRefusal(132_001, 'the template is not approved'));
  findings.add(upstreamRefusal(132_001, 'the template does not exist'));
  findings.add(upstreamRefusal(132_001, 'the template does not exist'));
  expect(findings.list()).toHaveLength(2);
});
