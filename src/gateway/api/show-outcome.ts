import type { ContentBlock, FileWriteBack } from '../../domain/outcome/content.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { CallFile, ContentBlockView, OutcomeView } from './outcome-schema.ts';

export interface OutcomeFile {
  readonly name?: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

type Binary = Extract<ContentBlock, { bytes: Uint8Array }>;

const UNKNOWN_TYPE = 'application/octet-stream';

function isBinary(block: ContentBlock): block is Binary {
  return 'bytes' in block;
}

function fileOf(block: Binary): OutcomeFile {
  const { mediaType = UNKNOWN_TYPE, bytes } = block;
  return { mediaType, bytes, ...(block.kind === 'file' ? { name: block.name } : {}) };
}

/** All binary parts of an outcome, in the order of their index. */
export function filesOf({ content, writeBacks }: Outcome): OutcomeFile[] {
  return [...content.filter(isBinary).map(fileOf), ...(writeBacks?.files ?? [])];
}

export function showFiles(outcome: Outcome): CallFile[] {
  return filesOf(outcome).map((file, index) => showFile(file, index));
}

function showFile({ name, mediaType, bytes }: OutcomeFile, index: number): CallFile {
  return { index, ...(name === undefined ? {} : { name }), mediaType, bytes: bytes.byteLength };
}

/** An outcome as JSON. Bytes are left out; clients fetch them by index. */
export function showOutcome(outcome: Outcome): OutcomeView {
  const { kind, executed, retryable, content, structured, writeBacks, error, advice } = outcome;
  let index = 0;
  const blocks = content.map((block): ContentBlockView => {
    if (!isBinary(block)) return block;
    const file = showFile(fileOf(block), index++);
    return block.kind === 'resource' ? { ...file, kind: block.kind, uri: block.uri } : { ...file, kind: block.kind };
  });
  return {
    kind,
    executed,
    retryable,
    content: blocks,
    ...(structured === undefined ? {} : { structured }),
    ...(writeBacks === undefined
      ? {}
      : {
          writeBacks: {
            files: writeBacks.files.map((file: FileWriteBack) => showFile(file, index++)),
            messages: writeBacks.messages.map((message) => ({ ...message })),
            injectedTools: writeBacks.injectedTools.map((tool) => ({ ...tool })),
            ...(writeBacks.cost === undefined ? {} : { cost: writeBacks.cost }),
          },
        }),
    ...(error === undefined
      ? {}
      : { error: { ...error, ...(error.facts === undefined ? {} : { facts: { ...error.facts } }) } }),
    ...(advice === undefined ? {} : { advice }),
  } as OutcomeView;
}
