import { CreateTemplateRequest } from '@bmg/proto/templates';
import { compile } from '../parts/schema';
import { usageName, type Endpoint, type Input } from '../endpoint';
import { templates } from './rows';

const row = (verb: string, path: string): Endpoint =>
  (templates as Endpoint[]).find((one) => one.verb === verb && one.path === path) as Endpoint;
const create = row('POST', '/templates');
const check = compile(create.body ?? {}, 'body');

const body = {
  name: 'order_update',
  language: 'en_US',
  category: 'UTILITY',
  components: [{ type: 'BODY', text: 'Hi {{1}}!', example: { body_text: [['Ada']] } }],
};

test('answers the total beside the list', () => {
  const listed = [{ id: '1' }, { id: '2' }];
  expect(row('GET', '/templates').reply?.({ templates: listed }, {} as Input)).toEqual({
    templates: listed,
    total: 2,
  });
});

describe('a creation', () => {
  test('answers 201 with the template', () => {
    expect(create).toMatchObject({ status: 201, idempotent: true, scope: 'number' });
    expect(create.reply?.({ fields: { id: '1' } }, {} as Input)).toEqual({ template: { id: '1' } });
  });

  test('passes on every key at the top', () => {
    const target = { waba_id: '900000000000001' };
    const checked = check({ ...body, components: [...body.components], allow: true });
    const request = create.request?.({ body: checked, target } as unknown as Input) ?? {};
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
    [{}, 'MISSING_FIELDS', { fields: ['name', 'language', 'category', 'components'] }],
    [{ ...body, components: [] }, 'MISSING_FIELDS', { fields: ['components'] }],
    [
      { ...body, components: undefined, library_template_name: ' ' },
      'MISSING_FIELDS',
      { fields: ['components'] },
    ],
    [{ ...body, category: 'utility' }, 'INVALID_FIELD', { field: 'category' }],
    [{ ...body, parameter_format: 'BOTH' }, 'INVALID_FIELD', { field: 'parameter_format' }],
    [{ ...body, components: ['x'] }, 'INVALID_FIELD', { field: 'components[0]' }],
    [{ ...body, name: 'x'.repeat(513) }, 'INVALID_FIELD', { field: 'name' }],
  ])('with %j is %s', (wrong, code, details) => {
    expect(() => check(wrong)).toThrow(
      expect.objectContaining({ code, details: expect.objectContaining(details) }),
    );
  });
});

test('have their own names in the usage record', () => {
  expect((templates as Endpoint[]).map((one) => `${one.verb} ${usageName(one)}`)).toEqual([
    'GET /templates',
    'POST /templates',
    'POST /templates/upload-header',
    'GET /templates/analytics',
    'GET /templates/library',
    'GET /templates/{template_name}',
    'PATCH /templates/{template_name}',
    'DELETE /templates/{template_name}',
  ]);
});
