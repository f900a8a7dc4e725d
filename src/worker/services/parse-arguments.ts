import { z } from 'zod';
import { planeError } from '../../domain/errors/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import { ServiceFailure } from './service-failure.ts';

const MAX_PROBLEMS = 3;

/** Checks an argument that a tool passed to a method. The error message names the member, never the value. */
export function parseArgument<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  method: string,
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new ServiceFailure('SERVICE_INVALID', `${method}: ${describe(parsed.error)}.`);
}

/** Checks the member `config` of a service in the configuration. */
export function parseServiceConfig<Schema extends z.ZodType>(
  schema: Schema,
  value: JsonObject,
  service: string,
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw planeError('SERVICES_INVALID', { problems: [`services.${service}.config: ${describe(parsed.error)}`] });
}

function describe({ issues }: z.ZodError): string {
  return issues
    .slice(0, MAX_PROBLEMS)
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
    .join('; ');
}

export const shortText = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'expected text without control characters');

/** Text that may have line breaks, but no lone surrogates and no NUL character: no store can keep these. */
export const longText = (max: number) =>
  z
    .string()
    .max(max)
    .regex(/^[^\p{Cs}\0]*$/u, 'expected well-formed text');
