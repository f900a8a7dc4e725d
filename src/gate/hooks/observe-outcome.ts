import type { ContentBlock } from '../../domain/outcome/content.ts';
import type { ObservedBlock, ObservedOutcome } from '../../domain/policy/hook.ts';
import type { Outcome, OutcomeError } from '../../domain/outcome/outcome.ts';

/** Max characters of content that an observer gets. A result can be several megabytes, and many results may wait for a slow observer. */
const MAX_CHARACTERS = 256 * 1024;

/** The part of an outcome that observers get. */
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
  // The cheap check comes first: serialising megabytes only to measure them would block the whole process.
  const fits = textLength(content) <= MAX_CHARACTERS && JSON.stringify(shown).length <= MAX_CHARACTERS;
  return fits ? { ...ending, ...shown } : { ...ending, content: [], truncated: true };
}

/** Removes the state of a tool that asked for input. Only the tool and its caller need it, and it may be large. */
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
