import { z } from '@hono/zod-openapi';
import { TOKEN_SCOPES } from '../../domain/identity/gateway-token.ts';
import { identitySchema, moment } from './page-schema.ts';

export const meSchema = z
  .strictObject({
    name: z.string(),
    scopes: z.array(z.enum(TOKEN_SCOPES)),
    identity: identitySchema.optional(),
    decidesAs: z.string().optional(),
    unattended: z.literal(true).optional(),
    expiresAt: moment,
    gatewayId: z.string(),
    release: z.string(),
  })
  .meta({ id: 'Me' });
export type MeView = z.infer<typeof meSchema>;
