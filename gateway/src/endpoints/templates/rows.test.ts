import { CreateTemplateRequest } from '@bmg/proto/templates';
import { replyOf, requestOf, taken } from '../../../../test/contract/rows';

const CREATE = 'POST /templates';
const check = (given: object) => taken(CREATE, given);

const body = {
  name: 'order_update',
  language: 'en_US',
  category: 'UTILITY',
  components: [{ type: 'BODY', text: 'Hi {{1}}!', example: { body_text: [['Ada']] } }],
};

test('answers the total beside the list', () => {
  const listed = [{ id: '1' }, { id: '2' }];
  expect(replyOf('GET /templates', { templates: listed })).toEqual({
    templates: listed,
    total: 2,
  });
});

describe('a creation', () => {
  test('answers with the template', () => {
    expect(replyOf(CREATE, { fields: { id: '1' } })).toEqual({ template: { id: '1' } });
  });

  test('passes on every key at the top', () => {
    const checked = check({ ...body, components: [...body.components], allow: true });
    const request = requestOf(CREATE, { body: checked });
    // Decodes what arrives behind the wire: nothing is lost on the way.
    const bytes = CreateTemplateRequest.encode(
      CreateTemplateRequest.fromPartial(request as object),
    ).finish();
    expect(CreateTemplateRequest.decode(bytes).template).toEqual({
      ...body,
      allow: true,
      parameter_format: 'POSITIONAL',
    });
  });

  test('needs no components if it names a template of the library', () => {
    const { components: _components, ...rest } = body;
    const from_library = { ...rest, library_template_name: 'delivery_update_1' };
    expect(check(from_library)).toMatchObject(from_library);
  });

  test.each([
    [{ ...body, components: [] }, 'MISSING_FIELDS', { fields: ['components'] }],
    [
      { ...body, components: undefined, library_template_name: ' ' },
      'MISSING_FIELDS',
      { fields: ['components'] },
    ],
    [{ ...body, name: 'x'.repeat(513) }, 'INVALID_FIELD', { field: 'name' }],
  ])('with %j is %s', (wrong, code, details) => {
    expect(() => check(wrong)).toThrow(expect.objectContaining({ code, details }));
  });
});
