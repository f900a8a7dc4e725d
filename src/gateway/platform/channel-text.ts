import type { ContentBlock } from '../../domain/outcome/content.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import { startOf } from '../../base/cut-text.ts';

const MAX_CHARACTERS = 16_000;

/** The text that people read when an outcome was redirected to a channel. */
export function channelText(tool: string, outcome: Outcome): string {
  const parts = outcome.content.map(textOf).filter((text) => text !== '');
  if (parts.length === 0 && outcome.structured !== undefined) parts.push(JSON.stringify(outcome.structured));
  if (outcome.advice !== undefined) parts.push(outcome.advice);
  const files = outcome.writeBacks?.files ?? [];
  if (files.length > 0) parts.push(`Files: ${files.map(({ name }) => name).join(', ')}`);
  const head = outcome.kind === 'ok' ? `${tool} has finished.` : `${tool} ended: ${outcome.kind}.`;
  return cut([head, ...parts].join('\n'));
}

function textOf(block: ContentBlock): string {
  switch (block.kind) {
    case 'text':
      return block.text;
    case 'structured':
      return JSON.stringify(block.value);
    case 'resource':
      return 'text' in block ? block.text : `[resource ${block.uri}]`;
    case 'file':
      return `[file ${block.name}]`;
    default:
      return `[${block.kind}]`;
  }
}

function cut(text: string): string {
  return text.length <= MAX_CHARACTERS ? text : `${startOf(text, MAX_CHARACTERS)}…`;
}
