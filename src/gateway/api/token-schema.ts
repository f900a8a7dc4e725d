import { z } from '@hono/zod-openapi';
import { TOKEN_LIMITS, TOKEN_SCOPES } from '../../domain/identity/gateway-token.ts';
import { cursorQuery, identitySchema, limitQuery, moment, nameText, pageOf } from './page-schema.ts';

export const tokenSchema = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    scopes: z.array(z.enum(TOKEN_SCOPES)),
    identity: identitySchema.optional(),
    decidesAs: z.string().optional(),
    unattended: z.literal(true).optional(),
    /** `login-link`: the code of a login link that is still valid. `login`: the login of a browser. Absent: created as a token. */
    purpose: z.enum(['login-link', 'login']).optional(),
    createdAt: moment,
    expiresAt: moment,
    revokedAt: moment.optional(),
  })
  .meta({ id: 'Token' });
export type TokenView = z.infer<typeof tokenSchema>;
export const tokenPageSchema = pageOf(tokenSchema).meta({ id: 'TokenPage' });
export const tokenListQuery = z.strictObject({ limit: limitQuery, cursor: cursorQuery });

export const newTokenSchema = z
  .strictObject({
    name: z
      .string()
      .regex(/^[^\p{Cc}\p{Cs}]+$/u)
      .min(1)
      .max(TOKEN_LIMITS.nameLength),
    scopes: z.array(z.enum(TOKEN_SCOPES)).min(1).max(TOKEN_SCOPES.length),
    /** The identity that calls are made for. Required with the scope `agent`, and only allowed with it. */
    identity: z
      .strictObject({
        tenant: nameText.optional(),
        subject: nameText,
        agent: nameText,
        channel: nameText.optional(),
        space: nameText.optional(),
        platform: nameText.optional(),
      })
      .optional(),
    /** The `TENANT/SUBJECT` that an approver decides as. */
    decidesAs: z
      .string()
      .max(600)
      .regex(/^[^/\p{Cc}\p{Cs}]+\/[^\p{Cc}\p{Cs}]+$/u)
      .optional(),
    /** Every session that the token opens is unattended. Only with the scope `agent` or `sessions`. */
    unattended: z.literal(true).optional(),
    lifetimeMs: z.int().min(1000).max(TOKEN_LIMITS.maxLifetimeMs).optional(),
  })
  .meta({ id: 'NewToken' });
export type NewTokenBody = z.infer<typeof newTokenSchema>;

/** The text is shown once and stored nowhere. */
export const madeTokenSchema = z
  .strictObject({ token: tokenSchema, text: z.string(), warnings: z.array(z.string()) })
  .meta({ id: 'MadeToken' });
export type MadeToken = z.infer<typeof madeTokenSchema>;

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
