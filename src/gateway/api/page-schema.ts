import { z } from '@hono/zod-openapi';

export const PAGE_LIMITS = Object.freeze({ min: 1, usual: 50, max: 500, cursorLength: 512 });

/** A whole number in a query, written in digits only. `1e2`, `+5`, `5;` and a repeated parameter are refused instead of guessed at. */
export function wholeNumber(min: number, max: number) {
  return z
    .string()
    .regex(/^(0|[1-9]\d{0,15})$/, `expected a whole number from ${min} to ${max}`)
    .transform(Number)
    .pipe(z.number().int().min(min).max(max))
    .openapi({ type: 'integer', minimum: min, maximum: max });
}

/** A moment by the clock of the store, in milliseconds since 1970. */
export const momentQuery = wholeNumber(0, 8_640_000_000_000_000).optional();

export const limitQuery = wholeNumber(PAGE_LIMITS.min, PAGE_LIMITS.max).optional().openapi({
  type: 'integer',
  minimum: PAGE_LIMITS.min,
  maximum: PAGE_LIMITS.max,
  default: PAGE_LIMITS.usual,
  description: 'How many at most.',
});

/** The `next` of the previous page. Any other value is refused. */
export const cursorQuery = z
  .string()
  .min(1)
  .max(PAGE_LIMITS.cursorLength)
  .regex(/^[\w-]+$/, 'expected the `next` of an earlier page')
  .optional()
  .openapi({ description: 'The `next` of the page before.' });

/** The name of a person or a thing: any text without control characters. */
export const nameText = z
  .string()
  .regex(/^[^\p{Cc}\p{Cs}]{1,256}$/u, 'expected text of 1 to 256 characters without control characters');

export const moment = z.int().min(0).meta({ description: 'Milliseconds since 1970, by the clock of the store.' });

export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.strictObject({
    items: z.array(item),
    next: z
      .string()
      .optional()
      .openapi({ description: 'Ask with it as `cursor` for what follows. Absent: that was all.' }),
  });
}

export const identitySchema = z
  .strictObject({
    tenant: z.string(),
    subject: z.string(),
    agent: z.string(),
    channel: z.string().optional(),
    space: z.string().optional(),
    platform: z.string().optional(),
    delegators: z.array(z.string()).readonly().optional(),
    /** Present if the session is unattended. */
    unattended: z.literal(true).optional(),
  })
  .meta({ id: 'Identity' });
