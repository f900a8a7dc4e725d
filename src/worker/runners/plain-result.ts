import { isToolContent } from '../../modules/authoring/content-blocks.ts';
import type { WriteBacks } from '../../domain/outcome/content.ts';
import type { RunEnding, ToolResult } from '../../domain/ports/tool-runner.ts';
import { encode } from '../../base/message-pack.ts';
import { makePlain, NotPlain, SizeBudget, TooLarge } from './make-plain.ts';
import { plainBlocks, plainWriteBacks } from './plain-blocks.ts';

/** Bytes reserved for the outcome around its content: kind, flags, code, message. */
const OUTCOME_BYTES = 128;

/** The ending for what `run` returned: JSON, content blocks, or the reason why it cannot be sent. */
export function endingOfReturned(returned: unknown, writeBacks: WriteBacks, maxBytes: number): RunEnding {
  return measured(maxBytes, writeBacks, (budget) => plainResult(returned, budget));
}

/** The ending for a result that came from a tool's process. It could be forged there, so it is checked again. */
export function endingOfReceived(result: unknown, writeBacks: unknown, maxBytes: number): RunEnding {
  return measured(maxBytes, writeBacks, (budget) => receivedResult(result, budget));
}

function measured(maxBytes: number, writeBacks: unknown, make: (budget: SizeBudget) => ToolResult): RunEnding {
  const budget = new SizeBudget(maxBytes - OUTCOME_BYTES);
  try {
    const result = make(budget);
    const ending = { kind: 'returned', result, writeBacks: plainWriteBacks(writeBacks, budget) } as const;
    if (!budget.surelyFits) refuseOversize(ending, maxBytes);
    return ending;
  } catch (error) {
    if (error instanceof TooLarge) return { kind: 'too-large', bytes: error.bytes, limit: maxBytes };
    const problem = error instanceof NotPlain ? error.message : 'reading the result threw';
    return { kind: 'unserialisable', problem };
  }
}

function refuseOversize(ending: RunEnding, maxBytes: number): void {
  const bytes = encode(ending).byteLength + OUTCOME_BYTES;
  if (bytes > maxBytes) throw new TooLarge(bytes, maxBytes);
}

function plainResult(returned: unknown, budget: SizeBudget): ToolResult {
  if (returned === undefined) return {};
  if (isToolContent(returned)) return withStructured(plainBlocks([returned], budget));
  if (Array.isArray(returned) && isToolContent(returned[0])) {
    if (!returned.every((block) => isToolContent(block)))
      throw new NotPlain('$ mixes content blocks with other values');
    return withStructured(plainBlocks(returned, budget));
  }
  return { value: makePlain(returned, budget) };
}

/** A single structured block becomes the value of the result. Several stay in the content, and the result has no value. */
function withStructured(content: NonNullable<ToolResult['content']>): ToolResult {
  const found = content.filter((block) => block.kind === 'structured');
  const [only] = found;
  if (found.length !== 1 || only === undefined) return { content };
  return { value: only.value, content: content.filter((block) => block !== only) };
}

function receivedResult(result: unknown, budget: SizeBudget): ToolResult {
  if (typeof result !== 'object' || result === null) throw new NotPlain('the result is not an object');
  const { value, content } = result as { value?: unknown; content?: unknown };
  return {
    ...(value === undefined ? {} : { value: makePlain(value, budget) }),
    ...(content === undefined ? {} : { content: plainBlocks(content, budget) }),
  };
}
