import type { Api } from './api-route.ts';

/** Builds the OpenAPI document from the routes, with the security schemes and general information. */
export function describeApi(api: Api, release: string): object {
  api.openAPIRegistry.registerComponent('securitySchemes', 'bearer', {
    type: 'http',
    scheme: 'bearer',
    description: 'A token of the gateway (spt_…), or the bearer of one session (sps_…).',
  });
  api.openAPIRegistry.registerComponent('securitySchemes', 'console', {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-sallyport',
    description:
      'The cookie of the console. What changes something also needs the header `Sallyport-Console: 1` and JSON as its content type.',
  });
  const { webhooks: _, ...document } = api.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Sallyport',
      version: release,
      description:
        'Times are milliseconds since 1970, by the clock of the store. Whatever is no success is `application/problem+json`, with a code of docs/errors.md.',
      license: { name: 'Apache-2.0' },
    },
    servers: [{ url: '/v1' }],
  });
  return document;
}
