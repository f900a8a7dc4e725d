import { z } from '@hono/zod-openapi';
import { ACTOR_SURFACES } from '../../domain/identity/actor.ts';
import { cursorQuery, identitySchema, limitQuery, moment, nameText, pageOf } from './page-schema.ts';

const MAX_LIFETIME_MS = 30 * 24 * 60 * 60 * 1000;
const duration = z.int().min(1).max(MAX_LIFETIME_MS);

export const sessionSchema = z
  .strictObject({
    id: z.string(),
    identity: identitySchema,
    openedAt: moment,
    expiresAt: moment,
    idleMs: z.number(),
    lastSeenAt: moment,
    state: z.enum(['open', 'expired', 'revoked']),
    runs: z.array(z.string()),
    /** Who opened the session, as in the audit. Absent for sessions that an earlier release opened. */
    openedBy: z.strictObject({ by: z.string(), via: z.enum(ACTOR_SURFACES), bearer: z.string().optional() }).optional(),
    injected: z.array(z.strictObject({ run: z.string(), tool: z.string(), by: z.string() })).optional(),
  })
  .meta({ id: 'Session' });
export type SessionView = z.infer<typeof sessionSchema>;
export const sessionPageSchema = pageOf(sessionSchema).meta({ id: 'SessionPage' });
export const sessionListQuery = z.strictObject({ limit: limitQuery, cursor: cursorQuery });

export const openSessionSchema = z
  .strictObject({
    tenant: nameText.optional(),
    subject: nameText,
    agent: nameText,
    channel: nameText.optional(),
    space: nameText.optional(),
    platform: nameText.optional(),
    lifetimeMs: duration.optional(),
    idleMs: duration.optional(),
    /** Calls that need an approval are denied at once. A session that an unattended token opens is always unattended. */
    unattended: z.boolean().optional(),
  })
  .meta({ id: 'OpenSession' });

/** The bearer is shown once and stored nowhere. */
export const openedSessionSchema = z
  .strictObject({ id: z.string(), run: z.string(), bearer: z.string(), expiresAt: moment })
  .meta({ id: 'OpenedSession' });
export type OpenedSession = z.infer<typeof openedSessionSchema>;
/** `unattended=true`: calls in the run that need an approval are denied at once. */
export const openRunQuery = z.strictObject({ unattended: z.enum(['true', 'false']).optional() });
export const openedRunSchema = z.strictObject({ id: z.string(), run: z.string() }).meta({ id: 'OpenedRun' });
