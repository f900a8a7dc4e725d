import type { ContentBlock } from '../domain/outcome/content.ts';
import type { Outcome } from '../domain/outcome/outcome.ts';
import { toSafeJson } from '../base/escape-text.ts';
import { EXIT } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

/** Prints the result on standard output, and the error with its fix on standard error. Returns the exit code. */
export function showOutcome(terminal: Terminal, outcome: Outcome, options: { readonly raw?: boolean } = {}): number {
  const { error } = outcome;
  showResult(terminal, outcome, options);
  const { files = [], messages = [], injectedTools = [] } = outcome.writeBacks ?? {};
  for (const { name, mediaType, bytes } of files)
    terminal.note(`file: ${name} (${mediaType}, ${bytes.byteLength} bytes)`);
  for (const { format, body } of messages) terminal.note(`message: ${format} ${toSafeJson(body)}`);
  for (const { tool } of injectedTools) terminal.note(`offered tool: ${tool}`);
  if (outcome.advice !== undefined) terminal.note(`advice: ${outcome.advice}`);
  if (error !== undefined) {
    const ran = { no: 'it did not run', yes: 'it ran', unknown: 'it may have run' }[outcome.executed];
    terminal.fail(`${outcome.kind} (${error.code}, ${ran}): ${error.message}`, error.fix);
  }
  return exitCodeOf(outcome);
}

/** Prints what the tool returned, without the message of an error. Returns false if nothing was printed. */
export function showResult(terminal: Terminal, outcome: Outcome, options: { readonly raw?: boolean } = {}): boolean {
  const { error, structured } = outcome;
  const blocks = outcome.content.filter(
    (block) => error === undefined || block.kind !== 'text' || block.text !== error.message,
  );
  for (const block of blocks) {
    if (options.raw === true && block.kind === 'text') terminal.printRaw(`${block.text}\n`);
    else terminal.print(describeBlock(block));
  }
  const isValue = structured !== undefined && typeof structured !== 'string';
  if (isValue) terminal.print(toSafeJson(structured));
  return blocks.length > 0 || isValue;
}

export function exitCodeOf({ kind }: Outcome): number {
  if (kind === 'ok') return EXIT.ok;
  return kind === 'unauthenticated' ? EXIT.auth : EXIT.notOk;
}

function describeBlock(block: ContentBlock): string {
  switch (block.kind) {
    case 'text':
      return block.text;
    case 'structured':
      return toSafeJson(block.value);
    case 'resource':
      if ('text' in block) return block.text;
      return `[resource ${block.uri}, ${block.mediaType ?? 'application/octet-stream'}, ${block.bytes.byteLength} bytes]`;
    case 'file':
      return `[file ${block.name}, ${block.mediaType}, ${block.bytes.byteLength} bytes]`;
    default:
      return `[${block.kind} ${block.mediaType}, ${block.bytes.byteLength} bytes]`;
  }
}
