import type { ContentBlock } from './content.ts';
import type { Outcome } from './outcome.ts';

/**
 * An outcome as one text for a model: why it is not ok, the structured value, the content, and the advice of loop detection. Binary content
 * is replaced by a label, such as `[image image/png]`. For frameworks whose results are one text: OpenAI, Anthropic, the AI SDK and
 * LangChain.
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
