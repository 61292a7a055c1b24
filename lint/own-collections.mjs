/**
 * Lint rule: a collection is named once, in a file of the room that owns it. Everybody else imports that name, so that
 * each coupling is an import that the walls see.
 */
const STAGES = new Set(['from', 'coll', 'into']);

export const ownCollections = {
  meta: {
    type: 'problem',
    schema: [],
    messages: { literal: 'Import the name of the collection from the room that owns it.' },
  },
  create(context) {
    const isText = (node) =>
      (node?.type === 'Literal' && typeof node.value === 'string') || node?.type === 'TemplateLiteral';
    const report = (node) => context.report({ node, messageId: 'literal' });
    return {
      "CallExpression[callee.property.name='collection']"({ arguments: [name] }) {
        if (isText(name)) report(name);
      },
      Property({ key, value }) {
        if (STAGES.has(key.name) && isText(value)) report(value);
      },
    };
  },
};
