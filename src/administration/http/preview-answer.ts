const number = { type: 'integer', nullable: true, description: 'Null where there was no time to find out' };

const estimateOf = (what: string) => ({
  type: 'integer',
  description: `${what} an estimate, right to this many records in 95 of 100 cases; absent where it is exact`,
});

const group = (description: string) => ({
  type: 'object',
  description,
  required: ['count', 'ids'],
  properties: {
    count: number,
    ids: { type: 'array', items: { type: 'string' }, maxItems: 10, description: 'The first ones' },
    error: estimateOf('The count is'),
  },
});

const plan = {
  type: 'object',
  nullable: true,
  description: 'How the records that match are found; null where there was no time to find out',
  required: ['indexes', 'readsEveryRecord', 'advice'],
  properties: {
    indexes: { type: 'array', items: { type: 'string' }, description: 'Names of the indexes that are used' },
    readsEveryRecord: { type: 'boolean', description: 'No index serves the filter' },
    advice: {
      type: 'object',
      nullable: true,
      additionalProperties: { type: 'integer' },
      example: { organizationid: 1, appid: 1, 'data.category': 1 },
      description: 'The index that would serve it; null where it is served, or none would',
    },
  },
};

const warnings = {
  type: 'array',
  description: 'What is allowed, and hardly what was meant',
  items: {
    type: 'object',
    required: ['path', 'detail'],
    properties: { path: { type: 'string', example: '$or[0].category' }, detail: { type: 'string' } },
  },
};

/** What a preview answers, for the OpenAPI document. */
export const PREVIEW_ANSWER = {
  type: 'object',
  required: ['records', 'matching', 'others', 'restamps', 'isCutOff', 'plan', 'warnings'],
  properties: {
    records: number,
    matching: group('Records that match'),
    others: group('Records that do not'),
    entering: group('With a filter in force: records that would begin to match'),
    leaving: group('With a filter in force: records that would cease to match'),
    restamps: { ...number, description: 'Records that saving it delivers again' },
    error: estimateOf('Some counts are'),
    isCutOff: {
      type: 'boolean',
      description: 'A count is null, or a group that is not empty has no ids: the time was over',
    },
    plan,
    warnings,
  },
};
