import type { ContentBlock } from '../../domain/content.ts';
import type { ObservedBlock, ObservedOutcome } from '../../domain/hook.ts';
import type { Outcome, OutcomeError } from '../../domain/outcome.ts';

/** A result can have megabytes, and many of them may wait for a slow observer. */
const MOST_CHARACTERS = 256 * 1024;

/** What observers are told of an outcome. */
export function observeOutcome(outcome: Outcome): ObservedOutcome {
  const { kind, executed, retryable, error, structured, advice } = outcome;
  const ending = {
    kind,
    executed,
    retryable,
    ...(error === undefined ? {} : { error: withoutState(error) }),
    ...(advice === undefined ? {} : { advice }),
  };
  const content = outcome.content.map(observeBlock);
  const shown = { content, ...(structured === undefined ? {} : { structured }) };
  // The cheap look first: writing down megabytes only to count them would hold up everybody.
  const fits = textLength(content) <= MOST_CHARACTERS && JSON.stringify(shown).length <= MOST_CHARACTERS;
  return fits ? { ...ending, ...shown } : { ...ending, content: [], truncated: true };
}

/** The state of a tool that asked is between it and its caller, and may be large. */
function withoutState(error: OutcomeError): OutcomeError {
  if (error.code !== 'INPUT_REQUIRED' || error.facts?.['state'] === undefined) return error;
  const { state: _state, ...facts } = error.facts;
  return { ...error, facts };
}

function observeBlock(block: ContentBlock): ObservedBlock {
  if (block.kind === 'text' || block.kind === 'structured') return block;
  if (block.kind === 'resource') {
    const { kind, uri, mediaType } = block;
    const type = mediaType === undefined ? {} : { mediaType };
    return 'text' in block
      ? { kind, uri, ...type, text: block.text }
      : { kind, uri, ...type, bytes: block.bytes.byteLength };
  }
  const { kind, mediaType, bytes } = block;
  return { kind, mediaType, bytes: bytes.byteLength };
}

function textLength(content: readonly ObservedBlock[]): number {
  return content.reduce((length, block) => length + ('text' in block ? block.text.length : 0), 0);
}
