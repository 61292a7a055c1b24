import { applyDecorators, Controller, Get, Injectable, Param, Res, type Type } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import { ApiHeader, ApiOkResponse, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { Connection } from 'mongoose';
import {
  type Application,
  CurrentApplication,
  InApplication,
  type ServiceKey,
  SERVICES,
} from '../../../application/index.js';
import { callerOf } from '../../../auth/index.js';
import type { Kind } from '../../../kinds/index.js';
import { capitalized, exactly } from '../../../platform/common/index.js';
import { isRefusedQuery } from '../../../platform/database/index.js';
import { etagOf, problems, Problems, sendJson } from '../../../platform/http/index.js';
import { ofTenant } from '../../../record/index.js';
import { examplesIn, Schemas, serviceSchema, type ServiceSchema } from '../../schema/index.js';
import { FiltersInForce, ProgressReader } from '../../store/index.js';
import { NewestDatas, type SchemaReader, sampleTurn } from '../page/newest-datas.js';
import { ReadSlots } from '../page/read-slots.js';
import { Documented, KIND_ROUTES, KindOf, type KindRoute, pluralOf } from './kind-route.js';
import { SelectedBy } from './openapi.js';

const SCHEMA_TYPE = 'application/schema+json; charset=utf-8';

/** Describes `schema`: its answer is a document of another standard, which OpenAPI can describe only as an object. */
function DescribeSchema(summary: string, operationId: string) {
  const ETag = { description: 'For If-None-Match', schema: { type: 'string' as const } };
  return applyDecorators(
    ApiOperation({ summary, operationId }),
    InApplication(),
    SelectedBy('service'),
    ApiHeader({ name: 'If-None-Match', required: false, description: 'The ETag of an earlier answer' }),
    ApiOkResponse({
      description:
        'A JSON Schema (2020-12) of the items of `updates`, from a sample of them. It describes the sample; later ' +
        'records may differ. `x-tidemark-version` grows by one with every change of the schema',
      content: { 'application/schema+json': { schema: { type: 'object', additionalProperties: true } } },
      headers: { ETag },
    }),
    ApiResponse({
      status: 304,
      description: 'The schema is unchanged: it has the ETag of If-None-Match',
      headers: { ETag },
    }),
    Problems(400, 401, 404, 429, 500, 503),
  );
}

@Injectable()
class ServiceSchemas {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly filters: FiltersInForce,
    private readonly progress: ProgressReader,
    private readonly schemas: Schemas,
    private readonly newest: NewestDatas,
    private readonly slots: ReadSlots,
  ) {}

  /**
   * Throws what `updates` throws: 404 `unknown-service`, 500 `service-misconfigured`, and 503 `preparing`, which takes
   * precedence. Also throws 503 `not-watched` if the service is edited at this moment, and 503 `busy` if the turn for a first
   * sample or for examples does not come in time. Sends nothing if the client does not wait for the answer.
   */
  protected async answer(
    application: Application,
    kind: Kind,
    name: string,
    response: Response,
  ): Promise<void> {
    const gone = new AbortController();
    const leave = () => gone.abort();
    if (response.closed) leave();
    else response.once('close', leave);
    const reader = { owner: callerOf(response.req).username, gone: gone.signal };
    try {
      const schema = await this.schema(application, { kind, name }, reader);
      if (response.closed) return;
      const text = JSON.stringify(schema);
      response.setHeader('ETag', etagOf(Buffer.from(text)));
      sendJson(response, text, SCHEMA_TYPE);
    } catch (error) {
      if (!gone.signal.aborted) throw error;
    } finally {
      response.off('close', leave);
    }
  }

  private async schema(
    { organizationid, appid }: Application,
    { kind, name }: Pick<ServiceKey, 'kind' | 'name'>,
    reader: SchemaReader,
  ): Promise<ServiceSchema> {
    await this.progress.read({ organizationid, appid });
    const { of } = await this.filters.find({ organizationid, appid }, kind, name);
    const current = await this.schemas.current(of, sampleTurn(this.slots, reader)).catch((error: unknown) => {
      throw isRefusedQuery(error) ? problems.serviceMisconfigured(kind, name) : error;
    });
    if (current === undefined) throw problems.notWatched();
    if (!(await this.allowsExamples(of))) return serviceSchema(current);
    // Read for each answer and stored nowhere, so that a record that is erased or hidden is not among them.
    return serviceSchema(current, examplesIn(await this.newest.read(current, reader)));
  }

  private async allowsExamples(key: ServiceKey): Promise<boolean> {
    const which = { ...ofTenant(key), kind: exactly(key.kind), name: exactly(key.name) };
    const projection = { _id: 0, schemaExamples: 1 };
    const document = await this.connection.collection(SERVICES).findOne(which, { projection });
    return document?.['schemaExamples'] === true;
  }
}

/** A controller of the schemas of the services of a kind (contract §9). */
function schemasOf(route: KindRoute): Type {
  @ApiTags('replication')
  @Documented(route)
  @Controller(`:org/:app/api/v1/${route}`)
  class KindSchemaController extends ServiceSchemas {
    @Get(':service/schema')
    @DescribeSchema(
      `Schema of the ${pluralOf(route)} that match the filter of the service`,
      `get${capitalized(route)}Schema`,
    )
    getSchema(
      @CurrentApplication() application: Application,
      @KindOf(route) kind: Kind,
      @Param('service') service: string,
      @Res() response: Response,
    ): Promise<void> {
      return this.answer(application, kind, service, response);
    }
  }
  return KindSchemaController;
}

export const SCHEMA_CONTROLLERS = KIND_ROUTES.map(schemasOf);
