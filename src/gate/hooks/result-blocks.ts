import { z } from 'zod';
import type { ContentBlock } from '../../domain/outcome/content.ts';
import type { ResultBlock } from '../../domain/policy/hook.ts';
import type { JsonValue } from '../../base/json.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import { copyPlain } from '../../base/plain-json.ts';
import { HookError } from './call-hook.ts';

const MAX_BLOCKS = 1000;

/** A content block as result hooks see it. */
export function showBlock(block: ContentBlock, at: number): ResultBlock {
  switch (block.kind) {
    case 'text':
    case 'structured':
      return block;
    case 'resource': {
      const { kind, uri, mediaType } = block;
      const head = { kind, at, uri, ...(mediaType === undefined ? {} : { mediaType }) } as const;
      return 'text' in block ? { ...head, text: block.text } : { ...head, bytes: block.bytes.byteLength };
    }
    case 'file':
      return { kind: block.kind, at, name: block.name, mediaType: block.mediaType, bytes: block.bytes.byteLength };
    case 'image':
    case 'audio':
      return { kind: block.kind, at, mediaType: block.mediaType, bytes: block.bytes.byteLength };
  }
}

const answerSchema = z
  .strictObject({
    content: z
      .array(
        z.union(
          [
            z.strictObject({ kind: z.literal('text'), text: z.string() }),
            z.strictObject({ kind: z.literal('structured'), value: z.unknown() }),
            z.looseObject({ at: z.int().min(0), text: z.string().exactOptional() }),
          ],
          'expected a text, a structured value, or a block of the result with its `at`',
        ),
      )
      .max(MAX_BLOCKS)
      .exactOptional(),
    structured: z.unknown().optional(),
  })
  .refine(
    ({ content, structured }) => content !== undefined || structured !== undefined,
    'it has neither content nor structured',
  );

export interface ReplacedResult {
  readonly content: readonly ContentBlock[];
  readonly structured?: JsonValue;
}

/**
 * Reads the answer of a result hook once, as JSON, and strictly: a misspelt key may be the one that should redact something. Undefined
 * keeps the result. Throws a HookError whose message contains neither values nor keys of the answer, because both may come from the result.
 */
export function readResultAnswer(answer: unknown, before: readonly ContentBlock[]): ReplacedResult | undefined {
  if (answer === undefined) return undefined;
  const parsed = answerSchema.safeParse(plain(answer));
  if (!parsed.success) throw invalid(describe(parsed.error));
  const { content = [], structured } = parsed.data;
  const blocks = content.map((block, index) =>
    'at' in block ? keptBlock(block, before, index) : (block as ContentBlock),
  );
  return { content: blocks, ...(structured === undefined ? {} : { structured: structured as JsonValue }) };
}

function plain(answer: unknown): JsonValue {
  try {
    return copyPlain(answer);
  } catch (error) {
    // Code in the answer (getters, proxies) may have thrown an error with any text, so the text is not used.
    throw invalid(
      error instanceof TypeError && Object.getPrototypeOf(error) === TypeError.prototype
        ? 'it is not JSON'
        : 'it cannot be read',
    );
  }
}

/** Returns a block that the hook kept. Everything but the text of a resource must be unchanged. */
function keptBlock(
  given: { readonly at: number; readonly text?: string },
  before: readonly ContentBlock[],
  index: number,
): ContentBlock {
  const block = before[given.at];
  const shown = block === undefined ? undefined : showBlock(block, given.at);
  if (block === undefined || shown === undefined || !('at' in shown))
    throw invalid(`content.${index}: there is no block at this place`);
  const { text, ...members } = given;
  const { text: _before, ...expected } = shown as typeof shown & { readonly text?: string };
  const isText = block.kind === 'resource' && 'text' in block;
  if (canonicalJson(members) !== canonicalJson(expected) || isText !== (text !== undefined))
    throw invalid(`content.${index}: a block with \`at\` is repeated as it is; only the text of a resource may change`);
  return isText ? { ...block, text: text! } : block;
}

function invalid(problem: string): HookError {
  return new HookError('invalid-answer', `the answer cannot be used: ${problem}`);
}

function describe({ issues }: z.ZodError): string {
  return issues
    .slice(0, 3)
    .map((issue) => {
      const path = issue.path.map(String).join('.');
      const said = issue.code === 'unrecognized_keys' ? 'it has an unknown key' : issue.message;
      return path === '' ? said : `${path}: ${said}`;
    })
    .join('; ');
}
