import { z } from 'zod';
import { APPROVAL_DECISIONS, SEVERITIES } from '../../domain/policy/approval.ts';
import { LIMITS } from '../../domain/call/call.ts';
import type { Ask } from '../../domain/policy/hook.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { checkArguments } from '../../domain/call/check-arguments.ts';
import type { RegisteredHook } from './registered-hook.ts';
import { oneLine } from './show-cause.ts';
import { shorten } from '../../base/cut-text.ts';

/** A hook's answer after it was parsed. */
export type ReadAnswer =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'block'; readonly reason: string }
  | {
      readonly kind: 'wish';
      readonly rewrite?: { readonly how: 'params' | 'patch'; readonly value: JsonObject };
      readonly ask?: Ask;
    }
  /** The problem is only for the log. */
  | { readonly kind: 'malformed'; readonly problem: string };

const MAX_REASON = 500;
/** Max characters of title, description and detail. A longer text is cut, not rejected: a call must not fail because a title is long. */
const MAX_TITLE = 80;
const MAX_DESCRIPTION = 512;
const MAX_DETAIL = 16_384;

const text = z.string().min(1);
// A check for an object is enough: the value was parsed from JSON.
const object = z.custom<JsonObject>(isJsonObject, 'expected an object');

const approvalRequest = z.strictObject({
  reason: text.exactOptional(),
  title: text.exactOptional(),
  description: text.exactOptional(),
  detail: text.exactOptional(),
  severity: z.enum(SEVERITIES).exactOptional(),
  timeoutMs: z.int().min(1).max(LIMITS.maxDeadlineMs).exactOptional(),
  decisions: z.array(z.enum(APPROVAL_DECISIONS)).min(1).exactOptional(),
  approvers: z.array(text.max(256)).min(1).max(100).exactOptional(),
  quorum: z.int().min(1).max(100).exactOptional(),
  grantable: z.boolean().exactOptional(),
});

const beforeAnswer = z
  .strictObject({
    block: z.boolean().exactOptional(),
    reason: text.exactOptional(),
    params: object.exactOptional(),
    patch: object.exactOptional(),
    requireApproval: approvalRequest.exactOptional(),
  })
  .refine(({ params, patch }) => params === undefined || patch === undefined, 'params and patch exclude each other')
  // The author probably meant to block, so this answer must not let the call pass.
  .refine(({ block, reason }) => block === true || reason === undefined, 'a reason without block: true');

const NOTHING: ReadAnswer = Object.freeze({ kind: 'nothing' });

/**
 * Reads an answer once, as JSON, and strictly: an unknown key may be a misspelt `block`. Code in the answer (getters, proxies) runs only
 * here.
 */
export function readAnswer(answer: unknown, hook: RegisteredHook): ReadAnswer {
  if (answer === undefined || answer === null) return NOTHING;
  const written = checkArguments(answer);
  if (!written.ok) return malformed(written.code === 'ENVELOPE_INVALID' ? written.facts.problem : 'it is too large');
  const parsed = beforeAnswer.safeParse(JSON.parse(written.canonical));
  if (!parsed.success) return malformed(describe(parsed.error));
  const { block, reason, params, patch, requireApproval } = parsed.data;
  if (block === true)
    return { kind: 'block', reason: shown(reason, MAX_REASON) ?? `The hook ${hook.id} blocked this call.` };
  const value = params ?? patch;
  if (value === undefined && requireApproval === undefined) return NOTHING;
  return {
    kind: 'wish',
    ...(value === undefined ? {} : { rewrite: { how: params === undefined ? 'patch' : 'params', value } }),
    ...(requireApproval === undefined ? {} : { ask: toAsk(requireApproval, hook) }),
  };
}

/** Builds the ask. The gate itself fills in the asker, so a hook cannot ask in the name of another hook. */
function toAsk({ grantable, ...request }: z.output<typeof approvalRequest>, hook: RegisteredHook): Ask {
  const { reason, title, description, detail, decisions, ...rest } = request;
  const texts = {
    reason: shown(reason, MAX_REASON),
    title: shown(title, MAX_TITLE),
    description: cut(description, MAX_DESCRIPTION),
    detail: cut(detail, MAX_DETAIL),
  };
  return {
    asker: { kind: 'hook', id: hook.id, digest: hook.digest, grantable: grantable === true },
    ...Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== undefined)),
    ...(decisions === undefined ? {} : { decisions: [...new Set(decisions)] }),
    ...rest,
  };
}

function shown(given: string | undefined, max: number): string | undefined {
  const line = given === undefined ? '' : oneLine(given, max);
  return line === '' ? undefined : line;
}

/** Shortens a text but keeps its line breaks, because it is shown as several lines. */
function cut(given: string | undefined, max: number): string | undefined {
  return given === undefined ? undefined : shorten(given, max);
}

function malformed(problem: string): ReadAnswer {
  return { kind: 'malformed', problem };
}

/** Describes the problems by names and rules, never by a value: a value could contain the arguments. */
function describe({ issues }: z.ZodError): string {
  return issues
    .slice(0, 3)
    .map((issue) => {
      const path = issue.path.map(String).join('.');
      const keys =
        issue.code === 'unrecognized_keys' ? `unknown key ${issue.keys.slice(0, 3).join(', ')}` : issue.message;
      return path === '' ? keys : `${path}: ${keys}`;
    })
    .join('; ');
}
