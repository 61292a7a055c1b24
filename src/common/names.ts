/** Organization, application and service names (contract, head and §4). */
export const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** The same, for the OpenAPI document. */
export const NAME_SCHEMA = { type: 'string', pattern: NAME.source, minLength: 1, maxLength: 64 } as const;

export const NAME_RULE =
  'must start with a letter or digit and have at most 64 letters, digits, dots, underscores or hyphens, such as "webshop"';
