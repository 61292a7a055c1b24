import type { OpenAPIObject } from '@nestjs/swagger';
import { nameSchemas } from '../../../../src/platform/http/docs.js';

const text = { type: 'string' };
const named = (title: string, name: string) => ({
  ...{ title, type: 'object', properties: { [name]: text } },
});
const taking = (schema: object) => ({
  post: { requestBody: { content: { 'application/json': { schema } } }, responses: {} },
});

/** A document with a named schema, and operations whose bodies are these. */
function documentOf(known: object, ...bodies: object[]): OpenAPIObject {
  const paths = Object.fromEntries(bodies.map((body, index) => [`/path${index}`, taking(body)]));
  return { paths, components: { schemas: known } } as unknown as OpenAPIObject;
}

it('bodies of one shape share a schema', () => {
  const document = documentOf({}, named('Thing', 'a'), named('Thing', 'a'));
  nameSchemas(document);
  expect(document.components!.schemas).toEqual({ Thing: { type: 'object', properties: { a: text } } });
});

describe('no schema replaces another one of the same name:', () => {
  const thing = { type: 'object', properties: { a: text } };
  const holding = (title: string) => ({
    type: 'object',
    properties: { result: { type: 'array', items: { title, oneOf: [text] } } },
  });

  it.each([
    ['that of a body', documentOf({ Thing: thing }, named('Thing', 'b'))],
    ['that of a second body', documentOf({}, named('Thing', 'a'), named('Thing', 'b'))],
    ['that of a union', documentOf({ Thing: thing, Page: holding('Thing') })],
  ])('%s', (_which, document) => {
    expect(() => nameSchemas(document)).toThrow('Two schemas of the OpenAPI document have the name "Thing".');
  });
});
