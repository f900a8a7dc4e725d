import { parsePointer } from '../../base/json-pointer.ts';
import { MAX_COST } from '../../domain/outcome/content.ts';
import type { ToolDeclaration } from '../../domain/tool/tool.ts';
import type { ToolDefinition } from './define-module.ts';
import { suggestName } from '../../base/near-names.ts';
import { quoted } from './module-problem.ts';

const POLL_MS = { from: 100, to: 24 * 60 * 60 * 1000 };
const MAX_POINTERS = 20;
const MAX_POINTER_LENGTH = 256;

export type Accounts = Pick<ToolDeclaration, 'poll' | 'progress' | 'cost'>;

export type ReadAccounts =
  | { readonly kind: 'accounts'; readonly accounts: Accounts }
  | { readonly kind: 'problem'; readonly problem: string };

/** What a tool declares for loop detection and budgets: how often it may be called, what counts as progress, what a call costs. */
export function readAccounts({ poll, progress, cost }: Partial<ToolDefinition>): ReadAccounts {
  const problem = findPollProblem(poll) ?? findProgressProblem(progress) ?? findCostProblem(cost);
  if (problem !== undefined) return { kind: 'problem', problem };
  return {
    kind: 'accounts',
    accounts: {
      ...(poll === undefined ? {} : { poll: { everyMs: poll.everyMs } }),
      ...(progress === undefined ? {} : { progress: [...progress] }),
      ...(cost === undefined ? {} : { cost }),
    },
  };
}

function findPollProblem(poll: unknown): string | undefined {
  if (poll === undefined) return undefined;
  if (typeof poll !== 'object' || poll === null) return 'has a "poll" that is not { everyMs }';
  const unknown = Object.keys(poll).find((name) => name !== 'everyMs');
  if (unknown !== undefined)
    return `has an unknown member ${quoted(unknown)} in "poll"; ${suggestName(unknown, ['everyMs'])}`;
  const { everyMs } = poll as { everyMs?: unknown };
  const isFine = Number.isSafeInteger(everyMs) && Number(everyMs) >= POLL_MS.from && Number(everyMs) <= POLL_MS.to;
  return isFine
    ? undefined
    : `has poll.everyMs ${shown(everyMs)}; it must be a whole number from ${POLL_MS.from} to ${POLL_MS.to}`;
}

function findProgressProblem(progress: unknown): string | undefined {
  if (progress === undefined) return undefined;
  if (!Array.isArray(progress) || progress.length > MAX_POINTERS)
    return `may have a list of up to ${MAX_POINTERS} JSON pointers as "progress"`;
  const wrong = (progress as readonly unknown[]).find(
    (pointer) =>
      typeof pointer !== 'string' || pointer.length > MAX_POINTER_LENGTH || parsePointer(pointer) === undefined,
  );
  if (wrong !== undefined || progress.includes(undefined))
    return `has something in "progress" that is no JSON pointer like "/status": ${JSON.stringify(wrong)?.slice(0, 80)}`;
  const twice = progress.find((pointer, index) => progress.indexOf(pointer) !== index);
  return twice === undefined ? undefined : `has ${JSON.stringify(twice)} twice in "progress"`;
}

function findCostProblem(cost: unknown): string | undefined {
  if (cost === undefined || (typeof cost === 'number' && cost >= 0 && cost <= MAX_COST)) return undefined;
  return `has cost ${shown(cost)}; it must be a number from 0 to ${MAX_COST}`;
}

/**
 * A value as text for an error message. A number is written as JavaScript and not as JSON, because the usual mistakes, such as NaN, cannot
 * be expressed in JSON.
 */
function shown(value: unknown): string {
  return typeof value === 'number' ? String(value) : String(JSON.stringify(value)).slice(0, 40);
}
