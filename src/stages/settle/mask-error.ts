import type { JsonValue } from '../../base/json.ts';
import type { RepeatedMask } from '../../domain/ports/redactor.ts';
import type { ContentBlock } from '../../domain/outcome/content.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';

/**
 * Facts that stay as they are: names that only the plane writes and that programs compare, and the question of a tool, which its caller
 * answers. A caller could choose a secret argument that equals such a name, to hide from the audit which rule denied its call. All other
 * facts may repeat an argument.
 */
const KEPT_FACTS: readonly string[] = [
  'tool',
  'near',
  'current',
  'callId',
  'agent',
  'subject',
  'secret',
  'rule',
  'hook',
  'detector',
  'scope',
  'share',
  'ending',
  'by',
  'kinds',
  'requests',
  'state',
];

/**
 * Masks secret arguments in everything that an outcome with an error says: its message, facts, content and structured value. It is stored,
 * recorded and shown to more people than the caller. Files and other bytes stay as the tool gave them.
 */
export function maskError(outcome: Outcome, mask: RepeatedMask | undefined): Outcome {
  const { error, content, structured } = outcome;
  if (mask === undefined || error === undefined) return outcome;
  const facts = Object.entries(error.facts ?? {}).map(([name, fact]): [string, JsonValue] => [
    name,
    KEPT_FACTS.includes(name) ? fact : maskFact(fact, mask),
  ]);
  return {
    ...outcome,
    content: content.map((block) => maskBlock(block, mask)),
    ...(structured === undefined ? {} : { structured: mask.scrub(structured) }),
    error: {
      ...error,
      message: mask.scrubText(error.message, true),
      ...(error.facts === undefined ? {} : { facts: Object.fromEntries(facts) }),
    },
  };
}

function maskFact(fact: JsonValue, mask: RepeatedMask): JsonValue {
  if (typeof fact === 'string') return mask.scrubText(fact, true);
  if (Array.isArray(fact)) return fact.map((item) => maskFact(item, mask));
  return typeof fact === 'object' && fact !== null ? mask.scrub(fact) : fact;
}

/** The text of an error may have been cut, as its message was. */
function maskBlock(block: ContentBlock, mask: RepeatedMask): ContentBlock {
  switch (block.kind) {
    case 'text':
      return { ...block, text: mask.scrubText(block.text, true) };
    case 'structured':
      return { ...block, value: mask.scrub(block.value) };
    case 'resource': {
      const uri = mask.scrubText(block.uri);
      return 'text' in block ? { ...block, uri, text: mask.scrubText(block.text) } : { ...block, uri };
    }
    case 'file':
      return { ...block, name: mask.scrubText(block.name, true) };
    case 'image':
    case 'audio':
      return block;
  }
}
