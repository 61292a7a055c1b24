interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  example?: unknown;
  description?: string;
  schema?: { type?: string; pattern?: string; minimum?: number; maximum?: number; default?: unknown };
}

export interface OpenApiOperation {
  operationId: string;
  summary?: string;
  tags: string[];
  parameters: Parameter[];
  requestBody?: {
    required?: boolean;
    content: Record<string, { schema: { $ref?: string }; example?: unknown }>;
  };
  responses: Record<
    string,
    {
      description?: string;
      content?: Record<string, { schema: object; example?: unknown }>;
      headers?: object;
    }
  >;
  security?: object[];
}

export interface OpenApi {
  openapi: string;
  paths: Record<string, Record<string, OpenApiOperation>>;
  servers: { url: string; description: string }[];
  tags: { name: string; description: string }[];
  components: { schemas: Record<string, unknown>; securitySchemes: Record<string, object> };
}

/** Where the paths of contract §1 and §2 begin. */
export const READ = '/{org}/{app}/api/v1/';
export const WRITE = '/{org}/{app}/api/v0.1/';
