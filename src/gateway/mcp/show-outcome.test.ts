import { describe, expect, it } from 'vitest';
import type { ContentBlock } from '../../domain/outcome/content.ts';
import { errorOutcome } from '../../domain/errors/errors.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import { showOutcome } from './show-outcome.ts';

const ended = (structured: Outcome['structured'], ...content: ContentBlock[]): Outcome => ({
  kind: 'ok',
  executed: 'yes',
  retryable: false,
  content,
  ...(structured === undefined ? {} : { structured }),
});
const textsOf = (outcome: Outcome): unknown[] =>
  showOutcome(outcome, { anyStructured: true }).content.map((block) => ('text' in block ? block.text : block.type));

describe('what an MCP client is shown of an outcome', () => {
  it('has the result and the advice of loop detection, for those who read content only', () => {
    const advice = 'You have made this call 3 times.';
    const outcome = { ...ended({ state: 'packed' }), advice };
    expect(textsOf(outcome)).toEqual(['{"state":"packed"}', 'You have made this call 3 times.']);
    const shown = showOutcome(outcome, { anyStructured: true });
    expect(shown.structuredContent).toEqual({ state: 'packed' });
    expect(shown._meta?.['sallyport/outcome']).toMatchObject({ kind: 'ok', advice });
  });

  it('has the advice beside the reason of a call that failed', () => {
    const advice = 'It has failed 10 times.';
    const failed = { ...errorOutcome('TOOL_FAILED', { message: 'No paper.' }, { executed: 'yes' }), advice };
    expect(textsOf(failed)).toEqual(['No paper.', advice]);
    expect(showOutcome(failed, { anyStructured: false })._meta?.['sallyport/outcome']).toMatchObject({ advice });
  });

  it('says a result once when the tool says it as text, too', () => {
    expect(textsOf(ended({ a: 1 }, { kind: 'text', text: '{"a":1}' }))).toEqual(['{"a":1}']);
  });

  it('has no text of its own where a tool answers with blocks', () => {
    expect(textsOf(ended(undefined, { kind: 'text', text: 'words' }))).toEqual(['words']);
  });
});
