import type { JsonValue } from '../../base/json.ts';
import type { RepeatedMask } from '../../domain/ports/redactor.ts';
import type { ContentBlock } from '../../domain/outcome/content.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';

/**
 * Facts that stay as they are: names that only the plane writes and that programs compare, and the question of a tool, which its caller
 * answers. If names were masked too, a caller could send a rule's id as a secret argument and so hide from the audit which rule denied the
 * call. All other facts may repeat an argument.
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
 * Masks secret arguments in all texts of an outcome with an error: its message, facts, content and structured value. Such an outcome is
 * stored, recorded and shown to more people than the caller. Files and other bytes stay as the tool gave them.
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

/** Texts and names may have been cut in the middle of a secret, like the error's message. `true` masks such a part of a secret, too. */
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
