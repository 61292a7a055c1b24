import { applyDecorators, Controller, Get, Headers, HttpCode, Post, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiQuery } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Caller, covers, type Credential } from '../../auth/index.js';
import {
  Problems,
  readParameters,
  sendJson,
  sendWhole,
  tag,
  type Field,
  type Shaped,
  flag,
  DocumentedBody,
} from '../../platform/http/index.js';
import { NAME, NAME_RULE, NAME_SCHEMA, type Parsed } from '../../platform/common/index.js';
import {
  applyConfiguration,
  assertCovers,
  assertPossible,
  compare,
  CONFIGURATION,
  coversAll,
  coversCredential,
  organizationsTouched,
  type PlannedChange,
  type Previews,
  previewsOf,
  type Reach,
  storedConfiguration,
  withinApplication,
} from '../index.js';
import {
  Administrative,
  Asked,
  Body,
  ChangeContexts,
  listText,
  TakesIfMatch,
  EditLimiter,
  ListingLimiter,
  TrialLimiter,
  untilGone,
} from './administration.js';
import type { Tenant } from '../../record/index.js';
import { Answers } from './answers.js';

/** An exported configuration names in it what is not part of it. */
const leftOut: Field<undefined> = {
  schema: {
    type: 'array',
    items: { type: 'string' },
    description: 'Ignored, so that an answer can be sent as it is',
  },
  missing: undefined,
  read: () => ({ value: undefined }),
};

const WANTED = { ...CONFIGURATION, prune: flag(), leftOut };

/** Time limit of all previews of a plan together, in ms. */
const PREVIEWS_MS = 4000;
/** Hard limit for all previews together, in ms. It exceeds PREVIEWS_MS because MongoDB cannot interrupt every regular expression. */
const WHOLE_MS = 6000;
/** Maximum number of new credentials per request. The request waits while each password is hashed, about 50 ms. */
const MOST_NEW = 50;
/** How long applying a configuration waits for its turn, in ms. */
const APPLY_WAIT_MS = 6000;
/** Maximum size of BSON in one answer or comparison, in bytes. Processing it blocks other requests. */
const MOST_BYTES = 8 * 1024 * 1024;

/** The parameters that name one application. A request has both or neither. */
const PARAMETERS = ['organizationid', 'appid'] as const;
type Narrowing = Partial<Record<(typeof PARAMETERS)[number], unknown>>;

const TakesApplication = applyDecorators(
  ...PARAMETERS.map((name) =>
    ApiQuery({
      name,
      required: false,
      description:
        'Only this application, and the credentials that give access to nothing else. Send both organizationid and appid',
      schema: NAME_SCHEMA,
    }),
  ),
);

/** The configuration as one document: reads it, plans changes to it, and applies them in one transaction. */
@Administrative()
@Controller('admin/v1/configuration')
export class ConfigurationController {
  constructor(
    private readonly changeContexts: ChangeContexts,
    private readonly previews: TrialLimiter,
    private readonly listings: ListingLimiter,
    private readonly pace: EditLimiter,
  ) {}

  @Get()
  @TakesApplication
  @ApiOperation({
    summary: 'Shows the kinds, applications, services and credentials that you may change',
    description:
      'Without passwords. `leftOut` lists stored documents that cannot be part of a configuration, and the number of services that exceed the limits of their application.',
  })
  @Answers('The configuration')
  @Problems(400, 401, 403, 404, 409, 429, 500, 503)
  async getConfiguration(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Query() narrowing: Narrowing,
    @Res() response: Response,
  ): Promise<void> {
    const { db } = this.changeContexts.of(request);
    const reach = reachOf(caller, narrowing);
    const read = () => storedConfiguration(db, reach);
    const { text, etag, leftOut } = await this.listings.during(request, caller, read);
    tag(response, etag);
    sendWhole(response, `${text.slice(0, -1)},"leftOut":${JSON.stringify(leftOut)}}`);
  }

  @Post('plan')
  @TakesApplication
  @HttpCode(200)
  @DocumentedBody(WANTED)
  @ApiOperation({
    summary: 'Shows what a configuration would change',
    description:
      'Includes a preview of each changed filter, until the time limit is reached. The `ETag` is that of the stored configuration.',
  })
  @Answers('What would change')
  @Problems(400, 401, 403, 404, 409, 413, 415, 429, 500, 503)
  async planConfiguration(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Query() narrowing: Narrowing,
    @Body(WANTED) { prune, ...wanted }: Shaped<typeof WANTED>,
    @Res() response: Response,
  ): Promise<void> {
    const { db, turn, readKinds } = this.changeContexts.of(request);
    await readKinds?.();
    const options = { reach: reachOf(caller, narrowing), isPruned: prune === true };
    const comparing = () => compare(db, wanted, options);
    const { changes, untold, etag } = await this.listings.during(request, caller, comparing);
    await assertPossible(db, changes, options.reach, turn);
    const gone = untilGone(request);
    const begun = performance.now();
    const leftOf = (ms: number) => begun + ms - performance.now();
    const previews = await previewsOf(db, changes, {
      // The exact counts and the estimate that follows may each take this long.
      msLeft: () => leftOf(PREVIEWS_MS) / 2,
      during: ({ organizationid }, work) =>
        this.previews.during(organizationid, gone, work, leftOf(WHOLE_MS)),
    });
    const omitted = untold.map(({ name }) => name);
    const text = await listText(changes, (one) => shown(one, previews));
    tag(response, etag);
    sendJson(response, `{"changes":${text},"untold":${JSON.stringify(omitted)}}`);
  }

  @Post('apply')
  @TakesApplication
  @TakesIfMatch
  @HttpCode(200)
  @DocumentedBody(WANTED)
  @ApiOperation({
    summary: 'Applies a configuration, completely or not at all',
    description:
      'Objects that the configuration omits are kept, unless `prune` is true. Send the `ETag` of the plan as `If-Match`. The response contains the passwords of the created credentials; they are not shown again. One request creates at most 50 credentials.',
  })
  @Answers('What has changed')
  @Problems(400, 401, 403, 404, 409, 412, 413, 415, 429, 500, 503)
  async applyConfiguration(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Query() narrowing: Narrowing,
    @Headers('If-Match') ifMatch: string | undefined,
    @Body(WANTED) { prune, ...wanted }: Shaped<typeof WANTED>,
    @Res() response: Response,
  ): Promise<void> {
    const reach = reachOf(caller, narrowing);
    const options = { reach, isPruned: prune === true, ifMatch, mostNew: MOST_NEW };
    for (const application of wanted.applications ?? [])
      if (reach.covers(application)) this.pace.count(application);
    const apply = () => applyConfiguration(this.changeContexts.of(request), wanted, options);
    const { changes, passwords } = await this.listings.during(request, caller, apply, APPLY_WAIT_MS);
    const text = await listText(changes, (one) => shown(one));
    sendJson(response, `{"changes":${text},"passwords":${JSON.stringify(passwords)}}`);
  }
}

/**
 * The part of the configuration that the caller may change, restricted to one application by the parameters. Throws 400 and
 * 404.
 */
function reachOf(caller: Credential, narrowing: Narrowing): Reach {
  const reach = {
    organizationids: organizationsTouched(caller),
    covers: ({ organizationid, appid }: Tenant) => covers(caller.scopes, organizationid, appid),
    coversCredential: (credential: { scopes?: unknown }) => coversCredential(caller, credential),
    hasKinds: coversAll(caller),
    mostBytes: MOST_BYTES,
  };
  if (PARAMETERS.every((name) => narrowing[name] === undefined)) return reach;
  const { organizationid, appid } = readParameters(narrowing, (read) => ({
    organizationid: read('organizationid', parseName, `${NAME_RULE}.`) as string,
    appid: read('appid', parseName, `${NAME_RULE}.`) as string,
  }));
  assertCovers(caller, { organizationid, appid });
  return withinApplication(reach, { organizationid, appid });
}

function parseName(text: string): Parsed<string> {
  return NAME.test(text) ? { value: text } : { error: `${NAME_RULE}.` };
}

/** A change for the answer, with its preview if one was made. */
function shown({ action, name, thing, changed }: PlannedChange, previews?: Previews): object {
  const { what, key } = thing;
  return { action, what, ...key, changed, preview: what === 'service' ? previews?.get(name) : undefined };
}
