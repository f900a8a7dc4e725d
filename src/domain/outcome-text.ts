import type { ContentBlock } from './content.ts';
import type { Outcome } from './outcome.ts';

/**
 * What a model reads of an outcome, as one text: why it is not ok, the value, the content, and the advice of loop detection. Bytes are only
 * named. For results that take one text, as those of OpenAI, Anthropic, the AI SDK and LangChain do.
 */
export function outcomeText({ kind, structured, content, error, advice }: Outcome): string {
  const texts = content.map(blockText).filter((text) => text !== error?.message);
  return [
    ...(kind === 'ok' ? [] : [`${kind}: ${error?.message ?? 'no reason was given'}`]),
    ...(structured === undefined ? [] : [JSON.stringify(structured)]),
    ...texts,
    ...(advice === undefined ? [] : [advice]),
  ].join('\n');
}

function blockText(block: ContentBlock): string {
  switch (block.kind) {
    case 'text':
      return block.text;
    case 'structured':
      return JSON.stringify(block.value);
    case 'resource':
      return 'text' in block ? block.text : `[resource ${block.uri}]`;
    case 'file':
      return `[file ${block.name}, ${block.mediaType}]`;
    default:
      return `[${block.kind} ${block.mediaType}]`;
  }
}
